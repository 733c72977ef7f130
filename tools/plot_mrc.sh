#!/bin/sh
# Draws miss-rate curves, a panel for each process, as PREFIX.svg and PREFIX.png: out of a console log on which
# `memstat format=series interval=N` has printed them, or a trace folder (tools/trace_split.py) recorded with telemetry=memory.
# Usage: tools/plot_mrc.sh LOG|FOLDER PREFIX
set -eu

if [ $# -ne 2 ]; then
	echo "usage: $0 LOG|FOLDER PREFIX" >&2
	exit 2
fi
from=$1 prefix=$2
[ -r "$from" ] || { echo "$0: cannot read $from" >&2; exit 1; }
command -v gnuplot >/dev/null || { echo "$0: gnuplot is missing (package gnuplot-nox)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -d "$from" ]; then
	"${0%/*}/trace_mrc.py" "$from" >"$work/lines"
else
	tr -d '\r' <"$from" >"$work/lines"
fi
if ! awk -v work="$work" -f "${0%.sh}.awk" "$work/lines"; then
	echo "$0: $from: no curves, or a damaged one; memstat format=series interval=100 -- PROGRAM prints them where a tracker watches" >&2
	exit 1
fi
size=$(cat "$work/size")
for kind in svg png; do
	case $kind in
	svg) terminal="svg size $size font 'sans,12' background 'white'" ;;
	png) terminal="pngcairo size $size font 'sans,10'" ;;
	esac
	{ printf 'set terminal %s\nset output "%s"\n' "$terminal" "$prefix.$kind"; cat "$work/plot"; } | gnuplot
	echo "mrc: $prefix.$kind"
done
