# Sourced by scripts that draw, with the two arguments FROM and PREFIX. plot_begin checks them, and
# makes the folder $work for the script's time. plot_draw runs the awk program beside the script on
# standard input, and draws its output as PREFIX.svg and PREFIX.png.
# shellcheck shell=sh

plot_begin() { # WHAT "$@"
	what=$1
	shift
	if [ $# -ne 2 ]; then
		echo "usage: $0 $what PREFIX" >&2
		exit 2
	fi
	from=$1 prefix=$2
	[ -r "$from" ] || { echo "$0: cannot read $from" >&2; exit 1; }
	command -v gnuplot >/dev/null || { echo "$0: gnuplot is missing (package gnuplot-nox)" >&2; \
		exit 1; }
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
}

plot_draw() { \
	# NAME, WHAT IS MISSING if the awk program finds nothing: it writes the files size and plot
	if ! awk -v work="$work" -f "${0%.sh}.awk"; then
		echo "$0: $from: $2" >&2
		exit 1
	fi
	size=$(cat "$work/size")
	for kind in svg png; do
		case $kind in
		svg) terminal="svg size $size font 'sans,12' background 'white'" ;;
		png) terminal="pngcairo size $size font 'sans,10'" ;;
		esac
		{ printf 'set terminal %s\nset output "%s"\n' "$terminal" "$prefix.$kind"; cat "$work/plot"; \
			} | gnuplot
		echo "$1: $prefix.$kind"
	done
}
