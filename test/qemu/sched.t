#!/bin/sh
# The scheduler under load, from inside the kernel: on plain QEMU and on the simulated
# multiprocessor.
. "${0%/*}/lib.sh"
use vigil-suites

for smp in 1 4 16; do # sched.long.t has more
	boot smp=$smp timeout=300 -- -- sched ';' turns
	status_is 0 "$smp CPUs: the suite ends"
	guest_tap
done
boot machine=openpower720 timeout=300 -- -- sched ';' turns
status_is 0 "simulated machine: the suite ends"
guest_tap

longest_us() { # N-th program
	lines "RESULT app=priorities" longest_us | sed -n "$1p"
}
figure() { # KEY, N-th program
	lines "RESULT app=latency" "$1" | sed -n "$2p"
}
use vigil-test
boot machine=openpower720 timeout=300 -- -- priorities on=one gaps=4 ';' priorities gaps=3 ';' \
	latency threads=4 busy=16 period=5000 ms=60 ';' latency what=signal busy=16 ms=40 ';' \
	latency what=mutex busy=0 inside=200 outside=1000 ms=150 ';' \
	latency what=mutex busy=0 inside=200 outside=1000 ms=150
status_is 0 "a thread of the lowest priority gets on beside loops of the highest, on one CPU and on all"
within "$(longest_us 1)" 10000 65000 "... and waits no longer than said, microseconds of model time, on one CPU"
within "$(longest_us 2)" 10000 65000 "... and on all"
within "$(figure max_ns 1)" 1 200000 "a sleeper runs again at once though all CPUs are busy: how late at most, nanoseconds"
within "$(figure p50_ns 2)" 1 100000 "two threads wake each other at once though all CPUs are busy: a round, nanoseconds"
# The longest of 200,000 waits has a tail: slices of others for which one that was woken waits in a
# row. One run of the two must be within the limits.
run=3
[ "$(figure max_ns 4)" -ge "$(figure max_ns 3)" ] || run=4
within "$(figure max_ns $run)" 1 15000000 "none of sixteen contenders waits long for a mutex, nanoseconds"
within "$(figure ratio_permille $run)" 1000 2200 "... and what they get is about the same: most by least, thousandths"
done_testing
