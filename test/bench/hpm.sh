#!/bin/sh
# `make bench-hpm`: how exact multiplexed counts are, and what multiplexing costs, on the simulated machine, against its ground truth.
#
#   test/bench/hpm.sh kernel=FILE [machine=NAME] [quick=1] [seeds=N] [only=REGEX of runs] [out=DIR] [results=FILE]
#
# Accuracy: programs with phases on one CPU; 19 events take turns on 4 counters.  The ratio is the number of groups: more of them are
# the same events of user mode, and of kernel mode.  Every few milliseconds hpmstat reads
# the machine's counts and marks the truth; what counts is from the first reading behind the program's mark start to the last before end.  KL: sum P log2(P/P') over the intervals, P the truth's shares of an event in them, P' the
# estimate's ([A] 2.7.3), both with half a count of the scale added.  ci: of counts over at least 50 rounds that have an
# interval, how many have the truth inside.
# Overhead: operations of `private` on one CPU against the same without a PMU.
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
kernel= machine=openpower720 quick=0 seeds=3 out=build/bench/hpm-$arch results=docs/results/hpm-$arch.txt jobs=$(nproc) only=.
for argument; do
	case $argument in
	kernel=* | machine=* | quick=* | seeds=* | out=* | results=* | jobs=* | only=*) value=${argument#*=}; eval "${argument%%=*}=\$value" ;;
	*) echo "hpm.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
if [ "$quick" = 1 ]; then seeds=1 results=build/bench/hpm-quick.txt; fi
mkdir -p "$out" "$(dirname "$results")"

few=LOADS,L1D_MISSES,MISPREDICTS,TLB_MISSES,STALL:DCACHE,STALL:BRANCH,SERVED:LOCAL_L2,STALL:OTHER
all=LOADS,STORES,L1D_MISSES,L1I_MISSES,MISPREDICTS,TLB_MISSES,SERVED:LOCAL_L2,SERVED:LOCAL_L3,SERVED:LOCAL_MEMORY,SERVED:REMOTE_MEMORY
all=$all,STALL:ICACHE,STALL:BRANCH,STALL:DCACHE,STALL:TLB,STALL:OTHER,DCACHE:LOCAL_L2,DCACHE:LOCAL_L3,DCACHE:LOCAL_MEMORY,DCACHE:REMOTE_MEMORY
in_mode() { echo "$all" | sed "s/,/:$1,/g; s/\$/:$1/"; }

kinds='sort matrix chase compress graph interp'
[ "$quick" = 0 ] || kinds='sort graph'

# name|boot arguments|applications
runs() {
	for kind in $kinds; do
		for config in 2-50000 5-50000 10-50000 10-10000 10-200000 10-500000 15-50000; do
			ratio=${config%-*} events=$all
			case $ratio in
			2) events=$few ;;
			10) events=$all,$(in_mode u) ;;
			15) events=$all,$(in_mode u),$(in_mode k) ;;
			esac
			[ "$quick" = 0 ] || [ "$ratio" = 10 ] || continue
			echo "kl-$ratio-${config#*-}-$kind|hpm.breakdown=off hpm.slice_cycles=${config#*-}|hpmstat events=$events per=machine interval=2 format=series marks=1 -- phases kind=$kind seed=SEED"
			case $config in 10-50000)
				echo "ci-$ratio-${config#*-}-$kind|hpm.breakdown=off hpm.slice_cycles=${config#*-}|hpmstat events=$events per=machine interval=100 format=series marks=1 -- phases kind=$kind rounds=12 seed=SEED" ;;
			esac
		done
	done
	for slice in none 1000000 200000 100000 50000 20000 10000; do
		[ "$slice" = none ] && boot=hpm.pmu=none || boot=hpm.slice_cycles=$slice
		echo "cost-$slice|$boot|private threads=1 ms=60 seed=SEED"
	done
}

one() {
	dir=$out/$1
	mkdir -p "$dir"
	rm -f "$out/$1.done"
	${QEMU:-tools/qemu.sh} kernel="$kernel" machine="$machine" smp=1 out="$dir" timeout=900 plugin="seed=$4" append="$2 -- $3" \
		</dev/null 2>"$dir/stderr" | tr -d '\r' >"$dir/console.txt" || :
	case $(grep -o 'check=ok' "$dir/console.txt" || :) in
	check=ok*) : >"$out/$1.done" ;;
	*) echo "bench: $1 FAILED, see $dir" >&2; return 1 ;;
	esac
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
for seed in $(seq "$seeds"); do
	runs | grep -E "$only" | sed "s/SEED/$seed/g; s/\$/|$seed/"
done >"$out/list"
echo "bench: $(wc -l <"$out/list") runs, $jobs at a time"
xargs -P "$jobs" -d '\n' -I '{}' env one='{}' "$0" kernel="$kernel" machine="$machine" seeds="$seeds" out="$out" <"$out/list" || failed=1
{
	echo "# make bench-hpm: machine=$machine arch=$arch seeds=$seeds only=$only, $("qemu-system-$arch" --version | sed -n 's/^QEMU emulator version //p')"
	for run in "$out"/*.done; do
		name=$(basename "$run" .done)
		echo "RUN $name"
		awk '/^mark reading/ { wanted = 1 } /^total / && wanted { print "TRUTH", $0; wanted = 0 } /^mark (start|end)/ { print toupper($2) }' "$out/$name/truth.txt"
		grep -e '^SERIES ' -e '^RESULT app=private ' "$out/$name/console.txt" || :
	done | awk -v arch="$arch" -v machine="$machine" -f test/bench/hpm.awk
} | tee "$results"
exit $failed
