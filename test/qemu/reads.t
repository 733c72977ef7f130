#!/bin/sh
# Counts that programs read by themselves where user mode can read counters, and by a system call
# where it cannot.
. "${0%/*}/lib.sh"

if [ "$arch" = aarch64 ]; then
	boot smp=1 icount=0 timeout=120 -- -- reads exact
	status_is 0 "exact"
	guest_tap
	for model in cpu=cortex-a72 cpu=max; do
		boot smp=4 $model timeout=120 -- -- reads ghz
		status_is 0 "$model"
		says_not "stepped back" "$model: no counter goes back"
		guest_tap
	done
	boot smp=1 icount=0 timeout=120 -- hpm.accounts=on hpm.slice_cycles=10000 -- reads exact
	status_is 0 "short slices, interrupts counted apart"
	guest_tap
	boot smp=1 timeout=60 -- -- reads closed
	line "exit app=reads status=(132|139)" "a thread that has closed its session reads no counter"
fi
boot machine=openpower720 timeout=120 -- -- reads call
status_is 0 "registers in memory are not for user mode"
guest_tap
# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=60 -- -- reads call
line "# session=-19" "without counters there is nothing to read"
done_testing
