#!/bin/sh
# Files: what a program finds in the tree, its descriptors, and an initrd.
. "${0%/*}/lib.sh"

boot smp=1 timeout=60 -- -- files one
status_is 0 "Linux's calls on files"
guest_tap
boot smp=4 timeout=60 -- -- 'files one ; files one'
status_is 0 "... with several CPUs"
done_testing
