#!/bin/sh
# Starts on plain QEMU: 1 to 64 CPUs, little and much memory, several CPU models.
. "${0%/*}/lib.sh"

for smp in 1 2 8 64; do
	boot smp=$smp -- -- hello world
	status_is 0 "$smp CPUs: runs a program and switches off"
	says "Hello from process [0-9]+, on $smp CPU" "$smp CPUs: the program sees them"
done

boot smp=66 -- -- hello
says '^cpus: 2 CPUs beyond the first 64 are left alone$' "66 CPUs: two too many are left alone"
status_is 0 "66 CPUs: and the others run"

# shellcheck disable=SC2086
boot smp=2 mem=64M $no_pmu -- -- hello status=7
status_is 7 "64 MB: the program's exit status becomes the machine's"
says "no performance counters" "plain QEMU: says that there is no PMU"
boot smp=2 mem=2G -- -- hello
status_is 0 "2 GB"
for model in $models; do
	boot smp=8 $model -- -- hello
	status_is 0 "$model"
done

# A second chip whose APIC id needs more than 8 bits.
if [ "$arch" = x86_64 ]; then
	status=0
	tools/qemu.sh kernel="$kernel" smp=2 timeout=120 append='-- hello' -- -smp sockets=2,cores=130,threads=1,maxcpus=260 \
		-device max-x86_64-cpu,socket-id=1,core-id=0,thread-id=0 </dev/null >"$console" 2>"$work/stderr" || status=$?
	status_is 0 "APIC id 256"
	says 'on 3 CPU' "... is a CPU that runs"
	says '^  chip 1  \| 2' "... on the second chip"
fi

# Hardware takes no exit code: ACPI's S5 or PSCI's SYSTEM_OFF is the end.
boot smp=2 timeout=60 ending=off -- -- hello status=3
status_is 0 "without an exit for the status the machine is switched off"
says "^exit: hello 3" "... when the program has ended"

boot smp=4 -- -- hello one ';' hello status=3 two '&' hello three
status_is 3 "the first failing program's status is the machine's"
says "hello.*three" "programs after a failing one run"
done_testing
