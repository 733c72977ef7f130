#!/bin/sh
# Processes: an unmodified program of Linux's forks, runs other programs, and waits for them.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
for program in processes procstat; do
	"$compiler" -O1 -static -pthread -o "$work/$program" "test/linux/$program.c"
	[ "$(uname -m)" = "$arch" ] || continue
	r=0; (cd "$work" && timeout 60 "./$program") >"$work/linux.txt" 2>&1 || r=1
	result $r "$program finds the same under Linux"
done
tar -C "$work" -cf "$work/initrd.tar" processes procstat
initrd=initrd=$work/initrd.tar

for smp in 1 4; do
	boot smp=$smp timeout=120 "$initrd" -- -- /processes
	status_is 0 "children, waits, programs, groups and orphans, on $smp CPUs"
	guest_tap
	boot smp=$smp timeout=120 "$initrd" -- -- /procstat
	status_is 0 "what /proc says of them"
	guest_tap
done
no_line panic "the kernel did not panic"
done_testing
