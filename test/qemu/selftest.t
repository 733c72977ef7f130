#!/bin/sh
# The self test of the normal image: on plain QEMU, where there is no PMU, and on the simulated
# machine, where there is.
. "${0%/*}/lib.sh"
use vigil

passed() { # CHECK...
	for check; do line \
		"selftest check=$check result=passed value=0.. low=0.. high=0.. unit=[a-zA-Z]+" \
		"$check passes, with its figure and band"; done
}

case $arch in aarch64) word=midr_el1 ;; *) word=1.eax ;; esac
boot machine=openpower720 timeout=300 -- selftest=on
status_is 0 "simulated machine: nothing fails"
passed memory write-xor-execute clock-backwards timer-late cpus-answer pmu-instructions pmu-cycles \
	program stacks
line "selftest about=machine by=firmware|smbios|none" "the report says what machine it is"
line "selftest about=cpu" "... what processor"
r=0; grep -Eq '^selftest: about=cpu: [^ ]' "$console" || r=1
result $r "... by its name"
line "selftest about=cpu $word=[0-9a-f]+" "... with its feature words"
line "selftest about=cpus count=8 chips=2 cores_per_chip=2 threads_per_core=2" "... what shape"
line "selftest about=clock khz=1.. differ_ticks=0.." "... how far its clocks agree"
line "selftest about=memory kind=usable kb=1.. ranges=1.." "... what memory"
line "RESULT arch=$arch passed=9..10 failed=0 skipped=0..1" "... and ends with what became of it"
no_line "boot event=idle" "no application is missed"
line "selftest stacks=deepest used=1.. bytes=16384" "... and, at the end, how deep stacks were used"

# Times of plain QEMU are the host's, so they are not asked about here.
boot smp=4 $no_pmu -- selftest=on -- hello after
passed memory write-xor-execute clock-backwards program
line "selftest check=pmu-instructions result=skipped" "no PMU: that is said"
line "RESULT arch=$arch skipped=2..3" "... and counted"
greets 1 '\[after\]' "applications run after it"
# Not even how many CPUs take turns: each timer is measured by itself, and the best of many times is
# asked for.
boot smp=64 mem=2G $no_pmu timeout=300 -- selftest=on
passed clock-backwards timer-late cpus-answer
boot smp=1 $no_pmu -- selftest=on
line "selftest check=cpus-answer result=skipped" "one CPU has no other to answer"
passed memory clock-backwards program
boot machine=openpower720 -- selftest=on hpm.pmu=none
line "selftest check=pmu-cycles result=skipped" "counters that are switched off are skipped"

# Hardware's own counters, which QEMU has for AArch64.
if [ "$arch" = aarch64 ]; then
	boot smp=1 icount=0 cpu=cortex-a72 -- selftest=on
	status_is 0 "PMUv3: nothing fails"
	passed pmu-instructions pmu-cycles
	line "selftest about=pmu name=armv8" "the report says what counts"
	boot smp=4 cpu=cortex-a72 -- selftest=on
	line "selftest check=pmu-instructions result=skipped" "what a PMU does not count is skipped"
	passed pmu-cycles
	boot smp=1 icount=0 cpu=cortex-a72 -- selftest=on hpm.modes=user
	line "selftest check=pmu-instructions result=skipped" \
		"counters that leave out the kernel are skipped"
fi

# What UEFI adds: names of machine and firmware.
tools/espimage.sh "${B:-build}/$arch/vigil.efi" "$work/disk.img" 'selftest=on'
boot disk="$work/disk.img" smp=2 timeout=300
line "selftest about=start by=uefi" "UEFI: it is said"
says '^selftest: about=start by=uefi: [^ ]' "... and the firmware is named"
says '^selftest: about=machine by=smbios: QEMU [|] ' "... and the machine, by SMBIOS"
line "selftest about=firmware by=smbios date=[0-9]+/[0-9]+/[0-9]+" "... with the firmware's date"
says '^selftest: about=firmware [^:]*: .* [|] .' "... its maker and version"
says '^selftest: about=acpi by=[^ ]+ table=[^ ]+: .*\<APIC\>' "... and its ACPI tables"
passed memory write-xor-execute program

# What is peculiar is said without a self test, too.
case $arch in
x86_64)
	boot smp=2 -- -- hello
	line "quirk name=hypervisor by=TCGTCGTCGTCG" "quirks are said: that this is an emulator" ;;
*)
	# Firmware that describes another counter than there is.
	qemu-system-aarch64 -machine virt,gic-version=3,dumpdtb="$work/odd.dtb" -cpu max -smp 2 -m 512M \
		-nodefaults \
		-display none >"$work/dump" 2>&1
	fdtput -t i "$work/odd.dtb" /timer clock-frequency 25000000
	boot smp=2 dtb="$work/odd.dtb" -- -- hello
	line "quirk name=timer cntfrq_hz=1.. tree_hz=25000000" \
		"quirks are said: a counter described wrongly" ;;
esac
status_is 0 "... and the programs run"
done_testing
