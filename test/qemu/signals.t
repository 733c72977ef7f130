#!/bin/sh
# Signals: an unmodified program of Linux's tests what it gets; others end by a signal.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/signals" test/linux/signals.c
# A dynamic one, too: unwinders find call frame information of the vDSO in such a one only.
"$compiler" -O1 -pthread -Wl,--dynamic-linker=/lib/ld.so -o "$work/dynamic" test/linux/signals.c
mkdir "$work/lib"
case $arch in x86_64) loader=ld-linux-x86-64.so.2 ;; *) loader=ld-linux-aarch64.so.1 ;; esac
for name in $loader libc.so.6 libgcc_s.so.1; do
	cp -L "$("$compiler" -print-file-name="$name")" "$work/lib/" || skip_all "no $name for $arch"
done
mv "$work/lib/$loader" "$work/lib/ld.so"
tar -C "$work" -cf "$work/initrd.tar" signals dynamic lib
initrd=initrd=$work/initrd.tar

boot smp=2 timeout=60 "$initrd" -- -- /signals
status_is 0 "handlers, masks, stacks, faults, calls that are made again"
guest_tap
# Behind another application its group is not 1.
boot smp=2 timeout=60 "$initrd" -- -- 'hello ; /dynamic'
status_is 0 "all of that in a dynamic program"
guest_tap

boot smp=1 timeout=60 "$initrd" -- -- '/signals term ; /signals abort ; /signals segv ; /signals kill ; /signals frame ; /signals state ; /signals rich ; hello'
line "process event=ended reason=signal signal=SIGTERM" "a program that a signal ends is named"
line "exit app=/signals status=143" "... and its status is 128 and the signal's number"
line "exit app=/signals status=134" "... that of abort, too"
line "process event=ended reason=fault kind=memory in=null app=signals" "a fault without a handler is described"
line "exit app=/signals status=137" "... and of SIGKILL"
r=0; [ "$(lines "exit app=/signals status=139" | wc -l)" -eq 3 ] || r=1
result $r "a frame that must not be returned to ends the program: a bad address, bad FP state"
line "exit app=/signals status=3" "rights that a frame asks for are not given"
line "hello arguments=0" "the next program runs"
no_line panic "the kernel did not panic"
done_testing
