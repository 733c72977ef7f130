#!/bin/sh
# Memory above 4 GB: more of it than fits below, and on AArch64, where boards may begin anywhere,
# nothing else.
. "${0%/*}/lib.sh"

use vigil
boot smp=2 mem=8G -- selftest=on
line "memory mb=7000..8999" "8 GB: all of it is there"
says '^selftest: check=memory result=passed .* MB at 0x[1-9a-f][0-9a-f]{8} and on' \
	"8 GB: what lies above 4 GB is used"
line "selftest check=write-xor-execute result=passed" "8 GB: and mapped as the rest is"
line "selftest check=program result=passed" "8 GB: a program runs"
use vigil-suites
boot smp=2 mem=8G timeout=200 -- -- mm
status_is 0 "8 GB: the kernel's own suite ends"
guest_tap

[ "$arch" = aarch64 ] || { done_testing; exit; }

# A machine like QEMU's, but its description names no memory below 4 GB.  What QEMU starts is five words
# that hand over to the image and the device tree that were put where there is memory.
GB=1073741824 MB=1048576
only_high() { # IMAGE-AT TREE-AT BOOTARGS
	qemu-system-aarch64 -machine virt,gic-version=3,dumpdtb="$work/high.dtb" -cpu max -smp 2 -m 11G \
		-nodefaults \
		-display none >"$work/dump" 2>&1
	fdtput -t x "$work/high.dtb" /memory@40000000 reg 1 0 2 0
	fdtput -t s "$work/high.dtb" /chosen bootargs "$3"
	perl -e 'print pack "V4Q<2", 0x58000080, 0x580000a4, 0xd61f0080, 0xd503201f, @ARGV' "$2" "$1" \
		>"$work/jump"
	booted="image at $1, tree at $2" status=0
	tools/qemu.sh kernel="$work/jump" smp=2 mem=11G timeout=120 out="$work" -- \
		-device loader,file="$kernel",addr="$1",force-raw=on -device \
		loader,file="$work/high.dtb",addr="$2",force-raw=on \
		</dev/null >"$console" 2>"$work/stderr" || status=$?
	tr -d '\r' <"$console" >"$work/plain" && mv "$work/plain" "$console"
}
use vigil
for at in $((4 * GB)) $((9 * GB + 6 * MB)); do
	only_high "$at" $((5 * GB + 4 * MB)) 'selftest=on -- hello'
	status_is 0 "memory from 4 to 12 GB only: nothing fails and the program runs"
	line "selftest about=memory kind=usable kb=8388608 ranges=1 from=0x100000000 to=0x300000000" \
		"... that is what there is"
	line "memory mb=8000..8999" "... all of it"
	line "hello cpus=2" "... on all CPUs"
	line "RESULT arch=aarch64 passed=1.. failed=0" "... as the self test says, too"
done
use vigil-suites
only_high $((4 * GB)) $((5 * GB)) 'console=serial -- mm'
status_is 0 "memory from 4 to 12 GB only: the kernel's own suite ends"
guest_tap
done_testing
