#!/bin/sh
# `make bench-sharing`: programs x scheduling policies x seeds on the simulated machine, each run a
# boot of its own, measured by the machine's ground truth. The seed determines the threads' order of
# creation and every random choice of program and machine.
#
#   test/bench/sharing.sh kernel=FILE [machine=NAME] [quick=1] [ms=N] [seeds=N]
#                         [only=REGEX of names] [out=DIR] [results=FILE]
#
# Remote: loads and reads for ownership that another chip's caches served, per completed operation,
# from mark `start` to `end`, detection included; *_steady is the part from mark `steady` on.
# Medians over the seeds, with min..max. default2 is `default` again with another seed, as a
# control: the A/A pair that shows the effect of chance alone. "to hand": operations a second of
# cluster against hand, paired by seed. Each program runs for its own part of ms: the cost of
# migrating once weighs least where most data moves.
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
kernel= machine=openpower720 quick=0 ms=500 seeds=5 out= results= jobs=$(nproc) only=.
for argument; do
	case $argument in
	kernel=* | machine=* | quick=* | ms=* | seeds=* | out=* | results=* | jobs=* | \
		only=*) value=${argument#*=}; eval "${argument%%=*}=\$value" ;;
	*) echo "sharing.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
# Quick: few programs, each long enough to make the cost of detection small beside its gain.
if [ "$quick" = 1 ]; then ms=330 seeds=1 results=build/bench/sharing-quick.txt; fi
: "${out:=build/bench/sharing-$machine-$arch}" \
	"${results:=docs/results/sharing-$([ "$machine" = openpower720 ] || echo "$machine-")$arch.txt}"
mkdir -p "$out" "$(dirname "$results")"

# Name, arguments, milliseconds in percent of ms, policies, boot arguments: the four programs of the
# comparison, then shapes that are hard on a scheduler.
all='default roundrobin hand cluster'
[ "$quick" = 0 ] || all='default hand cluster' \
	only='scoreboard-4x4|warehouse-2x8|private|scoreboard-16x4'
programs() {
	case $machine in
	openpower-8chip) # four times the CPUs, which take four times as long to simulate
		cat <<-END
			scoreboard-16x4|scoreboard groups=16 threads=4|40|$all|
			warehouse-8x8|warehouse warehouses=8 threads=8|40|$all|
			private-64|private threads=64|15|default2 $all|
		END
		return ;;
	esac
	cat <<-END
		scoreboard-4x4|scoreboard groups=4 threads=4|150|$all|
		warehouse-2x8|warehouse warehouses=2 threads=8|150|$all|
		warehouse-4x4|warehouse warehouses=4 threads=4|200|$all|
		chat-4x8|chat rooms=4 users=8|100|default2 $all|
		chat-mixed|chat rooms=4 users=8 layout=mixed|100|default2 $all|
		auction-2x8|auction sites=2 users=8|100|default2 $all|
		private-16|private threads=16|50|default2 $all|
		unequal-2356|scoreboard sizes=2,3,5,6|40|default hand cluster|
		big-10-3-3|scoreboard sizes=10,3,3|40|default hand cluster|
		big-slack250|scoreboard sizes=10,3,3|40|default hand cluster|sched.slack_permille=250
		placed-4x4|scoreboard groups=4 threads=4 order=striped|40|default hand cluster|
		change-4x4|scoreboard groups=4 threads=4 change=40|40|default hand cluster|
		many-8x4|scoreboard groups=8 threads=4|40|default hand cluster|
	END
}

# Makes one run: one line of name=value pairs in $out/NAME-POLICY-SEED.line.
one() {
	name=$1 program=$2 policy=$3 seed=$4 bootargs=$5
	dir=$out/$name-$policy-$seed kernel_policy=$policy
	if [ "$policy" = default2 ]; then kernel_policy=default seed=$((seed + 1000)); fi
	case $program in *change=*) steady=75 ;; *) steady=50 ;; esac
	mkdir -p "$dir"
	rm -f "$dir.line"
	if ! ${QEMU:-tools/qemu.sh} kernel="$kernel" machine="$machine" out="$dir" timeout=1800 \
		plugin="seed=$seed" \
		append="sched.policy=$kernel_policy $bootargs -- $program steady=$steady seed=$seed" </dev/null \
		2>"$dir/stderr" |
		tr -d '\r' >"$dir/console.txt"; then :; fi
	{
		grep '^RESULT app=' "$dir/console.txt" | sed 's/^RESULT app=[^ ]*//' || :
		tools/truth.sh "$dir/truth.txt" start end | sed 's/\([a-z0-9_]*\)=/all_\1=/g' || :
		tools/truth.sh "$dir/truth.txt" steady end | sed 's/\([a-z0-9_]*\)=/late_\1=/g' || :
		grep '^sharing: account ' "$dir/console.txt" | tail -n 1 | sed 's/^sharing: account //' || :
		grep '^sharing: clusters ' "$dir/console.txt" | tail -n 1 | grep -o 'wrong=[0-9]*' || :
	} | tr '\n' ' ' >"$dir.part"
	case $(cat "$dir.part") in
	*check=ok*) echo "name=$name policy=$policy $(cat "$dir.part")" >"$dir.line"; rm -f "$dir.part"; \
		echo "bench: $name $policy seed=$seed" ;;
	*) echo "bench: $name $policy seed=$seed FAILED, see $dir" >&2; return 1 ;;
	esac
}

if [ "${one:-}" ]; then # one program of the list, by xargs below
	IFS='|' read -r name program policy seed bootargs <<-END
		$one
	END
	one "$name" "$program" "$policy" "$seed" "$bootargs"
	exit
fi

rm -f "$out"/*.line
failed=0
for seed in $(seq "$seeds"); do
	programs | grep -E "$only" | while IFS='|' read -r name program percent policies bootargs; do
		for policy in $policies; \
			do echo "$name|$program ms=$((ms * percent / 100))|$policy|$seed|$bootargs"; done
	done
done >"$out/list"
echo "bench: $(wc -l <"$out/list") runs, $jobs at a time"
xargs -P "$jobs" -d '\n' -I '{}' env one='{}' "$0" kernel="$kernel" machine="$machine" ms="$ms" \
	seeds="$seeds" out="$out" \
	results="$results" <"$out/list" || failed=1
{
	test/bench/header.sh "make bench-sharing ARCH=$arch MACHINE=$machine $([ "$quick" = 0 ] || echo "QUICK=1 ")MS=$ms SEEDS=$seeds" machine="$machine" arch="$arch" only="$only"
	cat "$out"/*.line | awk -v arch="$arch" -v machine="$machine" -f test/bench/sharing.awk
} >"$out/results" || failed=1
cat "$out/results"
[ "$failed" = 0 ] || { echo "bench: $results stays as it was" >&2; exit 1; }
mv "$out/results" "$results"
