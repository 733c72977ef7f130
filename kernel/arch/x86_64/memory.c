/*
 * The processor's part of address spaces. The upper half of every root is the kernel's. Kernel
 * pages are global; process-context identifiers are not used, so loading CR3 flushes a space's
 * pages.
 */
#include "internal.h"
#include "x86.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/memory.h"

#define TOP_SPAN    ((uint64_t)1 << 39)
#define STACKS_BASE (DEVICE_BASE + TOP_SPAN) /* stacks that the processor switches to */
/* for more pages, flushing everything is cheaper */
#define FLUSH_PAGES_MAX 32

static struct pt *kernel_pt;
static vaddr_t stack_next = STACKS_BASE;

static void flush_everything_global(void)
{
    uint64_t cr4 = read_cr4();

    write_cr4(cr4 & ~CR4_PGE);
    write_cr4(cr4 | CR4_PGE);
}

void memory_load_kernel(struct pt *kernel)
{
    kernel_pt = kernel;
    if (pt_prepare(kernel, STACKS_BASE, PROT_R | PROT_W))
        panic("memory: no memory for the processors' stacks");
    write_cr3(kernel->root);
    flush_everything_global(); /* including the boot tables' pages */
}

void memory_root_init(uint64_t *root, const uint64_t *kernel_root)
{
    memcpy(root + PT_ENTRIES / 2, kernel_root + PT_ENTRIES / 2, PT_ENTRIES / 2 * sizeof(*root));
}

vaddr_t memory_stack(uint64_t size)
{
    vaddr_t base = stack_next + PAGE_SIZE;

    for (vaddr_t va = base; va < base + size; va += PAGE_SIZE) {
        paddr_t frame;
        if (kernel_pt->frames->alloc(kernel_pt->frames, &frame))
            return 0;
        if (pt_map(kernel_pt, va, frame, PAGE_SIZE, PROT_R | PROT_W))
            return 0;
    }
    stack_next = base + size;
    return stack_next;
}

void arch_space_switch(struct arch_space *space)
{
    write_cr3(space ? space->pt.root : kernel_pt->root);
}

void arch_tlb_flush(struct arch_space *space, vaddr_t va, size_t n)
{
    if (n && n <= FLUSH_PAGES_MAX) {
        for (size_t i = 0; i < n; i++)
            invlpg(va + i * PAGE_SIZE);
    } else if (space) {
        write_cr3(read_cr3());
    } else {
        flush_everything_global();
    }
}

/* Stores reach the instruction caches automatically; IRET and SYSRET synchronise (SDM vol. 3A,
 * 11.6). */
void arch_code_written(UNUSED const void *frame)
{
}

bool arch_tlb_flush_everywhere(UNUSED struct arch_space *space, UNUSED vaddr_t va, UNUSED size_t n)
{
    return false;
}
