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
done_testing
