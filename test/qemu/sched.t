#!/bin/sh
# The scheduler under load, from inside the kernel: on plain QEMU and on the simulated multiprocessor.
. "${0%/*}/lib.sh"
use vigil-suites

for smp in 1 4 64; do
	boot smp=$smp timeout=300 -- -- sched
	status_is 0 "$smp CPUs: the suite ends"
	guest_tap
done
boot machine=openpower720 timeout=300 -- -- sched
status_is 0 "simulated machine: the suite ends"
guest_tap

longest_us() { # N-th program
	sed -n 's/^RESULT app=priorities .* longest_us=\([0-9]*\).*/\1/p' "$console" | sed -n "$1p"
}
use vigil-test
boot machine=openpower720 timeout=300 -- -- priorities on=one ';' priorities
status_is 0 "a thread of the lowest priority gets on beside loops of the highest, on one CPU and on all"
within "$(longest_us 1)" 10000 65000 "... and waits no longer than said, microseconds of model time, on one CPU"
within "$(longest_us 2)" 10000 65000 "... and on all"
done_testing
