#!/bin/sh
# A disk's contents mapped into a process: read when touched, again after having left memory,
# private where written. Mappings that change while they are used.
. "${0%/*}/lib.sh"
image=$work/image
perl -e 'print pack("V*", $_ * 1024 .. $_ * 1024 + 1023) for 0 .. 999' >"$image"

boot smp=2 drive="$image,readonly=on" timeout=120 -- "-- mapped"
status_is 0 "memory is ample: the program ends"
guest_tap
boot smp=2 drive="$image,readonly=on" mem=128M timeout=200 -- \
	"disk.ram=16M swap=ram mem.process=1M -- mapped other=ram & mapped other=ram"
line "exit app=mapped status=0" "two processes, each four times as large as it may be: they end"
says_not "^not ok" "... and all is right"
no_line "exit app=mapped status=1.." "... in both"
boot machine=openpower720 plugin=disk="$image" timeout=200 -- "-- mapped disk=model"
status_is 0 "the simulated machine's disk: the program ends"
guest_tap
boot smp=2 drive="$image,readonly=on" timeout=120 -- "disk.fail_reads=300 -- mapped ; hello"
line "process event=ended reason=io app=mapped page=vda[+].*" \
	"a page that cannot be read ends the process"
line "exit app=hello status=0" "... and the next one runs"
for smp in 1 4; do
	boot smp=$smp mem=256M timeout=200 -- "-- remaps"
	status_is 0 "$smp CPUs: mappings change while they are used"
	guest_tap
done
boot smp=2 mem=128M timeout=200 -- "disk.ram=16M swap=ram mem.process=300K -- remaps"
status_is 0 "... and in less memory than they take"
guest_tap
r=0
perl -e 'print pack("V*", $_ * 1024 .. $_ * 1024 + 1023) for 0 .. 999' | cmp -s - "$image" || r=1
result $r "no disk has changed"
done_testing
