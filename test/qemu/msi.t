#!/bin/sh
# Message interrupts of devices, by whatever delivers them: local APIC, ITS, GICv2m.
. "${0%/*}/lib.sh"
use vigil-suites
efi=${B:-build}/$arch/vigil-suites.efi

# messages BY WHAT qemu.sh's arguments: the suite on that machine
messages() {
	by=$1 what=$2
	shift 2
	boot "$@" timeout=120 -- -- msi
	line "msi event=ready by=$by messages=1.." "$what: $by delivers them"
	status_is 0 "$what: the suite ends"
	guest_tap
}

two=devices=edu+e1000e,romfile=
case $arch in
x86_64)
	messages local-APIC "one CPU" smp=1 $two
	messages local-APIC "x2APIC" smp=4 $two
	messages local-APIC "xAPIC" smp=4 cpu=max,-x2apic $two
	messages local-APIC "UEFI" efi="$efi" smp=2 $two
	# APIC ids 0, 255, 256: a message has eight bits for them, and all ones means all CPUs.
	far=+max-x86_64-cpu,socket-id=0,core-id=255,thread-id=0
	far=$far+max-x86_64-cpu,socket-id=1,core-id=0,thread-id=0
	boot smp=1 board=smp.sockets=2,smp.cores=256,smp.maxcpus=512 \
		devices=intel-iommu,intremap=on,eim=on$far -- -- msi 9
	status_is 0 "CPUs with large ids: the suite ends"
	line "# unreachable=2" "... and two of three are refused"
	guest_ok 9 "... by name, and nothing changes"
	;;
aarch64)
	behind=devices=pcie-root-port,id=rp+e1000e,bus=rp,romfile=+edu
	messages ITS "GICv3, one CPU" smp=1 $two
	messages ITS "GICv3" smp=8 $two
	messages GICv2m "GICv2" gic=2 smp=8 $two
	messages ITS "ACPI, a bridge" efi="$efi" smp=4 $behind
	no_line "its event=unmapped" "the IORT says which devices there are"
	messages ITS "ACPI, an SMMU between" efi="$efi" smp=2 board=iommu=smmuv3 $behind
	boot board=its=off -- -- arch 1
	line "msi event=none" "without ITS and GICv2m: none"
	status_is 0 "... and all else works"
	;;
esac
done_testing
