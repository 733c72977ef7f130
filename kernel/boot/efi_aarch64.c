/*
 * The transition from the firmware's address space to the kernel's, on AArch64 (Arm ARM DDI 0487;
 * UEFI 2.10, 2.3.6). The firmware maps memory at its physical address, with caches on, at EL2 or
 * EL1. The kernel's entry expects the state of a CPU that PSCI starts: MMU and data cache off,
 * interrupts masked, the same exception level, and the kernel's memory written back from the
 * caches.
 */
#include "efi_arch.h"

#define EM_AARCH64 183
#define SCTLR_M    0x1 /* MMU */
#define SCTLR_C    0x4 /* data cache */
#define EL2        (2 << 2)

const unsigned short efi_arch_elf_machine = EM_AARCH64;
const bool efi_arch_reaches_all = true;

EFI_STATUS efi_arch_prepare(UNUSED struct boot_info *info)
{
    return EFI_SUCCESS;
}

/* Returns the size of the smallest data cache line in bytes (D17.2.34, CTR_EL0.DminLine: log2 of
 * its words). */
static uint64_t line_bytes(void)
{
    uint64_t ctr;

    __asm__("mrs %0, ctr_el0" : "=r"(ctr));
    return (uint64_t)4 << (ctr >> 16 & 15);
}

/* Cleans and invalidates the data caches for a range, so that it can be read with the caches
 * off. */
static void clean(uint64_t base, uint64_t size)
{
    uint64_t line = line_bytes();

    for (uint64_t at = ALIGN_DOWN(base, line); at < base + size; at += line)
        __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
}

/* Switches the MMU off and jumps to the kernel; uses no memory but its own instructions. */
static NORETURN void leave(uint64_t entry, const struct boot_info *info, bool el2)
{
    register uint64_t x0 __asm__("x0") = (uint64_t)info;
    register uint64_t x1 __asm__("x1") = entry;
    register uint64_t x2 __asm__("x2") = SCTLR_M | SCTLR_C;

    __asm__ volatile("cbnz %w3, 1f\n\t"
                     "mrs x3, sctlr_el1\n\t"
                     "bic x3, x3, %2\n\t"
                     "msr sctlr_el1, x3\n\t"
                     "b 2f\n"
                     "1:\tmrs x3, sctlr_el2\n\t"
                     "bic x3, x3, %2\n\t"
                     "msr sctlr_el2, x3\n"
                     "2:\tisb\n\t"
                     "br %1"
                     :
                     : "r"(x0), "r"(x1), "r"(x2), "r"(el2)
                     : "x3", "memory");
    __builtin_unreachable();
}

void efi_arch_enter(const struct efi_entry *entry, const struct boot_info *info)
{
    uint64_t level;

    __asm__ volatile("msr daifset, #15\n\t"
                     "mrs %0, currentel"
                     : "=r"(level));
    clean(info->kernel_base, info->kernel_size);
    clean((uint64_t)info, sizeof(*info));
    clean((uint64_t)leave, PAGE_SIZE);
    /* The cleaned lines reach memory, and the instruction cache is emptied, before instructions are
     * fetched from there. */
    __asm__ volatile("dsb sy\n\t"
                     "ic iallu\n\t"
                     "dsb sy\n\t"
                     "isb"
                     :
                     :
                     : "memory");
    leave(entry->pa, info, level == EL2);
}
