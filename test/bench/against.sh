#!/bin/sh
# Compares two kernels on the simulated machine: what scheduling, counting and paging cost and gain,
# in runs of seconds. For a change that should change nothing.
#
#   test/bench/against.sh before=FILE after=FILE [seeds='1 2 3'] [only=REGEX of runs] [jobs=N]
#                         [resume=1] [before_name=TEXT] [after_name=TEXT] [out=DIR] [results=FILE]
#
# before, after: kernels of ARCH. A seed determines the threads' order of creation and every random
# choice of program and machine. A row has the least and the greatest value of each kernel, and by
# how many percent the median differs. resume=1: runs that have ended well are not repeated.
#
# Figures:
#   ops/s        operations a second, of all threads
#   remote/op    accesses that another chip's caches served, per operation
#   detect %     cost of detecting sharing, in percent of the CPUs' time while it lasted
#   kernel %     cycles in the kernel, in percent of all cycles that were not idle
#   instructions of the program and the kernel, thousands
#   cycles       that were not idle, thousands
#   read, out    pages read from the disk, and written to it
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-x86_64}
before= after= seeds='1 2 3' only=. jobs=1 resume=0 before_name=before after_name=after \
	out=build/bench/against-$arch results=build/bench/against.txt
for argument; do
	case $argument in
	before=* | after=* | seeds=* | only=* | jobs=* | resume=* | before_name=* | after_name=* | \
		out=* | results=*) value=${argument#*=}; eval "${argument%%=*}=\$value" ;;
	*) echo "against.sh: unknown argument '$argument'" >&2; exit 125 ;;
	esac
done
# Name | CPUs (none: the machine's) | options of the machine | boot arguments and program | marks |
# figures.
runs() {
	sharing='ops/s remote/op kernel_% detect_%'
	for policy in default cluster; do
		while IFS='|' read -r name program; do
			boot="sched.policy=$policy -- $program seed=SEED"
			echo "$name-$policy|||$boot|start end|$sharing"
		done <<-END
			scoreboard-4x4|scoreboard groups=4 threads=4 ms=247 steady=50
			warehouse-2x8|warehouse warehouses=2 threads=8 ms=247 steady=50
			unequal-2356|scoreboard sizes=2,3,5,6 ms=66 steady=50
			big-10-3-3|scoreboard sizes=10,3,3 ms=66 steady=50
			change-4x4|scoreboard groups=4 threads=4 change=40 ms=66 steady=75
			many-8x4|scoreboard groups=8 threads=4 ms=66 steady=50
		END
	done
	cost='instructions cycles'
	echo "read-counts|1||-- costs read 2000|costs-begin costs-end|$cost"
	echo "open-session|1||-- costs open 200|costs-begin costs-end|$cost"
	echo "switch|1||-- costs switch 20000|costs-begin costs-end|$cost"
	sort='phases kind=sort rounds=1 seed=SEED|start end'
	echo "sort|1||-- $sort|$cost kernel_%"
	echo "sort-fast|1||hpm.slice_cycles=50000 -- $sort|$cost kernel_%"
	paging='read out cycles'
	while IFS='|' read -r name memory program; do
		boot="swap=model mem.pab=128 mem.seed=SEED mem.user=${memory}K -- $program"
		echo "$name|1|tlb=16,disk=64M|$boot|start end|$paging"
	done <<-END
		fft|1664|fft log2n=16 threads=1
		lu|1100|lu layout=contiguous n=512 block=8 threads=1
		sweep-loop|2176|sweep pages=1024 rounds=4 order=loop access=read
		sweep-random|2176|sweep pages=1024 rounds=4 order=random access=write seed=SEED
	END
}

# Makes one run: one line of name=value pairs in $out/SIDE/NAME-SEED.line.
one() { # SIDE KERNEL NAME SMP PLUGIN BOOT MARKS FIGURES SEED
	dir=$out/$1/$3-$9
	[ "$resume" = 1 ] && [ -s "$dir.line" ] && return
	mkdir -p "$dir"
	rm -f "$dir.line"
	${QEMU:-tools/qemu.sh} kernel="$2" machine=openpower720 ${4:+smp=$4} out="$dir" timeout=1800 \
		plugin="seed=$9${5:+,$5}" append="$6" </dev/null 2>"$dir/stderr" |
		tr -d '\r' >"$dir/console.txt" || :
	{
		echo "run=$3 side=$1 seed=$9 figures=$(echo "$8" | tr ' ' ,)"
		sed -n 's/^RESULT app=[^ ]*//p; s/^sharing: account pid=[0-9]*//p' "$dir/console.txt"
		# shellcheck disable=SC2086
		tools/truth.sh "$dir/truth.txt" $7 | sed 's/\([a-z0-9_]*\)=/all_\1=/g'
		awk -v marks="$7" 'BEGIN { split(marks, mark, " ") } $1 == "mark" { at = $2 }
			$1 == "disk" { for (i = 2; i <= NF; i++) { split($i, p, "="); v[at, p[1]] = p[2] } }
			END { for (w in v) { split(w, p, SUBSEP); if (p[1] == mark[2]) printf "disk_%s=%d ", p[2],
				v[w] - v[mark[1], p[2]] } }' "$dir/truth.txt"
	} | tr '\n' ' ' >"$dir.part"
	if grep -q 'check=ok.*all_cycles=' "$dir.part"; then
		mv "$dir.part" "$dir.line"
		echo "against: $1 $3 seed=$9"
	else
		echo "against: $1 $3 seed=$9 FAILED, see $dir" >&2
		return 1
	fi
}

if [ "${one:-}" ]; then # one run of the list, by xargs below
	IFS='|' read -r side kernel name smp plugin boot marks figures seed <<-END
		$one
	END
	one "$side" "$kernel" "$name" "$smp" "$plugin" "$boot" "$marks" "$figures" "$seed"
	exit
fi

for kernel in "$before" "$after"; do
	[ -f "$kernel" ] || { echo "against.sh: '$kernel' is no kernel (before=, after=)" >&2; exit 125; }
done
mkdir -p "$out/before" "$out/after" "$(dirname "$results")"
[ "$resume" = 1 ] || rm -f "$out"/*/*.line
for seed in $seeds; do
	runs | grep -E "^($only)" | sed "s/SEED/$seed/g; s/\$/|$seed/" | while read -r run; do
		echo "before|$before|$run"
		echo "after|$after|$run"
	done
done >"$out/list"
failed=0
[ "$only" = . ] || shown=" only='$only'"
xargs -P "$jobs" -d '\n' -I '{}' env one='{}' "$0" out="$out" resume="$resume" \
	<"$out/list" || failed=1
{
	command="test/bench/against.sh before=FILE after=FILE seeds='$seeds'${shown:-}"
	test/bench/header.sh "$command" before="$before_name" after="$after_name" \
		machine=openpower720 arch="$arch"
	cut -d '|' -f 1,3,9 "$out/list" | tr '|' ' ' | while read -r side name seed; do
		cat "$out/$side/$name-$seed.line"
		echo
	done | awk -f test/bench/against.awk
} >"$out/results" || failed=1
cat "$out/results"
[ "$failed" = 0 ] || { echo "against: $results stays as it was" >&2; exit 1; }
mv "$out/results" "$results"
