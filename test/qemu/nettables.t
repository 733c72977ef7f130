#!/bin/sh
# Tables of /proc/net: an unmodified program of Linux's finds its own sockets there.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -o "$work/nettables" test/linux/nettables.c
mkdir "$work/tmp"
tar -C "$work" -cf "$work/initrd.tar" nettables tmp

boot smp=4 timeout=60 "initrd=$work/initrd.tar" -- -- /nettables
status_is 0 "tables of sockets without a card"
guest_tap
boot smp=1 net=user timeout=60 "initrd=$work/initrd.tar" -- -- /nettables eth0
status_is 0 "... and with one"
guest_tap
done_testing
