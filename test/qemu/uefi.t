#!/bin/sh
# Starts from a disk image under UEFI firmware; arguments from the file on it or from load options.
. "${0%/*}/lib.sh"

loader=${B:-build}/$arch/vigil-test.efi
disk=$work/disk.img

for smp in 1 8; do
	tools/espimage.sh "$loader" "$disk" '-- hello'
	boot disk="$disk" smp=$smp
	status_is 0 "$smp CPUs: the firmware starts the image"
	says "started by uefi" "$smp CPUs: and the kernel knows"
	says "Hello from process [0-9]+, on $smp CPU" "$smp CPUs: and all of them run"
done

tools/espimage.sh "$loader" "$disk" 'no.such=thing -- hello'
boot disk="$disk"
says "no.such" "a wrong argument in the file is named"
status_is 2 "and stops the boot"

tools/espimage.sh "$loader" "$disk"
boot disk="$disk"
says "no application given" "without a file there are no arguments"

head -c 3000 /dev/zero | tr '\0' a >"$work/long"
mcopy -o -i "$disk" "$work/long" ::/vigil.txt
refusal='vigil.txt: longer than 2047 characters'
boot disk="$disk" timeout=20 # the firmware goes on for ever; on a busy host it needs longer to come that far
grep -Fq "$refusal" "$console" || boot disk="$disk" timeout=120
says "$refusal" "a file that is too long is refused by the loader"

# Without \EFI\BOOT the firmware falls back to its shell, which runs startup.nsh.
mdeltree -i "$disk" ::/EFI ::/vigil.txt
mcopy -i "$disk" "$loader" ::/vigil.efi
printf 'fs0:\\vigil.efi cpus=2 -- hello status=5\r\n' | mcopy -i "$disk" - ::/startup.nsh
boot disk="$disk" smp=4 timeout=60
status_is 5 "the shell's load options are the arguments"
says "on 2 CPU" "all of them"

# Eight CPUs of two chips, two cores each, two threads each, as CPUID or the PPTT says; QEMU has leaves of hardware threads
# for processors of Intel only.
of_two_chips() { # WHAT
	status_is 0 "$1: the firmware starts the image"
	says '^cpus: 8 on 2 chips of 2 cores of 2 threads$' "$1: their places are known"
	says '^  chip 0  \| 0 1  \| 2 3$' "$1: ... which is on the first chip"
	says '^  chip 1  \| 4 5  \| 6 7$' "$1: ... and on the second"
}
model=
[ "$arch" = aarch64 ] || model=cpu=max,vendor=GenuineIntel
tools/espimage.sh "$loader" "$disk" '-- hello'
boot disk="$disk" smp=8,sockets=2,cores=2,threads=2 $model
of_two_chips "two sockets"
boot disk="$disk" smp=8,sockets=1,cores=8,threads=1 $model
says '^cpus: 8 on 1 chips of 8 cores of 1 threads$' "one socket: and otherwise they are others"

# What only machines of this architecture offer.
if [ "$arch" = aarch64 ]; then
	boot efi="$loader" smp=4 -- -- hello status=5
	status_is 5 "the firmware starts the loader without a disk"
	says "started by uefi" "... and the kernel knows"
	boot efi="$loader" smp=4 board=virtualization=on -- -- hello status=5
	status_is 5 "started at EL2"
	boot efi="$loader" smp=8 gic=2 cpu=cortex-a72 mem=128M -- -- hello
	status_is 0 "GICv2, 128 MB"
	says "^irq: GICv2\$" "... as ACPI says"
	says "on 8 CPU" "... and all CPUs run"
	boot efi="$loader" smp=64 cpu=neoverse-n1 mem=8G timeout=300 -- -- hello
	status_is 0 "64 CPUs, 8 GB"
	says "^memory: [78][0-9]{3} MB" "... all of it"
	says "on 64 CPU" "... and all CPUs run"
	boot efi="$loader" smp=8,sockets=2,clusters=2,cores=1,threads=2 -- -- hello
	of_two_chips "clusters within a socket"
	boot efi="$loader" smp=8,sockets=2,cores=2,threads=2 board=acpi=off -- -- hello
	of_two_chips "a device tree's sockets"
	boot efi="$loader" smp=4 board=acpi=off -- -- hello status=5
	status_is 5 "with a device tree in place of ACPI"
	says "on 4 CPU" "... whose CPUs all run"
fi
done_testing
