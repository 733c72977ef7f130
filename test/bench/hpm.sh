#!/bin/sh
# `make bench-hpm`: how exact multiplexed counts are, and the cost of monitoring, on the simulated
# machine, against its ground truth.
#
#   test/bench/hpm.sh kernel=FILE [machine=NAME] [quick=1] [seeds=N] [only=REGEX of runs] [out=DIR]
#                     [results=FILE] [bias=FILE]
#
# bias: the results of sampling.sh, for the summary. The name of a run says which part it belongs
# to:
#   kl, ci  Accuracy: programs with phases on a CPU of their own; 38 events, of both modes and of
#           user mode, take turns on 4 counters. Ratio 2 and 5 have fewer of them, 20 more, on 3
#           counters. hpmstat, on another core, reads the program's counts every 2,000,000 cycles
#           (ci: every 150,000,000) and marks the truth. Counted is from the first reading after the
#           program's mark start to the last before end.
#   cost    Overhead: operations of `private`, and the time of `phases kind=sort`, on one CPU,
#           against the same without a PMU.
#   part    The cost of a reading, a context switch, a record of a log and a sample, by the truth's
#           difference to the same without them, or with few.
# hpm.py evaluates the runs.
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
kernel= machine=openpower720 quick=0 seeds=1 out=build/bench/hpm-$arch \
	results=docs/results/hpm-$arch.txt jobs=$(nproc) only=. bias=
for argument; do
	case $argument in
	kernel=* | machine=* | quick=* | seeds=* | out=* | results=* | jobs=* | only=* | bias=*)
		value=${argument#*=}
		eval "${argument%%=*}=\$value"
		;;
	*) echo "hpm.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
if [ "$quick" = 1 ]; then seeds=1 results=build/bench/hpm-quick.txt; fi
mkdir -p "$out" "$(dirname "$results")"

few=LOADS,L1D_MISSES,MISPREDICTS,TLB_MISSES,STALL:DCACHE,STALL:BRANCH,SERVED:LOCAL_L2,STALL:OTHER
all=LOADS,STORES,L1D_MISSES,L1I_MISSES,MISPREDICTS,TLB_MISSES,SERVED:LOCAL_L2,SERVED:LOCAL_L3,SERVED:LOCAL_MEMORY,SERVED:REMOTE_MEMORY
all=$all,STALL:ICACHE,STALL:BRANCH,STALL:DCACHE,STALL:TLB,STALL:OTHER,DCACHE:LOCAL_L2,DCACHE:LOCAL_L3,DCACHE:LOCAL_MEMORY,DCACHE:REMOTE_MEMORY
in_mode() { echo "$all" | sed "s/,/:$1,/g; s/\$/:$1/"; }

kinds='sort matrix chase compress graph interp' \
	configs='10-50000 10-200000 2-50000 5-50000 20-50000 10-10000 10-500000'
[ "$quick" = 0 ] || kinds='sort graph' configs='10-50000 10-200000'

# Name | boot arguments | applications.
runs() {
	for config in $configs; do
		for kind in $kinds; do
			ratio=${config%-*} events=$all more=
			case $ratio in
			2) events=$few ;;
			10) events=$all,$(in_mode u) ;;
			20) events=$all,$(in_mode u),$(in_mode k),COMPLETION,COMPLETION:u,COMPLETION:k \
				more=hpm.counters=3 ;;
			esac
			rounds=rounds=1
			[ "$config" != 10-50000 ] || rounds=rounds=2
			boot="hpm.breakdown=off hpm.slice_cycles=${config#*-} $more" \
				stat="hpmstat cpu=3 events=$events format=series marks=1"
			echo "kl-$config-$kind|$boot|$stat interval=2 -- phases kind=$kind $rounds seed=SEED"
			[ "$config" != 10-50000 ] || echo "ci-$config-$kind|$boot|$stat interval=150 -- phases kind=$kind rounds=16 seed=SEED"
		done
	done
	for slice in none 1000000 200000 100000 50000 20000 10000 50000a 1000000a; do
		boot=hpm.slice_cycles=$slice
		case $slice in
		none) boot=hpm.pmu=none ;;
		*a) boot="hpm.slice_cycles=${slice%a} hpm.accounts=on" ;;
		esac
		echo "cost-private-$slice|$boot|private threads=1 ms=60 seed=SEED"
		echo "cost-sort-$slice|$boot|phases kind=sort rounds=1 seed=SEED"
	done
	echo "part-readnone||costs none 2000"
	echo "part-read||costs read 2000"
	for n in 2 20000; do
		echo "part-switchnone$n|hpm.pmu=none|costs switch $n"
		echo "part-switch$n||costs switch $n"
		echo "part-switch38x$n|hpm.breakdown=off|hpmstat events=$all,$(in_mode u) -- costs switch $n"
	done
	for what in counted counted-8 logged logged-8; do
		echo "part-$what||costs $what 5000"
	done
	for criterion in l1d.miss access.any; do
		echo "part-nosample.$criterion|hpm.breakdown=off|stores criteria=$criterion:u@1000000"
		echo "part-sample.$criterion|hpm.breakdown=off|stores criteria=$criterion:u@2000"
	done
}

one() {
	dir=$out/$1
	mkdir -p "$dir"
	rm -f "$out/$1.done"
	smp=1 cells=
	case $1 in
	kl-*) smp=4 cells=,cells=10000 ;;
	ci-*) smp=4 ;;
	esac
	${QEMU:-tools/qemu.sh} kernel="$kernel" machine="$machine" smp=$smp out="$dir" timeout=900 \
		plugin="seed=$4$cells" append="$2 -- $3" \
		</dev/null 2>"$dir/stderr" | tr -d '\r' >"$dir/console.txt" || :
	if awk '/check=ok/ { ok = 1 } $1 == "exit:" { n++; bad += $3 != "status=0" }
		END { exit !(ok && n && !bad) }' "$dir/console.txt"; then
		: >"$out/$1.done"
	else
		echo "bench: $1 FAILED, see $dir" >&2
		return 1
	fi
}

if [ "${one:-}" ]; then # one run of the list, by xargs below
	IFS='|' read -r name boot applications seed <<-END
		$one
	END
	one "$name-$seed" "$boot" "$applications" "$seed"
	exit
fi

rm -f "$out"/*.done
failed=0
# The headline, which is judged by its worst seed, has three times as many seeds.
for seed in $(seq $((3 * seeds))); do
	[ "$seed" -gt "$seeds" ] && what='^kl-10-50000-' || what=.
	[ "$quick" = 0 ] || [ "$what" = . ] || continue
	runs | grep -E "$what" | grep -E "$only" | sed "s/SEED/$seed/g; s/\$/|$seed/" || :
done >"$out/list"
echo "bench: $(wc -l <"$out/list") runs, $jobs at a time"
xargs -P "$jobs" -d '\n' -I '{}' env one='{}' "$0" kernel="$kernel" machine="$machine" \
	seeds="$seeds" out="$out" \
	<"$out/list" || failed=1
{
	test/bench/header.sh "make bench-hpm ARCH=$arch SEEDS=$seeds" machine="$machine" arch="$arch" \
		only="$only"
	python3 test/bench/hpm.py out="$out" arch="$arch" machine="$machine" bias="$bias" <"$out/list"
} >"$out/results" || failed=1
cat "$out/results"
[ "$failed" = 0 ] || { echo "bench: $results stays as it was" >&2; exit 1; }
mv "$out/results" "$results"
