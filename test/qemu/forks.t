#!/bin/sh
# Forked processes share memory until one writes: with enough memory, with half of what they need,
# where the disk fails to write, with trackers and prefetching.
. "${0%/*}/lib.sh"

use vigil-test
compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/forks" test/linux/forks.c
tar -C "$work" -cf "$work/initrd.tar" forks

# forks WHAT PROCESSES QEMU'S ARGUMENTS -- BOOT ARGUMENTS -- PAGES ROUNDS
forks() {
	what=$1 processes=$2
	shift 2
	boot timeout=240 "initrd=$work/initrd.tar" "$@"
	status_is 0 "$what"
	line "RESULT app=forks forked=$processes wrong=0" "... each process has its own bytes"
	no_line panic "... nothing panics"
}
forks "one CPU" 30 smp=1 -- -- /forks 300 5
forks "four CPUs" 60 smp=4 -- -- /forks 300 10
swapping="swap=ram disk.ram=64M"
forks "half of the memory" 30 smp=4 -- "$swapping mem.process=2M -- /forks 500 5"
forks "half of it, writes that fail" 30 smp=4 -- \
	"$swapping disk.fail_writes=50 mem.process=2M mem.policy=lirs -- /forks 500 5"
forks "one pool for all" 30 smp=4 -- "$swapping mem.user=4M mem.pool=global mem.policy=arc --" \
	"/forks 500 5"
forks "the page access buffer, prefetching" 12 machine=openpower720 -- \
	"$swapping mem.process=1500K mem.policy=chooser mem.prefetch=ppg -- /forks 300 2"
done_testing
