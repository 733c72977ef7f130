#!/bin/sh
# `make bench-pairs`: requests over TCP's loopback from all CPUs at once: one Linux program
# (test/bench/linux/pairs.c), on simulated machines, by Vigil fused, with an lwIP a chip and with one,
# and by Linux.
#
#   test/bench/pairs.sh [name=value ...]
#
#   arch=ARCH       x86_64 or aarch64  (x86_64)
#   machines='M ...'  simulated machines  (openpower720 openpower-8chip)
#   kernels='K ...' what runs: boot arguments of Vigil, joined by commas, or linux
#                   (net.fusion=on net.fusion=off net.fusion=off,net.instances=1 linux)
#   rounds=N        requests of a pair  (200)
#   results=FILE    (docs/results/pairs-ARCH.txt)
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'pairs.sh: error: %s\n' "$*" >&2; exit 1; }

arch=x86_64 machines='openpower720 openpower-8chip' rounds=200 results=
kernels='net.fusion=on net.fusion=off net.fusion=off,net.instances=1 linux'
for argument; do
	case $argument in
	arch=* | machines=* | kernels=* | rounds=* | results=*) value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (arch= machines= kernels= rounds= results=)" ;;
	esac
done
case $arch in
x86_64) compiler=gcc ;;
aarch64) compiler=aarch64-linux-gnu-gcc ;;
*) die "arch=$arch: accepted are x86_64, aarch64" ;;
esac
: "${results:=docs/results/pairs-$arch.txt}"
out=build/bench/pairs-$arch
mkdir -p "$out"
$compiler -std=gnu11 -O2 -static -pthread -Wall -Wextra -Werror -o "$out/pairs" \
	test/bench/linux/pairs.c

# Prints the lines of one boot.
run() { # MACHINE KERNEL
	case $1 in
	*8chip) counts="1 $rounds 8 $rounds 32 $rounds" ;;
	*) counts="1 $rounds 8 $rounds" ;;
	esac
	case $2 in
	linux) set -- "$1" "$2" --kernel linux ;;
	*) set -- "$1" "$2" --kernel-args "$(echo "$2" | tr , ' ')" ;;
	esac
	name=$out/$1-$2 machine=$1
	shift 2
	# shellcheck disable=SC2086
	./vigil run --no-report --arch "$arch" --machine "$machine" "$@" --timeout 1500 -- "$out/pairs" \
		$counts </dev/null 2>&1 | tr -d '\r' >"$name.txt"
	grep '^PAIRS' "$name.txt" || die "see $name.txt"
}

{
	test/bench/header.sh \
		"test/bench/pairs.sh arch=$arch machines='$machines' kernels='$kernels' rounds=$rounds" \
		arch="$arch"
	echo "# A pair of threads on each of the CPUs: 64 bytes there and 64 back, four system calls."
	echo "# Requests of all pairs in a second; cycles of one; how many times that of one CPU."
	printf '%-16s %-34s %5s %9s %8s %6s\n' machine kernel cpus per_s cycles times
	for machine in $machines; do
		for kernel in $kernels; do
			run "$machine" "$kernel" | awk -v machine="$machine" -v kernel="$kernel" '
			{
				for (i = 2; i <= NF; i++) { split($i, pair, "="); v[pair[1]] = pair[2] }
				if (NR == 1) one = v["per_s"]
				printf "%-16s %-34s %5d %9d %8d %6.2f\n", machine, kernel, v["cpus"], v["per_s"],
					v["cycles"], v["per_s"] / one
			}'
		done
	done
} >"$out/table"
cat "$out/table"
mv "$out/table" "$results"
