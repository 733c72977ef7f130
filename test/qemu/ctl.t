#!/bin/sh
# vigil-ctl: boot arguments, printed and changed while programs run.
. "${0%/*}/lib.sh"

ctl() { # WORDS WHAT STATUS
	boot smp=1 -- -- vigil-ctl $1
	status_is "$3" "$2"
}
ctl "" "vigil-ctl lists what can change" 0
says '^sched.remote_pct=5  now: a number from 1 to 100$' "... its value now and what it accepts"
says '^sched.policy=default  next: one of default' "... also of programs that start later"
says_not '^cpus=' "... and nothing that holds for the whole boot"
ctl "sched.remote_pct=7 sched.remote_pct" "a value is changed" 0
says '^sched.remote_pct=7  now: ' "... and holds"
line 'knob app=vigil-ctl was=5' "... and a line of the kernel says so"
ctl "cpus=2" "what holds for the whole boot is refused" 1
line 'vigil-ctl argument=cpus reason=scope value=64' "... with its value now"
ctl "cpus" "... but is printed" 0
says '^cpus=64  boot: a number from 1 to 64' "... and so is what it accepts"
ctl "sched.remote_pct=700" "a value out of range is refused" 1
line 'vigil-ctl argument=sched.remote_pct reason=range' "... with the reason"
ctl "sched.speed=3" "there is no such argument" 2
line 'vigil-ctl argument=sched.speed reason=unknown' "... which a line says"
ctl "sched.speed sched.hot_us" "one of two is not there" 2
says '^sched.hot_us=500  now: ' "... the other is printed"
done_testing
