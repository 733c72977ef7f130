#!/bin/sh
# telemetry=quanta: each stretch of a thread on a CPU, with what was counted and who woke it. Sums
# equal the threads' own totals and the ground truth; the critical path of threads that wait for
# each other in a known way is found.
. "${0%/*}/lib.sh"
stream=$work/stream trace=$work/trace said=$work/said

# record WHAT qemu.sh's arguments -- boot arguments
record() {
	what=$1
	shift
	rm -rf "$stream" "$trace"
	boot telemetry="$stream" "$@"
	status_is "${expected:-0}" "$what: the run ends"
	r=0
	tools/trace_split.py "$stream" "$trace" >"$work/split" 2>&1 || r=1
	result $r "$what: the stream is whole"
}
shown() { # STATUS WHAT arguments of tools/quanta.py
	wanted=$1 what=$2
	shift 2
	r=0
	tools/quanta.py "$trace" "$@" >"$said" 2>&1 || r=$?
	[ $r -eq "$wanted" ] || sed 's/^/# /' "$said" >&2
	[ $r -eq "$wanted" ] && r=0 || r=1
	result $r "$what"
}
told() { # REGEX WHAT
	r=0
	grep -Eq -- "$1" "$said" || r=1
	result $r "$2"
	[ $r -eq 0 ] || { echo "# missing: $1" >&2; sed 's/^/#   /' "$said" >&2; }
}
path_of() { # KEY: its value in the line of the critical path
	sed -n "s/^critical path: .*\\<$1=\\([0-9]*\\).*/\\1/p" "$said"
}
all_add_up='^conservation: ([0-9]+) of \1 threads'

# ---- Sums, against the truth ----
record "64 threads" machine=openpower720 timeout=400 -- telemetry=quanta trace.counts=topdown telemetry.kb=1024 \
	-- scoreboard groups=16 threads=4 ms=25
line "quanta late=0 lost=0" "64 threads: nothing is lost"
line "hpm event=paused figures=breakdown counts=4" "64 threads: the breakdown pauses, which is said"
shown 0 "64 threads: quanta add up"
told "$all_add_up" "... of all threads"
test/qemu/quanta_check.py "$trace" "$work/truth.txt" >"$work/tap" 2>&1 || echo "not ok 1 - the checker ends" >>"$work/tap"
grep -E '^(not )?ok' "$work/tap" >"$work/lines" || :
r=0; [ -s "$work/lines" ] || r=1
result $r "64 threads: there is something to check"
while read -r line; do
	r=0
	case $line in not*) r=1 ;; esac
	result $r "64 threads: $(printf '%s\n' "$line" | sed -E 's/^(not )?ok [0-9]+ - //')"
done <"$work/lines"

# Threads, futexes, sleeps, exits and new threads all at once, on more threads than CPUs.
record "stress" machine=openpower720 timeout=400 -- telemetry=quanta trace.counts=topdown telemetry.kb=1024 -- stress 64 2 1
shown 0 "stress: quanta add up"
told "$all_add_up" "... of all threads"

# ---- A known critical path ----
record "fork and join" machine=openpower720 timeout=400 -- telemetry=quanta,marks trace.counts=topdown telemetry.kb=1024 -- forkjoin 5
printf 'main main\napp app-  # the program\ngc gc-\n' >"$work/roles"
shown 0 "fork and join: quanta add up" roles="$work/roles" from=begin to=end stopped=app by=gc least_us=50 \
	json="$work/json" svg="$work/svg"
told "$all_add_up" "... of all threads"
within "$(($(path_of running) + $(path_of waiting_for_a_CPU) + $(path_of asleep) + $(path_of interrupt) + $(path_of unknown)))" \
	"$(path_of ns)" "$(path_of ns)" "fork and join: the path's parts sum to the whole"
within "$(path_of unknown)" 0 0 "... and each is known"
within "$(path_of running)" "$(($(path_of ns) * 8 / 10))" "$(path_of ns)" "... most of it runs"
told ' (app-3 [0-9]+|gc-0 [0-9]+|main [0-9]+): running$' "... threads of the path are named"
r=0; ! grep -Eq ' app-[012] [0-9]+: running$' "$said" || r=1
result $r "... and none that is not on it"
share() { # THREAD: percent of the path
	awk -v who="$1" '$4 == "%" && $5 == who && $0 ~ /running$/ { sum += $3 } END { print sum + 0 }' "$said"
}
within "$(share app-3)" 60 85 "... of app-3, whose work is 10 of 13 parts"
within "$(share gc-0)" 15 35 "... of gc-0, whose work is 3"
within "$(sed -n 's/^stopped: .* times=\([0-9]*\) .*/\1/p' "$said")" 5 5 "the world is stopped once a round"
told '^app +4 ' "roles have their threads"
told '^back end > 20 %: ' "... and their cycles at the back end"
r=0; python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
starts = {e["id"] for e in events if e["ph"] == "s"}
ends = {e["id"] for e in events if e["ph"] == "f"}
assert starts and starts == ends
assert any(e["ph"] == "X" and "%" in e["name"] for e in events)' "$work/json" 2>"$work/errors" || r=1
result $r "JSON: every arrow has both ends, and quanta have labels"
r=0; python3 -c 'import sys, xml.dom.minidom; assert xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("polygon")' "$work/svg" || r=1
result $r "SVG: violins are drawn"

# ---- Modes ----
record "every 7th" machine=openpower720 timeout=400 -- telemetry=quanta trace.every=7 telemetry.kb=1024 -- stress 24 2 1
shown 0 "every 7th: quanta add up"
told "$all_add_up" "... of all threads"
told '^quanta: .* told=every 7 wakes=[1-9][0-9]+ ' "... and it is said"
r=0; babeltrace2 "$trace" | grep -q ' wake: ' || r=1
result $r "... wake-ups have events of their own"
told '^critical path: not known: ' "... as that there is no path"
events=$(sed -n 's/^quanta: .* events=\([0-9]*\) .*/\1/p' "$said") all=$(sed -n 's/^quanta: recorded=\([0-9]*\) .*/\1/p' "$said")
within "$events" 1 "$((all / 2))" "... in less than half as many events"
record "each 100,000 cycles" machine=openpower720 timeout=400 -- telemetry=quanta trace.cycles=100000 telemetry.kb=1024 -- stress 24 2 1
shown 0 "each 100,000 cycles: quanta add up"
told "$all_add_up" "... of all threads"
told '^quanta: .* told=each 100000 cycles ' "... and it is said"

# ---- Beside sessions, in which events take turns, and with interrupts counted apart ----
record "beside a session" machine=openpower720 timeout=400 -- telemetry=quanta hpm.accounts=on telemetry.kb=1024 \
	-- hpmstat events=l1d.miss,STALL:TLB,STALL:DCACHE,tlb.miss -- stress 24 2 1
shown 0 "beside a session: quanta add up"
told "$all_add_up' quanta add up to their totals: cycles, instructions, ran, waited$" "... of all threads"

# ---- What does not go together ----
boot machine=openpower720 timeout=200 telemetry="$stream" -- telemetry=quanta trace.counts=topdown sched.policy=cluster \
	-- hpmstat events=l1d.miss! -- hello
says 'hpmstat: argument=events .*trace.counts=topdown holds 4 counters all the time' "a session that needs the counters is refused, with the reason"
line "sharing event=refused" "policy cluster pauses, which is said"

record "without counters" smp=4 ${no_pmu:-} timeout=200 -- telemetry=quanta trace.cycles=1000 -- stress 16 2 1
line "telemetry event=refused argument=trace.cycles" "without counters: trace.cycles is refused"
shown 0 "without counters: quanta add up"
told "$all_add_up" "... of all threads"
told '^stress +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+ +- ' "... with times only"

record "little memory" machine=openpower720 timeout=400 -- telemetry=quanta telemetry.kb=16 -- stress 64 3 1
line "quanta late=[1-9][0-9]*" "little memory: what finds no room is counted"
r=0; tools/quanta.py "$trace" >"$said" 2>&1 || :
told '^quanta: .* discarded=[1-9]' "... and said"
boot smp=2 timeout=60 telemetry="$stream" -- telemetry=sched -- hello
no_line quanta "not asked for: not a word"
done_testing
