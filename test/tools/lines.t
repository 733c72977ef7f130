#!/bin/sh
# How tests read lines with keys: line, no_line and lines of test/qemu/lib.sh. Nothing is booted.
. "${0%/*}/../qemu/lib.sh"
cat >"$console" <<'END'
process: event=ended reason=memory limit=mem.process,mem.user pid=7 app=oom: out of memory, swap=full
sharing: account pid=2 overhead_pct=0.125 wrong=0
RESULT app=lu n=64 ns=12000 sum=057bb199a1c10726 check=ok
virtio: event=refused at=00:03.0: it does not reset
exit: app=hello status=0 ms=3
exit: app=hello status=7 ms=-1
END

is() { # EXPECTED LINE [KEY]
	r=0
	[ "$(lines "$2" ${3:+"$3"} | paste -sd ' ')" = "$1" ] || r=1
	result $r "$2${3:+, $3}: ${1:-nothing}"
}
is 7 "process event=ended" pid
is 7 "process app=oom reason=memory event=ended" pid
is "" "process swap=full" pid # a sentence has no keys
is "" "process reason=mem" pid # a value is compared as a whole
is 7 "process reason=mem.*|io" pid
is mem.process,mem.user "process pid=7" limit
is "" "proc event=ended" pid
is 2 "sharing wrong=0" pid # words without '=' are passed over
is 2 "sharing overhead_pct=0.1..0.2" pid
is "" "sharing overhead_pct=0.2.." pid
is lu "RESULT ns=10000..99999 sum=057bb199a1c10726 check=ok" app
is "" "RESULT sum=0..1" app # no number
is 00:03.0 "virtio event=refused" at
is "0 7" "exit app=hello" status
is 0 "exit ms=0.." status
is 7 "exit ms=..0" status
is "" "exit app=hello none=.*" status
line "exit status=7" "a line that is there"
no_line "exit status=8" "a line that is not there"
(line "exit status=8" "a line that is not there" >"$work/said" 2>&1) || :
r=0; grep -q '^not ok' "$work/said" && grep -q 'missing: exit status=8$' "$work/said" || r=1
result $r "a missing line fails, and is named"
(no_line "exit status=7" "a line that is there" >"$work/said" 2>&1) || :
r=0; grep -q '^not ok' "$work/said" || r=1
result $r "a line that must not be there fails"
done_testing
