#!/bin/sh
# Random transfers over TCP's loopback, with ends of all kinds: by lwIP, and fused.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/streams" test/linux/streams.c
tar -C "$work" -cf "$work/initrd.tar" streams

# CPUs, fusion, instances of lwIP.
for run in ${RUNS:-1:on:1 4:on:3 4:off:3}; do
	instances=${run##*:} counts=${run%:*}
	boot smp="${counts%:*}" timeout=120 "initrd=$work/initrd.tar" -- \
		"net.fusion=${counts#*:}" "net.instances=$instances" -- /streams ${CONNECTIONS:-100}
	status_is 0 "random transfers; CPUs, fusion, instances: $run"
	guest_tap
done
done_testing
