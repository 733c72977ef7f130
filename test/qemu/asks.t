#!/bin/sh
# Linux's calls of identity, limits, scheduling and time: results and errors.
. "${0%/*}/lib.sh"
boot smp=3 -- -- asks
status_is 0 "asks"
guest_tap
done_testing
