#!/bin/sh
# watchd by its local socket: what it shows of the machine while a program runs, what Prometheus
# reads, who may turn knobs, and what it refuses.
. "${0%/*}/lib.sh"

use vigil-test
token=0123456789abcdef
# answer N: prints the body of the Nth answer.
answer() {
	awk -v n="$1" '/^watchask: method=/ { at++; next } /^watchask: end/ { if (at == n) exit; next }
		at == n' "$console"
}
checks() { # N WHAT...: what test/qemu/watch_check.py says of an answer
	answer "$1" >"$work/answer"
	python3 test/qemu/watch_check.py "$2" "$work/answer" >"$work/checked" || :
	while read -r verdict what; do
		r=1
		[ "$verdict" != ok ] || r=0
		result $r "$2: $what"
	done <"$work/checked"
	r=0
	[ -s "$work/checked" ] || r=1
	result $r "$2: the answer was checked"
}

# watchd and its client are not to be placed, whose lines would stand amid the answers; and the
# program ends while the client sleeps, before it reads events.
boot machine=openpower720 timeout=200 -- -- watchd over=local token=$token '&' \
	watchask POST /api/run $token "'sched.policy=cluster scoreboard ms=180'" sleep 80 \
	GET /api/state GET /metrics sleep 100 \
	5 /events GET /nothing GET /api/knob \
	POST /api/knob wrong sched.remote_pct=7 POST /api/knob $token sched.remote_pct=7 \
	POST /api/knob $token sched.remote_pct=700 POST /api/knob $token cpus=2 \
	POST /api/knob $token nosuch=2 'GET' '/debug/pprof/profile?ms=10' \
	POST /api/run $token "'sched.slice_us=2000 hello status=3'" sleep 30 \
	POST /api/stop $token "''" POST /api/run $token "'scoreboard ms=5000'" \
	POST /api/run $token hello POST /api/stop $token "''"
status_is 0 "watchd ends when no other program runs"
line "watchd event=ready over=local port=80 interval_ms=10" "it says where it listens"
line "watchask method=GET path=/api/state status=200" "the state can be read"
checks 2 state
line "watchask method=GET path=/metrics status=200" "Prometheus' figures can be read"
checks 3 metrics
checks 4 events
if command -v promtool >/dev/null 2>&1; then
	answer 3 >"$work/metrics"
	r=0
	promtool check metrics <"$work/metrics" >"$work/promtool" 2>&1 || r=1
	result $r "metrics: promtool has no complaint"
	cat "$work/promtool" >&2
fi
line "watchask path=/nothing status=404" "another path is not found"
line "watchask method=GET path=/api/knob status=405" "knobs are turned by POST"
within "$(lines 'watchask method=POST path=/api/knob' status | head -n 1)" 401 401 \
	"a wrong token is refused"
within "$(lines 'watchask method=POST path=/api/knob' status | sed -n 2p)" 200 200 \
	"with the token a knob is turned"
line "knob app=watchd was=5" "... and the console says so"
within "$(lines 'watchask method=POST path=/api/knob' status | sed -n 3p)" 400 400 \
	"a value out of range is refused"
says "accepted: a number from 1 to 100" "... with what is accepted"
says "argument=cpus reason=scope" "what holds for the whole boot is refused"
says "argument=nosuch reason=unknown" "an unknown name is refused"
line "watchask path=/debug/pprof/profile.ms=10 status=200" "a profile can be taken"
within "$(lines 'watchask method=POST path=/api/run' status | sed -n 2p)" 200 200 \
	"a program can be started"
line "hello arguments=1" "... and runs"
within "$(lines 'watchask method=POST path=/api/run' status | sed -n 4p)" 409 409 \
	"but not beside another"
line "process event=ended reason=signal signal=SIGKILL app=scoreboard" "it can be ended"
line "watchd event=end readings=5.. requests=13.. refused=5.." "it says what it has done"
no_line panic "... and the kernel did not panic"

boot timeout=60 -- -- watchd over=local token=none '&' hello '&' watchask GET /api/state \
	POST /api/knob $token sched.slice_us=1000
status_is 0 "on a machine without a PMU it runs, too"
line "watchask path=/api/state status=200" "... and shows the state"
line "watchask path=/api/knob status=403" "without a token nothing can be changed"
boot timeout=100 smp=2 -- -- watchd over=local token=none interval=2 quiet=1 '&' \
	watchask slow 40 '&' watchask follow 40
status_is 0 "a reader of events reads nothing for a while, beside one that does"
missing=$(lines 'watchask reader=slow' missing)
within "$missing" 40 100000 "readings were left out for the slow reader"
line "watchask reader=slow told=$missing" "... it is told of exactly as many"
line "watchask reader=follow readings=40.. missing=0 told=0" "... and the other has all of them"
boot timeout=60 -- -- watchd over=local token=short
status_is 2 "a short token is refused"
line "watchd argument=token reason=value" "... by name"
done_testing
