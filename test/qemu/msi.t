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
	says "^msi: by $by, [0-9]+ messages\$" "$what: $by delivers them"
	status_is 0 "$what: the suite ends"
	guest_tap
}

two=devices=edu+e1000e,romfile=
case $arch in
x86_64)
	messages "local APIC" "one CPU" smp=1 $two
	messages "local APIC" "x2APIC" smp=4 $two
	messages "local APIC" "xAPIC" smp=4 cpu=max,-x2apic $two
	;;
aarch64)
	behind=devices=pcie-root-port,id=rp+e1000e,bus=rp,romfile=+edu
	messages ITS "GICv3, one CPU" smp=1 $two
	messages ITS "GICv3" smp=8 $two
	messages GICv2m "GICv2" gic=2 smp=8 $two
	messages ITS "ACPI, a bridge" efi="$efi" smp=4 $behind
	says_not "^its: .* does not say" "the IORT says which devices there are"
	messages ITS "ACPI, an SMMU between" efi="$efi" smp=2 board=iommu=smmuv3 $behind
	boot board=its=off -- -- arch 1
	says "^msi: none: " "without ITS and GICv2m: nobody"
	status_is 0 "... and all else works"
	;;
esac
done_testing
