#!/bin/sh
# `make bench-programs`: the load of the programs on large arrays on a processor, on the simulated
# machine, by its ground truth between the programs' marks start and end: one CPU, one thread,
# arrays of `mb` MiB.
#
#   test/bench/programs.sh kernel=FILE [machine=NAME] [quick=1] [mb=N] [only=REGEX of programs]
#                          [out=DIR] [results=FILE]
#
# mpki: misses in 1000 instructions. user: percent of the cycles. One run each: on one CPU of this
# machine the next is the same.
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
kernel= machine=openpower720 quick=0 mb= out=build/bench/programs-$arch \
	results=docs/results/programs.txt only=.
for argument; do
	case $argument in
	kernel=* | machine=* | quick=* | mb=* | out=* | results=* | only=*) value=${argument#*=}; \
		eval "${argument%%=*}=\$value" ;;
	*) echo "programs.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
[ "$quick" = 0 ] || results=build/bench/programs-quick.txt
: "${mb:=$([ "$quick" = 1 ] && echo 2 || echo 16)}"
mkdir -p "$out" "$(dirname "$results")"
rm -f "$out"/*.truth "$out"/*.console
programs='fft
lu layout=contiguous
lu layout=rows
cg
mg
sp
ocean layout=contiguous tiles=4
ocean layout=rows tiles=4
barnes steps=1
phylogeny
cube'

failed=0
echo "$programs" | grep -E "$only" >"$out/list"
while read -r program; do
	name=$(echo "$program" | tr ' =' '_-')
	echo "bench: $program mb=$mb"
	${QEMU:-tools/qemu.sh} kernel="$kernel" machine="$machine" smp=1 out="$out" timeout=3000 \
		append="-- $program mb=$mb" </dev/null 2>"$out/stderr" |
		tr -d '\r' >"$out/$name.console" || :
	if grep -q 'check=ok' "$out/$name.console"; then
		tools/truth.sh "$out/truth.txt" start end >"$out/$name.truth"
	else
		echo "bench: $program FAILED, see $out/$name.console" >&2
		failed=1
	fi
done <"$out/list"

{
	test/bench/header.sh "make bench-programs ARCH=$arch MB=$mb" machine="$machine" arch="$arch"
	while read -r program; do
		name=$(echo "$program" | tr ' =' '_-')
		[ -s "$out/$name.truth" ] || continue
		echo "PROGRAM $program"
		grep '^RESULT' "$out/$name.console"
		cat "$out/$name.truth"
	done <"$out/list" | awk '
	function value(name,   i, pair) {
		for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2 && pair[1] == name) return pair[2]
		return 0
	}
	BEGIN { printf "%-34s %8s %11s %6s %6s %9s %9s %9s %9s\n", "program", "MiB", "10^6 instr", "CPI",
		"user", "l1d mpki", "tlb mpki", "mem mpki", "branch" }
	$1 == "PROGRAM" { program = substr($0, 9); next }
	$1 == "RESULT" { mib = value("bytes") / 1048576; next }
	{
		k = value("instructions") / 1000
		printf "%-34s %8.1f %11.1f %6.2f %6.1f %9.2f %9.3f %9.3f %9.2f\n", program, mib, k / 1000,
			value("cycles") / k / 1000, 100 * value("user_cycles") / value("cycles"),
			value("l1d_misses") / k, value("tlb_misses") / k,
				(value("local_memory") + value("remote_memory")) / k, value("mispredicts") / k
	}'
} >"$out/results" || failed=1
cat "$out/results"
[ "$failed" = 0 ] || { echo "bench: $results stays as it was" >&2; exit 1; }
mv "$out/results" "$results"
