#!/bin/sh
# A disk's contents mapped into a process: read when touched, again after having left memory,
# private where written. Mappings that change while they are used. Disks as files of programs.
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
boot smp=2 drive="$image,readonly=on" timeout=120 -- "disk.fail_reads=50 -- mapped ; hello"
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

compiler=$arch-linux-gnu-gcc
if command -v "$compiler" >/dev/null 2>&1; then
	mkdir "$work/tree"
	"$compiler" -O1 -static -o "$work/tree/pages" test/linux/pages.c
	tar -C "$work/tree" -cf "$work/initrd.tar" .
	boot smp=2 drive="$image,readonly=on" initrd="$work/initrd.tar" timeout=120 -- \
		"mem.user=2M mem.policy=lirs -- /pages /dev/vda loop read 3 ; /pages /dev/vda points map 3"
	line "RESULT app=pages pattern=loop pages=1000 wrong=0 read=2000..3200" \
		"a disk is a file, read by a program in half the memory"
	line "RESULT app=pages pattern=points how=map wrong=0 read=1000..4000" "... and mapped"
	for how in read map; do
		boot machine=openpower720 plugin=disk="$image" initrd="$work/initrd.tar" timeout=200 -- \
			"mem.user=2M mem.policy=lru mem.epoch_ms=20 -- memstat regions=0 -- /pages /dev/model loop $how 3"
		status_is 0 "files fill memory, by $how: a program finds room"
		line "memstat of=files resident_kb=1000..2048" "... memstat shows their pages"
		line "curve pages=1000..1200 again=100..2100" "... and their curve"
		r=0
		[ "$(grep -cE ' (9[0-9]\.[0-9]|100\.0)  \|' "$console")" -ge 12 ] &&
			grep -qE ' 0\.0  \| ' "$console" || r=1
		result $r "... of a loop: all accesses miss until the whole file fits"
	done
	boot machine=openpower720 smp=2 plugin=disk="$image" initrd="$work/initrd.tar" timeout=200 -- \
		"mem.user=5M mem.goal=throughput mem.epoch_ms=20 mem.track=always -- \
		memstat regions=0 interval=40 -- /pages /dev/model loop read 20 & lu n=384"
	says 'plan=(.*,)?0:1[0-9]{3}' "memory is divided: a file that is read in a loop gets all it needs"
	boot smp=2 drive="$image" initrd="$work/initrd.tar" timeout=120 -- "-- /pages /dev/vda write read"
	line "exit app=/pages status=0" "... and is not written"
	boot smp=2 drive="$image,readonly=on" initrd="$work/initrd.tar" timeout=120 -- \
		"disk.fail_reads=5 -- /pages /dev/vda loop read 3 ; hello"
	line "exit app=/pages status=2" "a page that cannot be read is an error of read"
	line "exit app=hello status=0" "... and the next program runs"
fi
r=0
perl -e 'print pack("V*", $_ * 1024 .. $_ * 1024 + 1023) for 0 .. 999' | cmp -s - "$image" || r=1
result $r "no disk has changed"
done_testing
