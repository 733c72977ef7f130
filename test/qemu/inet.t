#!/bin/sh
# TCP and UDP over loopback: an unmodified program of Linux's tests what it gets.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/inet" test/linux/inet.c
tar -C "$work" -cf "$work/initrd.tar" inet

# CPUs and instances of lwIP.
for run in ${RUNS:-1:1 4:1 4:4}; do
	boot smp="${run%:*}" timeout=60 "initrd=$work/initrd.tar" -- net.instances="${run#*:}" -- /inet
	status_is 0 "sockets of AF_INET; CPUs and instances: $run"
	guest_tap
done
done_testing
