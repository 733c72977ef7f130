#!/bin/sh
# Corners of Linux's calls, by a program of Linux's; on Linux too, if that has been fetched.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -o "$work/corners" test/linux/corners.c
"$compiler" -O1 -static -pthread -o "$work/sendfile" test/linux/sendfile.c
tar -C "$work" -cf "$work/initrd.tar" corners sendfile

boot smp=2 timeout=60 initrd="$work/initrd.tar" -- -- /corners
status_is 0 "locks, signals to groups, limits, identities"
guest_tap
boot smp=2 timeout=60 initrd="$work/initrd.tar" -- -- /sendfile
status_is 0 "files sent to sockets, pipes and files"
guest_tap
done_testing
