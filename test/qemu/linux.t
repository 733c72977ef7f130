#!/bin/sh
# Programs of Linux's interface, unmodified, from an initrd: static ones of fixed addresses and
# relative ones, dynamic ones, a script; their start, threads, status.
. "${0%/*}/lib.sh"

initrd=${B:-build}/$arch/linux-tests.tar
use vigil-test
for kind in static pie dynamic; do
	boot smp=1 timeout=120 "initrd=$initrd" -- -- "/test/start.$kind" one "'two words'"
	status_is 0 "$kind: a program ends with its status"
	guest_tap
done
boot smp=1 timeout=120 "initrd=$initrd" -- -- /test/start.static status 42 ';' start.static status 7 ';' \
	/test/script status 9 ';' /tmp/start.static status 11 ';' /tmp/below/start.static status 12
line "exit app=/test/start.static status=42" "a status is the program's"
line "exit app=start.static status=7" "a name without a slash is found in the usual folders"
line "exit app=/test/script status=9" "a script is run by its interpreter"
line "exit app=/tmp/start.static status=11" "what the archive has in /tmp is seen there"
line "exit app=/tmp/below/start.static status=12" "... and below"
boot smp=1 timeout=120 "initrd=$initrd" -- -- /test/nothing ';' /test ';' /etc/environment ';' \
	/test/lost ';' /test/circle
line "process event=refused app=nothing reason=file" "a file that there is not"
line "process event=refused app=test reason=file" "a folder"
line "process event=refused app=environment reason=file" "a file that may not be executed"
line "process event=refused app=lost reason=interpreter path=/lib/lost.so" "an interpreter that there is not"
line "process event=refused app=circle reason=broken" "scripts that run each other"
for smp in 1 4 16; do
	boot smp=$smp timeout=200 "initrd=$initrd" -- -- /test/threads.static
	status_is 0 "$smp CPUs: threads and futexes"
	guest_tap
done
boot smp=8 timeout=200 "initrd=$initrd" -- -- /test/threads.dynamic 1023 refused
status_is 0 "a process has 1,024 threads and no more"
guest_tap
boot smp=8 mem=2G timeout=200 "initrd=$initrd" -- -- /test/threads.static 1022 '&' \
	/test/threads.static 1022 '&' /test/threads.static 1022 '&' /test/threads.static 1020
status_is 0 "four processes have 4,090 threads, with the kernel's nearly all that there are"
boot machine=openpower720 timeout=300 "initrd=$initrd" -- -- /test/threads.dynamic
status_is 0 "simulated machine: threads and futexes"
guest_tap
if [ "$arch" = aarch64 ]; then
	for cpu in max neoverse-n1 cortex-a57; do
		boot smp=1 cpu=$cpu timeout=120 "initrd=$initrd" -- -- /test/features.static
		status_is 0 "$cpu: the features named are those that there are"
		guest_tap
	done
fi
done_testing
