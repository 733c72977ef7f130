#!/bin/sh
# Processes and those they start: numbers that begin anew, and what may be seen of other processes.
. "${0%/*}/lib.sh"

boot smp=2 timeout=120 -- numbers.first=1073741816 -- kin numbers
status_is 0 "numbers of processes and threads begin anew"
guest_tap
for visible in all own; do
	boot machine=openpower720 smp=2 timeout=120 -- proc.visible=$visible -- kin $visible \
		# which has counters
	status_is 0 "proc.visible=$visible"
	says_not "^not ok" "... is what each call obeys"
done
boot smp=2 timeout=120 -- proc.visible=own -- hpmtop plain=1 times=1 interval=20
line "hpmtop argument=criteria reason=denied" "a program that would see all says why it does not"
done_testing
