#!/bin/sh
# FIFOs, pseudo-terminals, what processes set of others, single calls, figures of /proc: the same as
# under Linux.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
for t in fifos terminals sessions others calls figures; do
	"$compiler" -O1 -static -I. -o "$work/$t" "test/linux/$t.c"
	if [ "$(uname -m)" = "$arch" ]; then
		r=0; timeout 60 "$work/$t" >"$work/linux.txt" 2>&1 || r=1
		case $t in others | calls | figures) # of others only root sets all
			[ "$(id -u)" -eq 0 ] || r=0 ;;
		esac
		result $r "$t finds the same under Linux"
	fi
done
tar -C "$work" -cf "$work/initrd.tar" fifos terminals sessions others calls figures
initrd=initrd=$work/initrd.tar

for t in fifos terminals sessions others calls figures; do
	boot smp=2 timeout=120 "$initrd" -- -- /$t
	status_is 0 "$t"
	guest_tap
done
no_line panic "the kernel did not panic"
done_testing
