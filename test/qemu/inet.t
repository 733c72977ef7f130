#!/bin/sh
# TCP and UDP over loopback: an unmodified program of Linux's tests what it gets.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/inet" test/linux/inet/*.c
tar -C "$work" -cf "$work/initrd.tar" inet

# CPUs, instances of lwIP, fusion.
for run in ${RUNS:-1:1:on 4:1:off 4:4:off 4:4:on}; do
	fusion=${run##*:} counts=${run%:*}
	boot smp="${counts%:*}" timeout=60 "initrd=$work/initrd.tar" -- \
		"net.instances=${counts#*:}" "net.fusion=$fusion" -- /inet "$([ "$fusion" = off ] || echo fused)"
	status_is 0 "sockets of AF_INET; CPUs, instances, fusion: $run"
	guest_tap
done
done_testing
