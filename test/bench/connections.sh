#!/bin/sh
# `make bench-connections`: what a request over loopback costs while many connections are open: one
# Linux program (test/bench/linux/connections.c), on the simulated machine.
#
#   test/bench/connections.sh [name=value ...]
#
#   arch=ARCH       x86_64 or aarch64  (x86_64)
#   machine=NAME    simulated machine  (openpower720)
#   counts='N ...'  connections; the first is what others are compared with  (1 100 1000 10000)
#   kernels='K ...' vigil, linux  (vigil)
#   results=FILE    (docs/results/connections-ARCH.txt)
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'connections.sh: error: %s\n' "$*" >&2; exit 1; }

arch=x86_64 machine=openpower720 counts='1 100 1000 10000' kernels=vigil results=
for argument; do
	case $argument in
	arch=* | machine=* | counts=* | kernels=* | results=*) value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (arch= machine= counts= kernels= results=)" ;;
	esac
done
case $arch in
x86_64) compiler=gcc ;;
aarch64) compiler=aarch64-linux-gnu-gcc ;;
*) die "arch=$arch: accepted are x86_64, aarch64" ;;
esac
: "${results:=docs/results/connections-$arch.txt}"
out=build/bench/connections-$arch
mkdir -p "$out"
$compiler -std=gnu11 -D_GNU_SOURCE -O2 -static -Wall -Wextra -Werror -o "$out/connections" \
	test/bench/linux/connections.c

{
	test/bench/header.sh "make bench-connections ARCH=$arch COUNTS='$counts'" machine="$machine" \
		arch="$arch"
	echo "# Cycles of a request of one byte there and one back, both ends one thread: four system calls."
	echo "# one: all on one connection, others idle (median of nine); all: on each in turn. of_first: times."
	printf '%-8s %11s %8s %9s %8s %9s\n' kernel connections one of_first all of_first
	for kernel in $kernels; do
		for n in $counts; do
			./vigil run --no-report --kernel "$kernel" --arch "$arch" --machine "$machine" --mem 2G \
				--timeout 3000 -- "$out/connections" "$n" </dev/null 2>&1 | tr -d '\r' >"$out/$n.txt"
			awk -v kernel="$kernel" -v n="$n" '/^CONNECTIONS/ {
				split($3, one, "="); split($4, all, "="); print kernel, n, one[2], all[2]; found = 1
			} END { exit !found }' "$out/$n.txt" || die "$kernel, $n: see $out/$n.txt"
		done
	done | awk '!($1 in one) { one[$1] = $3; all[$1] = $4 }
		{ printf "%-8s %11d %8d %9.2f %8d %9.2f\n", $1, $2, $3, $3 / one[$1], $4, $4 / all[$1] }'
} >"$out/table"
cat "$out/table"
mv "$out/table" "$results"
