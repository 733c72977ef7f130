#!/bin/sh
# Builds the EFI application: the loader with the kernel inside.
#   tools/efi.sh ISA KERNEL_ELF OUT.EFI       intermediate files go next to OUT.EFI
set -eu
isa=$1 kernel=$2 out=$3
case $isa in
x86_64) flags="-mno-red-zone -DGNU_EFI_USE_MS_ABI -maccumulate-outgoing-args" ;;
*) echo "efi: error: no UEFI loader for ISA '$isa' (x86_64)" >&2; exit 1 ;;
esac
lib=/usr/lib
[ -f "$lib/crt0-efi-$isa.o" ] || { echo "efi: error: $lib/crt0-efi-$isa.o is missing (package gnu-efi)" >&2; exit 1; }
work=${out%.*}.efi.d
mkdir -p "$work"
objcopy --strip-debug "$kernel" "$work/kernel.elf"
printf '.section .rodata\n.balign 16\n.globl kernel_file, kernel_file_end\nkernel_file:\n.incbin "%s"\nkernel_file_end:\n.section .note.GNU-stack,"",@progbits\n' \
	"$work/kernel.elf" | gcc -x assembler -c - -o "$work/kernel_file.o"
objects=$work/kernel_file.o
for source in efi efi_cmdline "efi_$isa" boot_info; do
	gcc -std=gnu11 -O2 -g -I. -Ikernel/boot -I/usr/include/efi -I"/usr/include/efi/$isa" -Wall -Wextra -Werror -ffreestanding \
		-fpic -fshort-wchar -fno-stack-protector -fcf-protection=none -fno-strict-aliasing $flags \
		-c "kernel/boot/$source.c" -o "$work/$source.o"
	objects="$objects $work/$source.o"
done
ld -nostdlib -shared -Bsymbolic -znocombreloc -z noexecstack --no-undefined --no-warn-rwx-segments -T "$lib/elf_${isa}_efi.lds" \
	"$lib/crt0-efi-$isa.o" $objects -L"$lib" -lefi -lgnuefi -o "$work/loader.so"
objcopy -j .text -j .sdata -j .data -j .dynamic -j .dynsym -j '.rel*' -j .rela -j .reloc \
	--target="efi-app-$isa" --subsystem=10 "$work/loader.so" "$out"
