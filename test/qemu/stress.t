#!/bin/sh
# Threads, futexes, sleeps, exits, mapping and unmapping on more threads than CPUs: counts must add up.
. "${0%/*}/lib.sh"

for smp in 1 2 8; do
	boot smp=$smp thread=multi timeout=300 -- -- stress 24 ${ROUNDS:-40} $smp
	status_is 0 "$smp CPUs: nothing lost"
	guest_tap
done
done_testing
