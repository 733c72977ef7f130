#!/bin/sh
# Files in memory that are mapped: what each process sees of them, by mappings, read and write; and
# a storm of processes that use, cut and map anew more of a file than fits into memory.
. "${0%/*}/lib.sh"

use vigil-test
compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
mkdir "$work/tree"
"$compiler" -O1 -static -o "$work/tree/mapped" test/linux/mapped.c
"$compiler" -O1 -static -o "$work/tree/mapstorm" test/linux/mapstorm.c
tar -C "$work/tree" -cf "$work/initrd.tar" .

boot smp=2 timeout=120 initrd="$work/initrd.tar" -- -- /mapped /tmp
status_is 0 "files are mapped"
line "RESULT app=mapped checks=84 held=84" "... as on Linux, each check holds"
boot smp=2 timeout=120 initrd="$work/initrd.tar" -- \
	"swap=ram disk.ram=64M mem.user=1M mem.policy=lirs -- /mapped /dev/shm"
line "RESULT app=mapped checks=84 held=84" "... also of memory with a name, in little memory"

# storm WHAT QEMU'S ARGUMENTS -- BOOT ARGUMENTS -- FILE PAGES STEPS PROCESSES KILLS
storm() {
	what=$1
	shift
	boot timeout=240 initrd="$work/initrd.tar" "$@"
	status_is 0 "$what"
	line "RESULT app=mapstorm wrong=0 bad=0" "... every page has what was last stored to it"
	no_line panic "... nothing panics"
}
swapping="swap=ram disk.ram=64M"
storm "one CPU" smp=1 -- -- /mapstorm /tmp/x 300 1000 3 5
storm "four CPUs, half of the memory" smp=4 -- \
	"$swapping mem.user=1500K mem.policy=arc -- /mapstorm /tmp/x 500 2000 5 20"
line "files event=end policy=arc page_ins=1..1000000" "... which went to the disk and came back"
storm "half of it, writes that fail" smp=4 -- \
	"$swapping disk.fail_writes=50 mem.user=1500K mem.policy=lirs --" \
	"/mapstorm /tmp/x 500 2000 5 20"
storm "prefetching, all in one pool" smp=4 -- \
	"$swapping mem.user=1500K mem.pool=global mem.prefetch=ppg -- /mapstorm /tmp/x 500 2000 5 20"
storm "the page access buffer" machine=openpower720 -- \
	"$swapping mem.user=1500K mem.policy=chooser mem.prefetch=spatial --" \
	"/mapstorm /tmp/x 300 300 4 3"
done_testing
