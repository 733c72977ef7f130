#!/bin/sh
# Bytes that the kernel moves between pipes, files, sockets and memory (splice), processes by
# descriptors (pidfd_open), semaphores and message queues, by programs of Linux's.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/splice" test/linux/splice.c
"$compiler" -O1 -static -o "$work/pidfd" test/linux/pidfd.c
"$compiler" -O1 -static -o "$work/ipc" test/linux/ipc.c
tar -C "$work" -cf "$work/initrd.tar" splice pidfd ipc

boot smp=2 timeout=60 initrd="$work/initrd.tar" -- -- /splice
status_is 0 "splice, tee, vmsplice"
guest_tap
boot smp=2 timeout=60 initrd="$work/initrd.tar" -- -- /pidfd
status_is 0 "processes by descriptors"
guest_tap
boot smp=2 timeout=60 initrd="$work/initrd.tar" -- -- /ipc
status_is 0 "semaphores and message queues"
guest_tap
done_testing
