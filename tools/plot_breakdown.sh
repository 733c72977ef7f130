#!/bin/sh
# Draws the series that `hpmstat breakdown=1 format=series interval=N` leaves in a console log: cycles per instruction by cause as
# areas one above the other over time, on one page, as PREFIX.svg and PREFIX.png.  Of one process or the machine with a panel for
# stalls for data, measured and estimated; of threads a panel each.
# Usage: tools/plot_breakdown.sh LOG PREFIX
set -eu

if [ $# -ne 2 ]; then
	echo "usage: $0 LOG PREFIX" >&2
	exit 2
fi
log=$1 prefix=$2
[ -r "$log" ] || { echo "$0: cannot read $log" >&2; exit 1; }
command -v gnuplot >/dev/null || { echo "$0: gnuplot is missing (package gnuplot-nox)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! tr -d '\r' <"$log" | awk -v work="$work" -f "${0%.sh}.awk"; then
	echo "$0: $log: no series of breakdowns, or a damaged one; hpmstat breakdown=1 format=series interval=10 -- PROGRAM prints one" >&2
	exit 1
fi
size=$(cat "$work/size")
for kind in svg png; do
	case $kind in
	svg) terminal="svg size $size font 'sans,12' background 'white'" ;;
	png) terminal="pngcairo size $size font 'sans,10'" ;;
	esac
	{ printf 'set terminal %s\nset output "%s"\n' "$terminal" "$prefix.$kind"; cat "$work/plot"; } | gnuplot
	echo "breakdown: $prefix.$kind"
done
