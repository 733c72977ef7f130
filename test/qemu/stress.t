#!/bin/sh
# Threads, futexes, sleeps, exits, mapping and unmapping on more threads than CPUs: counts must add up.
. "${0%/*}/lib.sh"

for smp in 1 2 8 64; do
	# More CPUs than the host has run in turns: 64 host threads would only wait for one another.
	thread=thread=multi
	[ $smp -le 8 ] || thread=
	boot smp=$smp $thread timeout=300 -- -- stress 24 ${ROUNDS:-40} $smp
	status_is 0 "$smp CPUs: nothing lost"
	guest_tap
done

done_testing
