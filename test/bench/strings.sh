#!/bin/sh
# The cost of memory and string functions and malloc, in the simulated machine's cycles a call:
# those of Vigil's C library on both ISAs, and glibc's: on x86-64 under Debian's Linux, on AArch64
# (without malloc) linked into the same program under Vigil. Arguments and machine are the same; the
# data is in the caches.
#
#   test/bench/strings.sh [machine=openpower720]
set -eu
cd "$(dirname "$0")/../.."
machine=openpower720
for argument; do
	case $argument in
	machine=*) machine=${argument#*=} ;;
	*) echo "strings.sh: error: unknown argument '$argument' (machine=)" >&2; exit 1 ;;
	esac
done
work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-strings.XXXXXX")
trap 'rm -rf "$work"' EXIT

costs() { # NAME COMMAND...: lines NAME FUNCTION BYTES CYCLES
	name=$1
	shift
	"$@" </dev/null 2>"$work/errors" | tr -d '\r' | sed -n "s/^cost /$name /p" >"$work/$name"
	[ -s "$work/$name" ] || { cat "$work/errors" >&2; \
		echo "strings.sh: error: $name: no costs were printed" >&2; exit 1; }
}
vigil() { # NAME ARCH KERNEL PROGRAM
	costs "$1" tools/qemu.sh arch="$2" kernel="build/$2/$3" machine="$machine" smp=1 out="$work" \
		append="-- $4 costs"
}
costs x86_64-glibc tools/linux-guest.sh machine="$machine" smp=1 out="$work" -- strings costs
vigil x86_64 x86_64 vigil-test.elf strings
vigil aarch64-glibc aarch64 vigil-glibc.img strings-glibc
vigil aarch64 aarch64 vigil-test.img strings
cat "$work/x86_64-glibc" "$work/x86_64" "$work/aarch64-glibc" "$work/aarch64" | \
	awk -v machine="$machine" '
	{ key = $2 " " $3; if (!(key in seen)) { seen[key] = 1; order[++n] = key } cost[$1, key] = $4 }
	function columns(isa, key, g, v) {
		g = cost[isa "-glibc", key]; v = cost[isa, key]
		if (isa == "aarch64" && key ~ /^malloc/) return sprintf("%8s %8d %6s", "-", v, "-")
		return sprintf("%8d %8d %6.2f", g, v, v / (g ? g : 1))
	}
	END {
		print "Cycles a call on " machine ": glibc, Vigil, and by how much, on x86-64 and on AArch64"
		printf "%-14s %8s %8s %8s %6s %8s %8s %6s\n", "function", "bytes", "glibc", "x86-64", "times",
			"glibc", "AArch64", "times"
		for (i = 1; i <= n; i++) {
			split(order[i], part, " ")
			printf "%-14s %8d %s %s\n", part[1], part[2], columns("x86_64", order[i]), columns("aarch64",
				order[i])
		}
	}'
