#!/bin/sh
# Starts from a disk image under UEFI firmware; arguments from the file on it or from load options.
. "${0%/*}/lib.sh"

loader=${B:-build}/$arch/vigil-test.efi
disk=$work/disk.img

# BEGINNING and a word of x, 4095 characters in all.
longest() { # BEGINNING
	printf '%s%sEND' "$1" "$(head -c $((4092 - ${#1})) /dev/zero | tr '\0' x)"
}

# The firmware goes on for ever after a refusal: QEMU is ended when that is said.
boots_until() { # REGEX, arguments of tools/qemu.sh
	said=$1 booted=" until $1"
	shift
	tools/qemu.sh "$@" out="$work" timeout=180 -- -pidfile "$work/pid" </dev/null >"$console" \
		2>"$work/stderr" &
	while kill -0 $! 2>/dev/null && ! grep -Eaq "$said" "$console"; do sleep 0.2; done
	sleep 0.5
	kill "$(cat "$work/pid")" 2>/dev/null
	wait $! || :
}

# Without a file there are no arguments; with another there is an initrd.
head -c 17000001 /dev/zero >"$work/initrd"
tools/espimage.sh "$loader" "$disk" '' "$work/initrd"
boot disk="$disk"
line "boot initrd=0x.* bytes=17000001" "a file vigil.tar is the initrd, to the last byte"
status_is 0 "1 CPU: the firmware starts the image"
line "vigil event=start by=uefi" "... and the kernel knows"
line "boot event=idle reason=no-application" "... and that there are no arguments"

# One character more than the longest arguments, in a file; then the firmware turns to its shell,
# which runs startup.nsh: load options that are too long as well, and those that are not, quotation
# among them.
long_line 4096 >"$work/long"
printf '\r\n' >>"$work/long"
mcopy -o -i "$disk" "$work/long" ::/vigil.txt
start='fs0:\EFI\BOOT\BOOTX64.EFI'
[ "$arch" = x86_64 ] || start='fs0:\EFI\BOOT\BOOTAA64.EFI'
printf '%s %s\r\n' "$start" "$(long_line 4096)" "$start" \
	"$(longest "cpus=2 -- hello status=5 \"one two\" 'three four' ")" |
	mcopy -i "$disk" - ::/startup.nsh
boot disk="$disk" smp=4 timeout=100
says "vigil: event=refused reason=too-long from=.vigil.txt characters=4096 limit=4095" \
	"a file that is too long is refused by the loader"
says "vigil: event=refused reason=too-long from=options characters=4096 limit=4095" \
	"load options that are too long are refused, with the limit"
status_is 5 "the shell's load options are the arguments"
line "hello cpus=2" "... all of them"
greets 4 '\[status=5\] \[one two\] \[three four\] \[x+END\]' \
	"... with quotation, and 4095 characters to the last"

# Eight CPUs of two chips, two cores each, two threads each, as CPUID or the PPTT says; QEMU has
# leaves of hardware threads for processors of Intel only.
of_two_chips() { # WHAT STATUS
	status_is $2 "$1: the firmware starts the image"
	line "cpus count=8 chips=2 cores_per_chip=2 threads_per_core=2" "$1: their places are known"
	says '^  chip 0  \| 0 1  \| 2 3$' "$1: ... which is on the first chip"
	says '^  chip 1  \| 4 5  \| 6 7$' "$1: ... and on the second"
	line "hello cpus=8" "$1: and all of them run"
}
model=
[ "$arch" = aarch64 ] || model=cpu=max,vendor=GenuineIntel
tools/espimage.sh "$loader" "$disk" 'console=framebuffer -- hello'
boot disk="$disk" smp=8,sockets=2,cores=2,threads=2 $model
of_two_chips "two sockets" 0
line "console event=missing output=framebuffer" \
	"without a display the serial port is used, and that is said"

# The longest arguments in a file, with an end of line.
long_line 4095 >"$work/long"
printf '\r\n' >>"$work/long"
mcopy -o -i "$disk" "$work/long" ::/vigil.txt
boot disk="$disk" smp=8,sockets=1,cores=8,threads=1 $model
line "cpus count=8 chips=1 cores_per_chip=8 threads_per_core=1" \
	"one socket: and otherwise they are others"
status_is 5 "a file of 4095 characters is taken"
greets 2 "\[status=5\] \[x+END\]" "... to the last"

# What only machines of this architecture offer; the longest arguments by QEMU's firmware go with
# some of it.
longest_taken() {
	greets 2 "\[status=5\] \[x+END\]" "... and 4095 characters of arguments are taken, to the last"
}
if [ "$arch" = aarch64 ]; then
	boot efi="$loader" smp=8,sockets=2,clusters=2,cores=1,threads=2 -- "$(long_line 4095)"
	of_two_chips "no disk, clusters within a socket" 5
	line "vigil event=start by=uefi" "... and the kernel knows"
	longest_taken
	boots_until 'vigil: event=refused.*limit=' efi="$loader" append="$(long_line 4500)"
	says "vigil: event=refused reason=too-long from=options characters=4500 limit=4095" \
		"... more are refused, with the limit"
	boot efi="$loader" smp=8,sockets=2,cores=2,threads=2 board=acpi=off -- "$(long_line 4095)"
	of_two_chips "a device tree's sockets" 5
	longest_taken
	boot efi="${B:-build}/$arch/vigil.efi" smp=8 gic=2 cpu=cortex-a72 mem=128M board=virtualization=on -- -- hello
	status_is 0 "GICv2, 128 MB, started at EL2"
	line "irq controller=GICv2" "... as ACPI says"
	line "hello cpus=8" "... and all CPUs run"
	boot efi="$loader" smp=64 cpu=neoverse-n1 mem=8G timeout=300 -- -- hello
	status_is 0 "64 CPUs, 8 GB"
	line "memory mb=7000..8999" "... all of it"
	line "hello cpus=64" "... and all CPUs run"
fi
done_testing
