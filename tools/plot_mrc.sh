#!/bin/sh
# Draws miss-rate curves, a panel for each process, as PREFIX.svg and PREFIX.png. They come from a
# console log on which `memstat format=series interval=N` has printed them, or from a trace folder
# (tools/trace_split.py) recorded with telemetry=memory.
#
#   tools/plot_mrc.sh LOG|FOLDER PREFIX
set -eu
. "${0%/*}/plot.sh"

plot_begin 'LOG|FOLDER' "$@"
if [ -d "$from" ]; then
	"${0%/*}/trace_mrc.py" "$from" >"$work/lines"
else
	tr -d '\r' <"$from" >"$work/lines"
fi
plot_draw mrc \
	'no curves, or a damaged one; memstat format=series interval=100 -- PROGRAM prints them where a tracker watches' <"$work/lines"
