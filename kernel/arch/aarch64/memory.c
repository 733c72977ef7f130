/*
 * Address spaces, the part of the processor (Arm ARM DDI 0487, D8).  TTBR1_EL1 is the kernel's root for good, TTBR0_EL1
 * the space's.  All spaces have address-space identifier 0, so changing TTBR0 forgets a space's pages.  Invalidation is
 * for this CPU only; who else must forget is mm's business.
 */
#include "console.h"
#include "cpu_init.h"
#include "start.h"
#include "sysreg.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/memory.h"

#define FLUSH_PAGES_MAX 32 /* beyond it, forgetting everything is cheaper */
#define TLBI_VA         ((UINT64_C(1) << 44) - 1)

/* Where there is no space. */
static uint64_t empty_root[PT_ENTRIES] ALIGNED(PAGE_SIZE);

static void wait_for_tlb(void)
{
    __asm__ volatile("dsb nsh\n\tisb" : : : "memory");
}

void memory_load_kernel(struct pt *kernel)
{
    console_map(kernel);
    sysreg_write(ttbr0_el1, start_image_pa(empty_root));
    sysreg_write(ttbr1_el1, kernel->root);
    isb();
    __asm__ volatile("tlbi vmalle1" : : : "memory");
    wait_for_tlb();
    cpu_protect();
}

/* The halves have roots of their own. */
void memory_root_init(UNUSED uint64_t *root, UNUSED const uint64_t *kernel_root)
{
}

void arch_space_switch(struct arch_space *space)
{
    /* By way of the empty root, or what is walked in between would be of both. */
    sysreg_write(ttbr0_el1, start_image_pa(empty_root));
    isb();
    __asm__ volatile("tlbi aside1, xzr" : : : "memory");
    wait_for_tlb();
    if (!space)
        return;
    sysreg_write(ttbr0_el1, space->pt.root);
    isb();
}

void arch_tlb_flush(struct arch_space *space, vaddr_t va, size_t n)
{
    __asm__ volatile("dsb ishst" : : : "memory");
    if (n && n <= FLUSH_PAGES_MAX) {
        for (size_t i = 0; i < n; i++)
            __asm__ volatile("tlbi vaae1, %0" : : "r"(((va >> PAGE_SHIFT) + i) & TLBI_VA) : "memory");
    } else if (space) {
        __asm__ volatile("tlbi aside1, xzr" : : : "memory");
    } else {
        __asm__ volatile("tlbi vmalle1" : : : "memory");
    }
    wait_for_tlb();
}
