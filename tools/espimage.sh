#!/bin/sh
# Makes a FAT image that UEFI firmware boots by itself.
#
#   tools/espimage.sh LOADER.efi OUT.img ['boot arguments' [INITRD]]
#
# The arguments go into \vigil.txt, the initrd into \vigil.tar.
set -eu
refuse() { echo "espimage: argument=$*" >&2; exit 1; }
[ $# -ge 2 ] ||
	refuse "loader reason=missing: usage: espimage.sh LOADER.efi OUT.img ['boot arguments' [INITRD]]"
[ -r "$1" ] || refuse "loader reason=unreadable: $1 cannot be read"
loader=$1 image=$2 arguments=${3:-} initrd=${4:-}
[ -z "$initrd" ] || [ -r "$initrd" ] || refuse "initrd reason=unreadable: $initrd cannot be read"

# The firmware looks for a name by its ISA. The PE header, found at 0x3c, tells the loader's.
pe=$(od -An -tu4 -j60 -N4 "$loader" | tr -d ' ')
machine=$(od -An -tx2 -j$((pe + 4)) -N2 "$loader" | tr -d ' ')
case $machine in
8664) name=BOOTX64.EFI ;;
aa64) name=BOOTAA64.EFI ;;
*) refuse "loader reason=value: $loader is no EFI application for a known ISA (machine $machine)" ;;
esac

kib=$((($(stat -c %s "$loader") + ${initrd:+$(stat -c %s "$initrd")} + 0) / 1024 + 4096))
rm -f "$image"
truncate -s "${kib}K" "$image"
mformat -i "$image" -v VIGIL -T $((kib * 2)) -h 16 -s 63 ::
mmd -i "$image" ::/EFI ::/EFI/BOOT
mcopy -i "$image" "$loader" "::/EFI/BOOT/$name"
[ -z "$arguments" ] || printf '%s\n' "$arguments" | mcopy -i "$image" - ::/vigil.txt
[ -z "$initrd" ] || mcopy -i "$image" "$initrd" ::/vigil.tar
