#!/bin/sh
# Draws the series that `hpmstat breakdown=1 format=series interval=N` leaves in a console log:
# cycles per instruction by cause as stacked areas over time, on one page, as PREFIX.svg and
# PREFIX.png. For a process or the machine there is a panel for stalls for data, measured and
# estimated; threads have a panel each.
#
#   tools/plot_breakdown.sh LOG PREFIX
set -eu
. "${0%/*}/plot.sh"

plot_begin LOG "$@"
tr -d '\r' <"$from" >"$work/lines"
plot_draw breakdown \
	'no series of breakdowns, or a damaged one; hpmstat breakdown=1 format=series interval=10 -- PROGRAM prints one' <"$work/lines"
