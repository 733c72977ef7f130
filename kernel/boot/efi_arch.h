/* What of the UEFI loader differs between instruction sets. */
#pragma once
#include "efi_base.h"

/* ELF machine the kernel inside must have. */
extern const unsigned short efi_arch_elf_machine;
/* The kernel's entry point, as linked and where it was loaded. */
struct efi_entry {
    uint64_t va, pa;
};

/* Is the kernel entered with all memory in reach? Else all that it needs at once must lie below 4
 * GB. */
extern const bool efi_arch_reaches_all;

/* While boot services work: prepares what efi_arch_enter needs, adds the memory it takes to info.
 * kernel_base and kernel_size of info are set. Says on the console what is wrong. */
EFI_STATUS efi_arch_prepare(struct boot_info *info);
/* After boot services: on to the kernel's entry, boot_entry of kernel/arch/<isa>/boot.S, in the
 * state that it asks for. */
NORETURN void efi_arch_enter(const struct efi_entry *entry, const struct boot_info *info);
