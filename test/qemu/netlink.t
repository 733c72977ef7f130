#!/bin/sh
# Interfaces and addresses by AF_NETLINK: an unmodified program of Linux's.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -o "$work/netlink" test/linux/netlink.c
tar -C "$work" -cf "$work/initrd.tar" netlink

boot smp=2 timeout=60 "initrd=$work/initrd.tar" -- -- /netlink
status_is 0 "without a card"
guest_tap
boot smp=2 net=user timeout=60 "initrd=$work/initrd.tar" -- -- /netlink eth0
status_is 0 "with a card"
guest_tap
done_testing
