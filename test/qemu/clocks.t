#!/bin/sh
# The clock as programs read it, by the vDSO and by calls: the same time, on every CPU; the date; and
# random bytes, which on the simulated machine are the same in each run.
. "${0%/*}/lib.sh"

result_of() { # KEY
	sed -n "s/^RESULT clocks .*\<$1=\([0-9a-f]*\).*/\1/p" "$console"
}

boot smp=4 -- date=2000-02-29T12:00:00 entropy=7 -- clocks
status_is 0 "four CPUs"
guest_tap
within "$(result_of date)" 951825600 951829200 "date= is the date at the start"
first=$(sed -n 's/^RESULT clocks random=//p' "$console")
boot smp=1 -- -- clocks
status_is 0 "one CPU"
guest_tap
now=$(date +%s)
within "$(result_of date)" $((now - 600)) $((now + 60)) "without date= it is the machine's"
r=0; [ -n "$first" ] && [ "$(sed -n 's/^RESULT clocks random=//p' "$console")" != "$first" ] || r=1
result $r "without entropy= bytes are others than with it"

boot machine=openpower720 smp=4 timeout=200 -- -- clocks
status_is 0 "the simulated machine"
guest_tap
within "$(result_of date)" 1767225600 1767225700 "... begins with 2026"
first=$(sed -n 's/^RESULT clocks random=//p' "$console")
vdso=$(result_of vdso_ns) call=$(result_of call_ns)
within "$vdso" 1 $((call / 2)) "reading by the vDSO costs less than half of the call's $call cycles"
boot machine=openpower720 smp=4 timeout=200 -- -- clocks
r=0; [ -n "$first" ] && [ "$(sed -n 's/^RESULT clocks random=//p' "$console")" = "$first" ] || r=1
result $r "... a second run draws the same bytes"
boot machine=openpower720 smp=4 timeout=200 -- entropy=7 -- clocks
r=0; [ "$(sed -n 's/^RESULT clocks random=//p' "$console")" != "$first" ] || r=1
result $r "... and another seed draws others"
done_testing
