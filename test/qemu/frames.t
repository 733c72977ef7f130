#!/bin/sh
# Descriptions of frames, by which chains of samples are made, of a program of Linux: a child's,
# large ones, and many.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -static -Wl,--eh-frame-hdr \
	-o "$work/frames" test/linux/frames.c
tar -C "$work" -cf "$work/initrd.tar" frames
initrd=initrd=$work/initrd.tar

for smp in 1 4; do
	boot smp=$smp mem=1G timeout=120 "$initrd" -- -- /frames
	status_is 0 "chains by descriptions, on $smp CPUs"
	guest_tap
done
no_line panic "the kernel did not panic"
done_testing
