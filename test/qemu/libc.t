#!/bin/sh
# The C library's lower half, on one CPU and on several.
. "${0%/*}/lib.sh"

for smp in 1 8; do
	boot smp=$smp timeout=120 -- -- libctest
	status_is 0 "$smp CPUs"
	guest_tap
done
boot smp=2 timeout=60 -- -- libctest last
says "^written by the last thread, ended in order" "the end of the last thread is a program's orderly end"
says "^exit: libctest 0" "... and its status is 0"
done_testing
