/* The parts of the UEFI loader that differ between instruction sets. */
#pragma once
#include "efi_base.h"

/* The ELF machine that the kernel image must have. */
extern const unsigned short efi_arch_elf_machine;
/* The kernel's entry point: its linked and its loaded address. */
struct efi_entry {
    uint64_t va, pa;
};

/* Whether all memory can be accessed when the kernel is entered. Otherwise everything that it needs
 * at first must be below 4 GB. */
extern const bool efi_arch_reaches_all;

/* Prepares for efi_arch_enter(), and adds the memory that it takes to `info`, which has kernel_base
 * and kernel_size. While boot services work. Prints the reason of a failure. */
EFI_STATUS efi_arch_prepare(struct boot_info *info);
/* Jumps to the kernel's entry, boot_entry of kernel/arch/<isa>/boot.S, in the state that it
 * expects. After boot services. */
NORETURN void efi_arch_enter(const struct efi_entry *entry, const struct boot_info *info);
