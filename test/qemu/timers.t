#!/bin/sh
# Timers, waiting for many files, stopped programs: unmodified programs of Linux's test what they
# get.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
programs="timers epoll"
for program in $programs; do
	"$compiler" -O1 -static -pthread -o "$work/$program" "test/linux/$program.c"
done
# shellcheck disable=SC2086
tar -C "$work" -cf "$work/initrd.tar" $programs
initrd=initrd=$work/initrd.tar

for cpus in ${CPUS:-1 4}; do
	boot smp=$cpus timeout=60 "$initrd" -- -- /timers
	status_is 0 "timers of time and of CPU time, files of timers; $cpus CPUs"
	guest_tap
	boot smp=$cpus timeout=60 "$initrd" -- -- /epoll
	status_is 0 "waiting for many files, files of signals; $cpus CPUs"
	guest_tap
done
done_testing
