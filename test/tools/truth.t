#!/bin/sh
# tools/truth.sh, on a made-up file of ground truth.
. "${0%/*}/../qemu/lib.sh"
console=$work/said booted=" nothing, truth.sh only" # shown when a check fails
: >"$work/stderr"

snapshot() { # LABEL TIME CYCLES REMOTE_L2 REMOTE_L3 SHARED
	printf 'mark %s time=%s host_ms=1\n' "$1" "$2"
	printf 'total cycles=%s remote_l2=%s remote_l3=%s\n' "$3" "$4" "$5"
	printf 'cpu 0 user cycles=%s remote_l2=%s remote_l3=0\n' "$(($3 - 1))" "$4"
	printf 'cpu 0 kernel cycles=1 remote_l2=0 remote_l3=%s idle=7\n' "$5"
	printf 'tag 9 cycles=%s remote_l2=%s remote_l3=0\nshared 9 4 %s\nsimulation turns=1\nend %s\n' "$3" "$4" "$6" "$1"
}
{
	snapshot start 100 5000000000 20 3 6
	snapshot steady 150 5000000100 22 3 7
	snapshot end 200 5000000400 29 5 9
	snapshot start 300 6000000000 40 5 9
	snapshot end 500 9000000000 90 6 30
} >"$work/truth.txt"

is() { # WHAT REGEX ARGUMENTS...
	what=$1 wanted=$2
	shift 2
	r=0
	tools/truth.sh "$work/truth.txt" "$@" >"$work/said" 2>&1 || :
	grep -Eq -- "$wanted" "$work/said" || r=1
	result $r "$what"
}
is "figures are those between two marks" "^from=start to=end time=100 .*cycles=400 .*remote_l2=9 remote=11 remote_l3=2" start end
is "user mode is told apart" "user_cycles=400.* user_remote=9.* kernel_cycles=0" start end
is "the end is the first behind the beginning" "time=50 .*cycles=300 " steady end
is "the second mark of a name" "time=200 .*cycles=3000000000 .*remote=51" start:2 end
is "the second as the end" "time=400 .*cycles=4000000000 " start end:2
is "from power-on" "time=200 .*cycles=5000000400 " boot end
is "by tag" "^tag=9 cycles=400 remote_l2=9 remote=9 " start end tag
is "by CPU and mode" "^cpu=0 mode=kernel cycles=0 .*remote=2 " start end cpu
is "who met whom" "^reader=9 writer=4 accesses=3$" start end shared
is "a mark that is not there" "error: .*no mark steady:2$" steady:2 end
is "an end that is not there" "error: .*no mark start:3 behind end" end start:3
is "a kind that does not exist" "error: 'all' is not accepted" start end all

printf 'mark start time=1 host_ms=1\ntotal cycles=1\nend start\nmark end time=2 host_ms=1\ntotal cyc' >"$work/truth.txt"
is "a file that breaks off" "error: .*middle of a mark" start end
done_testing
