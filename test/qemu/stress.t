#!/bin/sh
# Threads, futexes, sleeps, exits, mapping and unmapping on more threads than CPUs: counts must add
# up.
. "${0%/*}/lib.sh"

for smp in 1 2 8 64; do
	# More CPUs than the host has run in turns: 64 host threads would only wait for one another.
	thread=thread=multi rounds=40
	[ $smp -le 8 ] || thread= rounds=15
	boot smp=$smp $thread timeout=300 -- -- stress 24 ${ROUNDS:-$rounds} $smp
	status_is 0 "$smp CPUs: nothing lost"
	guest_tap
done

use vigil-suites
for smp in 1 8; do
	boot smp=$smp timeout=300 -- -- futex
	status_is 0 "$smp CPUs: a thousand sleepers on futexes"
	guest_tap
done

for smp in 2 8; do
	boot smp=$smp thread=multi timeout=120 -- -- console
	status_is 0 "$smp CPUs: all write on the console at once"
	whole=$(grep -Ec '^#line [0-9]+ [0-9]+ ([a-z])\1{59}$' "$console") all=$(grep -c '#line ' "$console")
	r=0
	grep -qx "#lines $whole" "$console" && [ "$all" -eq "$whole" ] || r=1
	result $r "$smp CPUs: no line is lost, none is mixed with another ($whole of $all)"
	grep -v '#line ' "$console" | grep -E '^(not )?ok' >"$work/own" && mv "$work/own" "$console"
	guest_tap
done
done_testing
