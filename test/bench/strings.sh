#!/bin/sh
# What memory and string functions and malloc cost, in the simulated machine's cycles a call: glibc's under Debian's Linux, and those
# of Vigil's C library on both ISAs.  Arguments and machine are the same; what is called comes out of the caches.
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
	[ -s "$work/$name" ] || { cat "$work/errors" >&2; echo "strings.sh: error: $name: no costs were printed" >&2; exit 1; }
}
costs glibc tools/linux-guest.sh machine="$machine" smp=1 out="$work" -- strings costs
costs x86_64 tools/qemu.sh arch=x86_64 kernel=build/x86_64/vigil-test.elf machine="$machine" smp=1 out="$work" append='-- strings costs'
costs aarch64 tools/qemu.sh arch=aarch64 kernel=build/aarch64/vigil-test.img machine="$machine" smp=1 out="$work" append='-- strings costs'
cat "$work/glibc" "$work/x86_64" "$work/aarch64" | awk -v machine="$machine" '
	{ key = $2 " " $3; if (!(key in seen)) { seen[key] = 1; order[++n] = key } cost[$1, key] = $4 }
	END {
		print "Cycles a call on " machine ": glibc on x86-64; Vigil on x86-64, and by how much; Vigil on AArch64"
		printf "%-14s %8s %8s %8s %6s %8s\n", "function", "bytes", "glibc", "x86-64", "times", "AArch64"
		for (i = 1; i <= n; i++) {
			split(order[i], part, " ")
			g = cost["glibc", order[i]]; x = cost["x86_64", order[i]]
			printf "%-14s %8d %8d %8d %6.2f %8d\n", part[1], part[2], g, x, x / (g ? g : 1), cost["aarch64", order[i]]
		}
	}'
