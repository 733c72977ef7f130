#!/bin/sh
# Files in memory: holes, seals, files without a name, and openat2, by a program of Linux's.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -o "$work/holes" test/linux/holes.c
tar -C "$work" -cf "$work/initrd.tar" holes

boot smp=2 timeout=120 initrd="$work/initrd.tar" -- -- /holes
status_is 0 "holes and seals"
guest_tap
boot smp=2 timeout=200 initrd="$work/initrd.tar" -- \
	"swap=ram disk.ram=16M mem.user=300K mem.policy=lirs -- /holes"
status_is 0 "the same with little memory"
guest_tap
done_testing
