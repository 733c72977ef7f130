#!/bin/sh
# Starts on plain QEMU: 1, 2 and 8 CPUs, little and much memory, several CPU models.
. "${0%/*}/lib.sh"

for smp in 1 2 8; do
	boot smp=$smp -- -- hello world
	status_is 0 "$smp CPUs: runs a program and switches off"
	says "Hello from process [0-9]+, on $smp CPU" "$smp CPUs: the program sees them"
done

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

boot smp=4 -- -- hello one ';' hello status=3 two '&' hello three
status_is 3 "the first failing program's status is the machine's"
says "hello.*three" "programs after a failing one run"
done_testing
