#!/bin/sh
# Builds the EFI application: the loader with the kernel inside.
#
#   tools/efi.sh ISA CC GNU_EFI KERNEL_ELF OUT.EFI
#
# GNU_EFI is where tools/foreign.sh unpacked the package of that name. Intermediate files go next to
# OUT.EFI.
set -eu
isa=$1 cc=$2 gnu_efi=$3 kernel=$4 out=$5
lib=$gnu_efi/usr/lib include=$gnu_efi/usr/include/efi
# The linker knows x86-64's file format. On AArch64 the start-up object brings the headers itself,
# and the linker is told the subsystem.
case $isa in
x86_64)
	flags="-mno-red-zone -DGNU_EFI_USE_MS_ABI -maccumulate-outgoing-args -fcf-protection=none"
	format="--target=efi-app-x86_64 --subsystem=10" ;;
aarch64)
	flags="-mstrict-align -mgeneral-regs-only"
	format="-O binary" ;;
*) echo "efi: error: no UEFI loader for ISA '$isa' (x86_64, aarch64)" >&2; exit 1 ;;
esac
[ -f "$lib/crt0-efi-$isa.o" ] || \
	{ echo "efi: error: $lib/crt0-efi-$isa.o is missing (package gnu-efi)" >&2; exit 1; }
prefix=${cc%gcc}
work=${out%.*}.efi.d
mkdir -p "$work"
"${prefix}objcopy" --strip-debug "$kernel" "$work/kernel.elf"
printf \
	'.section .rodata\n.balign 16\n.globl kernel_file, kernel_file_end\nkernel_file:\n.incbin "%s"\nkernel_file_end:\n.section .note.GNU-stack,"",%%progbits\n' \
	"$work/kernel.elf" | "$cc" -x assembler -c - -o "$work/kernel_file.o"
objects=$work/kernel_file.o
for source in boot/efi boot/efi_cmdline boot/efi_file boot/efi_initrd "boot/efi_$isa" boot/boot_info \
	boot/gop lib/date; do
	"$cc" -std=gnu11 -O2 -g -I. -Ikernel/boot -I"$include" -I"$include/$isa" -Wall -Wextra -Werror \
		-ffreestanding \
		-fpic -fshort-wchar -fno-stack-protector -fno-strict-aliasing $flags -c "kernel/$source.c" \
		-o "$work/${source#*/}.o"
	objects="$objects $work/${source#*/}.o"
done
"${prefix}ld" -nostdlib -shared -Bsymbolic -znocombreloc -z noexecstack --no-undefined \
	--no-warn-rwx-segments \
	--defsym=EFI_SUBSYSTEM=10 -T "$lib/elf_${isa}_efi.lds" "$lib/crt0-efi-$isa.o" $objects -L"$lib" \
	-lefi \
	-lgnuefi -o "$work/loader.so"
"${prefix}objcopy" -j .text -j .sdata -j .data -j .dynamic -j .dynsym -j '.rel*' -j .rela \
	-j .reloc \
	$format "$work/loader.so" "$out"
