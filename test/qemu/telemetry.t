#!/bin/sh
# The telemetry stream: what the guest records is read back by babeltrace2, whole and accounted for.
. "${0%/*}/lib.sh"
stream=$work/stream trace=$work/trace

# record WHAT qemu.sh's arguments -- boot arguments
record() {
	what=$1
	shift
	rm -rf "$stream" "$trace"
	boot telemetry="$stream" "$@"
	status_is "${expected:-0}" "$what: the run ends"
	r=0
	tools/trace_split.py "$stream" "$trace" >"$work/split" 2>&1 || r=1
	result $r "$what: every byte of the stream is of a whole packet"
	[ $r -eq 0 ] || sed 's/^/# /' "$work/split" >&2
}
checked() { # WHAT ARGUMENTS
	what=$1
	shift
	account=$(grep '^telemetry: taken=' "$console" || :)
	test/qemu/trace_check.py "$trace" "$account" "$@" >"$work/tap" 2>&1 || echo "not ok 1 - the checker ends: $(cat "$work/tap")" >>"$work/tap"
	r=0
	grep -q '^ok' "$work/tap" || r=1
	result $r "$what: there is something to check"
	grep -E '^(not )?ok' "$work/tap" >"$work/lines" || :
	while read -r line; do
		r=0
		case $line in not*) r=1 ;; esac
		result $r "$what: $(printf '%s\n' "$line" | sed -E 's/^(not )?ok [0-9]+ - //')"
	done <"$work/lines"
}
recorded() { # EVENT WHAT
	r=0
	grep '^# events:' "$work/tap" | grep -qw "$1" || r=1
	result $r "$2"
}

efi=${B:-build}/$arch/vigil-test.efi
record "simulated machine" machine=openpower720 timeout=200 -- telemetry=all telemetry.kb=1024 sched.policy=cluster -- scoreboard ms=30
checked "simulated machine"
for event in thread_start thread_exit process_start process_exit sched_switch sched_migrate sharing_watch sharing_decision counters sample mark; do
	recorded $event "simulated machine: $event is among them"
done
record "UEFI" efi="$efi" smp=2 timeout=120 -- telemetry=sched -- hello
checked "UEFI"

use vigil-suites
record "a flood" smp=4 timeout=120 -- telemetry=marks telemetry.kb=16 -- telemetry
checked "a flood" flood
expected=101
record "a panic" smp=2 timeout=120 -- telemetry=sched -- panics 1
checked "a panic"
expected=0

use vigil-test
boot smp=1 timeout=60 -- telemetry=sched -- hello
status_is 0 "without a port: all else works"
says "^telemetry: there is no port vigil\.telemetry that anybody listens at: nothing is recorded\$" "... and a line says so"
rm -f "$stream"
boot smp=1 telemetry="$stream" timeout=60 -- -- hello
says_not "^telemetry:" "not asked for: not a word"
r=0; [ ! -s "$stream" ] || r=1
result $r "... and nothing is written"
done_testing
