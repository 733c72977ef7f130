#!/bin/sh
# TCP and UDP over loopback: an unmodified program of Linux's tests what it gets.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/inet" test/linux/inet.c
tar -C "$work" -cf "$work/initrd.tar" inet

for cpus in ${CPUS:-1 4}; do
	boot smp=$cpus timeout=60 "initrd=$work/initrd.tar" -- -- /inet
	status_is 0 "sockets of AF_INET; $cpus CPUs"
	guest_tap
done
done_testing
