#!/bin/sh
# Timers, waiting for many files, stopped programs: unmodified programs of Linux's test what they
# get.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
programs="timers epoll stops positions"
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
	boot smp=$cpus timeout=60 "$initrd" -- -- /positions
	status_is 0 "records at positions that threads share; $cpus CPUs"
	guest_tap
	boot smp=$cpus timeout=60 "$initrd" -- -- '/stops ; /stops pipe ; /stops overflow ; /stops alone ; /stops beat & /stops control ; /stops beat & /stops kill'
	guest_tap
	line "exit app=/stops status=141" "a program without a handler is ended by SIGPIPE"
	line "process event=ended reason=signal signal=SIGSEGV" "a full alternate stack is a SIGSEGV"
	line "process event=continued reason=alone app=stops" "a program that stops itself goes on"
	line "exit app=/stops status=5" "... as SIGCONT has it"
	line "exit app=/stops status=7" "another's threads stand still until it is continued"
	line "exit app=/stops status=137" "... or killed"
	no_line "exit app=/stops status=3" "all ended as they should"
done
done_testing
