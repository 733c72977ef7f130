#!/bin/sh
# Starts from a disk image under UEFI firmware; arguments from the file on it or from load options.
. "${0%/*}/lib.sh"

loader=${B:-build}/$arch/vigil-test.efi
disk=$work/disk.img

# The firmware goes on for ever after a refusal: QEMU is ended when that is said.
boots_until() { # REGEX, arguments of tools/qemu.sh
	said=$1 booted=" until $1"
	shift
	tools/qemu.sh "$@" out="$work" timeout=180 -- -pidfile "$work/pid" </dev/null >"$console" 2>"$work/stderr" &
	while kill -0 $! 2>/dev/null && ! grep -Eaq "$said" "$console"; do sleep 0.2; done
	sleep 0.5
	kill "$(cat "$work/pid")" 2>/dev/null
	wait $! || :
}

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

# The longest arguments, and one character more, in a file with an end of line.
long_line 4095 >"$work/long"
printf '\r\n' >>"$work/long"
mcopy -o -i "$disk" "$work/long" ::/vigil.txt
boot disk="$disk" timeout=60
status_is 5 "a file of 4095 characters is taken"
says "with 2 arguments: \[status=5\] \[x+END\]$" "... to the last"
long_line 4096 >"$work/long"
mcopy -o -i "$disk" "$work/long" ::/vigil.txt
refusal='arguments in .vigil.txt have 4096 characters; 4095 are taken at most'
boots_until "$refusal" disk="$disk"
says "$refusal" "a file that is too long is refused by the loader"

# Without \EFI\BOOT the firmware falls back to its shell, which runs startup.nsh.
mdeltree -i "$disk" ::/EFI ::/vigil.txt
mcopy -i "$disk" "$loader" ::/vigil.efi
printf 'fs0:\\vigil.efi cpus=2 -- hello status=5\r\n' | mcopy -i "$disk" - ::/startup.nsh
boot disk="$disk" smp=4 timeout=60
status_is 5 "the shell's load options are the arguments"
says "on 2 CPU" "all of them"
long_startup() { # LENGTH
	{ printf 'fs0:\\vigil.efi '; long_line "$1"; printf '\r\n'; } | mcopy -o -i "$disk" - ::/startup.nsh
}
long_startup 4095
boot disk="$disk" timeout=60
status_is 5 "load options of 4095 characters are taken"
says "with 2 arguments: \[status=5\] \[x+END\]$" "... to the last"
long_startup 4096
boots_until 'vigil: the load options' disk="$disk"
says "vigil: the load options have 4096 characters; 4095 are taken at most" "... and longer ones refused, with the limit"
printf 'fs0:\\vigil.efi -- hello "one two" %s\r\n' "'three four'" | mcopy -o -i "$disk" - ::/startup.nsh
boot disk="$disk" timeout=60
says 'with 2 arguments: \[one two\] \[three four\]$' "quotation passes through the shell"

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
	for board in "" board=acpi=off; do
		boot efi="$loader" $board -- "$(long_line 4095)"
		status_is 5 "4095 characters by QEMU's firmware, $board"
		boots_until 'vigil: the load options' efi="$loader" $board append="$(long_line 4500)"
		says "vigil: the load options have 4500 characters; 4095 are taken at most" "... more are refused, with the limit"
	done
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
