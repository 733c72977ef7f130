#!/bin/sh
# ./vigil attach from outside, through QEMU's user network, against a booted kernel: programs are
# listed, started, ended, their output and results come back, knobs are turned; what is refused.
. "${0%/*}/lib.sh"

use vigil-test
token=0123456789abcdef
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# attach NAME WORDS...: leaves what it printed in NAME.out and NAME.err, and its status in NAME.is
attach() {
	name=$1 is=0
	shift
	VIGIL_TOKEN=${given-$token} timeout 60 ./vigil attach "127.0.0.1:$port" "$@" \
		>"$work/$name.out" 2>"$work/$name.err" || is=$?
	echo $is >"$work/$name.is"
}
pid_of() { # NAME: of the process with that name
	sed -n "s/^process pid=\([0-9]*\) name=$1 .*/\1/p" "$work/list.out"
}
outside() {
	attach list --timeout 100 list
	attach programs programs
	attach run run hello 'two words' status=7
	attach chat run chat ms=20 rooms=1 users=2
	attach result results
	attach start start scoreboard ms=1000000
	attach busy run hello
	attach running list --json
	attach stop stop
	attach ended wait
	attach long run watchask flood 300000
	attach flood start watchask flood 1500000
	attach flooded wait
	attach last output
	attach first results 2
	attach turn set sched.slice_us=2000 sched.remote_pct=7
	attach knob knobs sched.slice_us
	attach range set sched.slice_us=0
	attach unknown set nosuch=1
	attach nosuch run nosuch
	attach norun wait 77
	attach nopath get /nothing
	attach metrics get /metrics
	given=wrong attach wrong stop
	given='' attach none stop
	attach gone stop 999999
	attach own stop "$(pid_of watchd)"
	attach end stop "$(pid_of watchask)"
}
outside &
boot smp=2 net=user,"$port":80 timeout=150 -- -- watchd interval=100 token=$token '&' \
	watchask sleep 1000000
wait
attach silent --timeout 1 list
ended() { # NAME STATUS WHAT
	r=0
	[ "$(cat "$work/$1.is")" = "$2" ] || r=1
	result $r "$3"
	[ $r -eq 0 ] || head -n 5 "$work/$1.is" "$work/$1.err" | sed 's/^/# /' >&2
}
printed() { # NAME STATUS REGEX WHAT: a whole line of its output or of its errors, and its status
	r=0
	[ "$(cat "$work/$1.is")" = "$2" ] && cat "$work/$1.out" "$work/$1.err" | grep -Eqx -- "$3" || r=1
	result $r "$4"
	[ $r -eq 0 ] || { cat "$work/$1.is"; head -n 5 "$work/$1.out" "$work/$1.err"; } | sed 's/^/# /' >&2
}
says_json() { # NAME EXPRESSION of d WHAT
	r=0
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($2))" \
		"$work/$1.out" || r=1
	result $r "$3"
}
at="vigil: attach 127.0.0.1:$port:"
printed list 0 'process pid=[0-9]+ name=watchask threads=1 cpus=.* resident_bytes=[1-9].*' \
	"processes are listed"
printed programs 0 chat "programs that can be started, too"
printed run 7 'hello: pid=.* arguments=2: Hello! \[two words\] \[status=7\]' \
	"a program is run: its words, output and exit status"
says '^hello: pid=.* \[two words\]' "... which the console shows also"
printed chat 0 'RESULT app=chat .*check=ok' "one that starts others, by whose RESULT line"
r=0
[ "$(grep ^RESULT "$work/chat.out")" = "$(cat "$work/result.out")" ] || r=1
result $r "... results are just those lines"
printed start 0 "run number=3 pid=[0-9]+ running=yes .*command='scoreboard ms=1000000'" "one is started"
printed busy 125 "$at POST /api/run: run=3 pid=.* reason=running: scoreboard .*HTTP 409\)" \
	"but not beside another, which is named"
says_json running 'd["runs"][2]["running"] and d["runs"][0]["status"] == 7 and
	"scoreboard" in [p["name"] for p in d["processes"]]' "JSON says the same"
ended stop 0 "it is ended"
ended ended 137 "... with its signal's status"
within "$(wc -c <"$work/long.out")" 300000 300100 "300 kB of output, as they come"
ended flooded 0 "one writes 1.5 MB"
within "$(wc -c <"$work/last.out")" 524288 1048576 "... of which the newest are kept"
printed last 0 '0+1499900' "... to the last line"
printed first 0 'RESULT app=chat .*' "results of an earlier run are still there"
ended turn 0 "knobs are turned"
printed knob 0 'knob name=sched.slice_us value=2000 live=now .*' "... and have the new value"
printed range 125 "$at POST /api/knob: argument=sched.slice_us reason=range: .*accepted: .*" \
	"a value out of range is refused, with what is accepted"
printed unknown 125 "$at POST /api/knob: argument=nosuch reason=unknown.*" "an unknown knob, by name"
printed nosuch 125 "$at POST /api/run: program=nosuch reason=start: .*No such file.*" \
	"an unknown program, by name"
printed norun 125 "$at run 77: it is not remembered.*" "a run that there is not, by number"
printed nopath 125 "$at GET /nothing: there are: / .*HTTP 404\)" "a path that there is not"
printed metrics 0 'vigil_uptime_seconds [0-9.]+' "any answer can be fetched"
printed wrong 125 "$at POST /api/stop: the header X-Vigil-Token .*HTTP 401\)" "a wrong token"
printed none 125 "$at no token was given: .*" "no token"
printed gone 125 "$at POST /api/stop: pid=999999 reason=stop: .*No such process.*" "no process"
printed own 125 "$at POST /api/stop: the body is to be .*" "watchd itself is not stopped"
ended end 0 "any other process is"
printed silent 125 "$at no answer: .*" "a machine that does not answer"
no_line panic "the kernel did not panic"
line "watchd event=end" "watchd has ended when nothing else ran"

# While nothing runs and nothing looks watchd reads the machine once in 100 intervals. What it
# answers is never older than one.
idle() {
	attach ready --timeout 100 list
	for n in 1 2 3 4; do
		attach "state$n" get /api/state
		attach "metrics$n" get /metrics
	done
	attach quiet run hello
	python3 - "$work/monitor" <<-'EOF'
		import socket, sys
		monitor = socket.socket(socket.AF_UNIX)
		monitor.connect(sys.argv[1])
		monitor.sendall(b"quit\n")
		monitor.recv(4096)
	EOF
}
idle &
more="-monitor unix:$work/monitor,server=on,wait=off"
boot smp=2 net=user,"$port":80 timeout=150 -- -- watchd interval=50 stay=1 quiet=1 \
	token=$token
wait
for n in 1 2 3 4; do
	python3 -c 'import json, sys; print(json.load(sys.stdin)["tick"]["ms"])' <"$work/state$n.out"
	sed -n 's/^vigil_uptime_seconds \(.*\)/\1/p' "$work/metrics$n.out" | awk '{ print $1 * 1000 }'
done >"$work/times"
within "$(awk 'NR > 1 && $1 < last + 1 { stale++ } { last = $1 } END { print stale + 0, NR }' \
	"$work/times" | awk '$2 == 8 { print $1 }')" 0 0 "figures of an idle machine are not stale"
printed quiet 0 'hello: .* Hello!.*' "with quiet=1 output comes back"
says_not '^hello:' "... and does not go to the console"
done_testing
