#!/bin/sh
# The scheduler's suite with as many CPUs as there may be.
. "${0%/*}/lib.sh"
use vigil-suites
boot smp=64 timeout=900 -- -- sched ';' turns
status_is 0 "64 CPUs: the suite ends"
guest_tap
done_testing
