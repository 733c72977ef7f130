#!/bin/sh
# Perf events: an unmodified program of Linux's tests what it gets, without a PMU and on the
# simulated machine.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/perf" test/linux/perf/*.c
tar -C "$work" -cf "$work/initrd.tar" perf
initrd=initrd=$work/initrd.tar

for cpus in ${CPUS:-1 4}; do
	boot smp=$cpus timeout=60 "$initrd" -- hpm.pmu=none -- /perf
	status_is 0 "perf events without a PMU; $cpus CPUs"
	guest_tap
	boot machine=openpower720 smp=$cpus timeout=120 "$initrd" -- -- /perf
	status_is 0 "perf events of the simulated machine; $cpus CPUs"
	guest_tap
	says_not "SKIP no events of a processor" "there are events of its processor"
	says_not "SKIP no accesses" "... and accesses are sampled"
	# Samples that no owner is told of are written a hundred times a second.
	late=$(sed -n 's/^# without O_ASYNC: [0-9]* samples, \([0-9]*\) us late.*/\1/p' "$console")
	within "$late" 1000 20000 "microseconds until a sample is written that no signal tells of"
done
boot machine=openpower720 smp=2 timeout=60 "$initrd" -- -- /perf storm
status_is 0 "more samples than can be told of"
guest_tap
# Its events take turns more often than a thread runs.
boot machine=openpower720 smp=2 timeout=120 "$initrd" -- hpm.slice_cycles=20000 -- /perf
status_is 0 "perf events whose slices are short"
guest_tap
if [ "$arch" = aarch64 ]; then
	boot smp=1 icount=0 timeout=120 "$initrd" -- -- /perf
	status_is 0 "perf events of QEMU's PMUv3"
	guest_tap
	says_not "SKIP no events of a processor" "there are events of its processor"
fi
done_testing
