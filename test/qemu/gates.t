#!/bin/sh
# A call that faults in the middle must not stop the other processes: what all of them share is let
# go before.
. "${0%/*}/lib.sh"

boot smp=4 mem=64M timeout=120 -- -- gates eat
status_is 0 "samples are taken to fresh pages when memory is exhausted"
guest_tap
line "process event=ended reason=memory limit=machine app=gates" "... and the process with most memory is ended"

boot smp=1 timeout=120 -- disk.ram=8M disk.delay_us=20000 -- gates invert
status_is 0 "samples are taken to pages of a slow disk while processes end"
guest_tap
done_testing
