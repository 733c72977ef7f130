#!/bin/sh
# A virtio console on PCI: bytes arrive as they were sent; a device that cannot be used is named and
# left alone.
. "${0%/*}/lib.sh"
use vigil-suites
efi=${B:-build}/$arch/vigil-suites.efi
sent=$work/sent
perl -e 'print chr(97 + $_ % 26) x 4096 for 0 .. 199' >"$work/expected"

port() { # WHAT qemu.sh's arguments
	what=$1
	shift
	rm -f "$sent"
	boot "$@" telemetry="$sent" timeout=120 -- -- virtio
	status_is 0 "$what: the suite ends"
	guest_tap
	r=0
	cmp -s "$sent" "$work/expected" || r=1
	result $r "$what: every page has arrived, in order"
}
unusable() { # WHAT REASON qemu.sh's arguments
	what=$1 reason=$2
	shift 2
	boot "$@" timeout=60 -- -- virtio
	line "virtio event=refused device=console at=[0-9a-f:.]+ reason=$reason" "$what: a line says so"
	line "# result=-5" "... and it is not used"
}

port "direct start, one CPU" smp=1
port "direct start" smp=4
port "UEFI" efi="$efi" smp=2
[ $arch != aarch64 ] || port "GICv2m" gic=2 smp=2

# A console of one port has no names.
rm -f "$sent"
more="-chardev file,id=one,path=$sent"
boot smp=1 devices=virtio-serial-pci,max_ports=1+virtconsole,chardev=one timeout=60 -- -- virtio
more=
status_is 0 "one port without a name: the suite ends"
r=0
cmp -s "$sent" "$work/expected" || r=1
result $r "... and the bytes arrive there"
boot smp=1 timeout=60 -- -- virtio
line "# result=-19" "no device: none is found"
unusable "no modern interface" interface smp=1 \
	devices=virtio-serial-pci,disable-modern=on,disable-legacy=off
unusable "no message interrupts" interrupts smp=1 devices=virtio-serial-pci,vectors=0
done_testing
