#!/bin/sh
# `make bench-costs`: what calls, switches, faults and threads cost under Linux and under Vigil: one
# Linux program, the same file, on the same simulated machine under either kernel.
#
#   test/bench/costs.sh [name=value ...]
#
#   arch=ARCH       x86_64 or aarch64  (x86_64)
#   machine=NAME    simulated machine  (openpower720)
#   runs=N          boots of each kernel, each with a seed of the machine of its own  (3)
#   rounds=N        in each boot, of test/bench/linux/kernel_costs.c  (11)
#   results=FILE    (docs/results/costs-ARCH.txt)
#
# A boot's figure is the median of its rounds. Columns: the median of the boots' figures, and the
# least and the most of all rounds, in cycles for one operation; Vigil's median by Linux's.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'costs.sh: error: %s\n' "$*" >&2; exit 1; }

arch=x86_64 machine=openpower720 runs=3 rounds=11 results=
for argument; do
	case $argument in
	arch=* | machine=* | runs=* | rounds=* | results=*) value=${argument#*=}
		eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (arch= machine= runs= rounds= results=)" ;;
	esac
done
case $arch in
x86_64) compiler=gcc ;;
aarch64) compiler=aarch64-linux-gnu-gcc ;;
*) die "arch=$arch: accepted are x86_64, aarch64" ;;
esac
: "${results:=docs/results/costs-$arch.txt}"
out=build/bench/costs-$arch
mkdir -p "$out"
rm -f "$out"/*.line
$compiler -std=gnu11 -D_GNU_SOURCE -O2 -static -pthread -Wall -Wextra -Werror \
	-o "$out/kernel_costs" test/bench/linux/kernel_costs.c

for run in $(seq "$runs"); do
	for kernel in linux vigil; do
		./vigil run --no-report --kernel "$kernel" --arch "$arch" --machine "$machine" --seed "$run" \
			--timeout 1200 -- "$out/kernel_costs" all "$rounds" </dev/null >"$out/$kernel-$run.txt" ||
			die "$kernel, run $run: see $out/$kernel-$run.txt"
		sed -n "s/\r//; s/^COST /kernel=$kernel run=$run /p" "$out/$kernel-$run.txt" \
			>"$out/$kernel-$run.line"
		echo "costs: $kernel run=$run"
	done
done

kernel_of_linux=$(cat "build/linux$([ $arch = x86_64 ] || echo "-$arch")/package")
{
	test/bench/header.sh "make bench-costs ARCH=$arch MACHINE=$machine RUNS=$runs ROUNDS=$rounds" \
		machine="$machine" arch="$arch" "linux=$kernel_of_linux"
	echo "# Cycles for one operation: median of $runs boots (least..most of all their rounds)."
	cat "$out"/*.line | awk '
	{
		for (i = 1; i <= NF; i++) { split($i, pair, "="); v[pair[1]] = pair[2] }
		if (!(v["what"] in known)) { known[v["what"]]; names[++count] = v["what"] }
		key = v["kernel"] SUBSEP v["what"]
		list[key] = list[key] " " v["median"]
		if (!(key in least) || v["min"] < least[key]) least[key] = v["min"] + 0
		if (v["max"] > most[key]) most[key] = v["max"] + 0
	}
	function median(text,    n, a, i, j, t) {
		n = split(text, a, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
		return a[int((n + 1) / 2)]
	}
	function cell(kernel, what,    key) {
		key = kernel SUBSEP what
		return sprintf("%9.1f (%.1f..%.1f)", median(list[key]) / 1000, least[key] / 1000,
			most[key] / 1000)
	}
	END {
		printf "%-16s %32s %32s %9s\n", "what", "linux", "vigil", "of_linux"
		for (i = 1; i <= count; i++)
			printf "%-16s %32s %32s %9.2f\n", names[i], cell("linux", names[i]), cell("vigil", names[i]),
				median(list["vigil", names[i]]) / median(list["linux", names[i]])
	}'
} >"$out/table"
cat "$out/table"
mkdir -p "$(dirname "$results")"
mv "$out/table" "$results"
