/*
 * The processor's part of address spaces (Arm ARM DDI 0487, D8). TTBR1_EL1 is always the kernel's
 * root; its pages are global. TTBR0_EL1 is the space's root and the identifier (ASID) that tags its
 * pages, so a switch is one store and flushes nothing. The empty root has identifier 0.
 *
 * Invalidation names the space by its identifier, on this CPU or, by broadcast, on all CPUs. A CPU
 * that has translations of a space under an earlier identifier flushes its TLB before it uses
 * another one (kernel/arch/asid.h).
 */
#include "boot.h"
#include "internal.h"
#include "sysreg.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/asid.h"
#include "kernel/arch/memory.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"

/* For more pages, flushing everything is cheaper. Each broadcast is a message that all CPUs answer;
 * under an emulator every CPU must run in between. */
#define PAGES_MAX_HERE       32
#define PAGES_MAX_EVERYWHERE 1
#define TLBI_PAGE            ((UINT64_C(1) << 44) - 1)
#define ASID_SHIFT           48 /* in TTBR0_EL1 and in the operand of TLBI */

/* Field of ID_AA64MMFR0_EL1. */
#define MMFR0_ASIDBITS 4
#define ASIDBITS_16    2

_Static_assert(CPU_MAX <= ASID_CPUS_MAX, "an entry for each CPU");
_Static_assert(ARCH_SPACE_IDS_MIN >= ASID_COUNT_MIN && ARCH_SPACE_IDS_MAX <= ASID_COUNT_MAX,
               "mem.space_ids");

/* The root when there is no space. */
static uint64_t empty_root[PT_ENTRIES] ALIGNED(PAGE_SIZE);

static struct spinlock asid_lock = SPINLOCK(LOCK_ASID, "address-space identifiers");
static struct asids asids; /* asid.h says which members the lock guards */
static bool wide;          /* identifiers have 16 bits, not 8 */

static bool has_wide_asids(void)
{
    return id_field(sysreg_read(id_aa64mmfr0_el1), MMFR0_ASIDBITS) == ASIDBITS_16;
}

/* Flushes this CPU's TLB. DSB: waits for it; ISB: discards what was fetched by old entries. */
static void forget_everything(void)
{
    __asm__ volatile("tlbi vmalle1\n\tdsb nsh\n\tisb" : : : "memory");
}

static void init_asids(void)
{
    wide = has_wide_asids();
    if (wide)
        sysreg_write(tcr_el1, sysreg_read(tcr_el1) | TCR_AS);
    asid_init(&asids, (uint32_t)MIN((uint64_t)1 << (wide ? 16 : 8), mem_space_ids), CPU_MAX);
    kprintf("memory: space_ids=%u\n", asids.count - 1);
}

void memory_load_kernel(struct pt *kernel)
{
    void (*replace)(paddr_t root, paddr_t empty) =
        (void (*)(paddr_t, paddr_t))start_image_pa((const void *)replace_ttbr1);

    console_map(kernel);
    replace(kernel->root, start_image_pa(empty_root));
    sysreg_write(ttbr0_el1, start_image_pa(empty_root));
    init_asids();
    /* The empty root and its identifier are in use, so no old entries come back after the flush. */
    isb();
    forget_everything();
}

bool memory_init_cpu(void)
{
    arch_space_switch(NULL);
    forget_everything(); /* the first instructions' mapping is global */
    return !wide || has_wide_asids();
}

/* The halves have separate roots. */
void memory_root_init(UNUSED uint64_t *root, UNUSED const uint64_t *kernel_root)
{
}

/*
 * Gives the space a tag. The DSB orders with a shootdown of this space, which changes the tables
 * and then reads the tag, while this CPU has written the tag and then walks the tables: either the
 * shootdown sees the new tag, or this CPU sees the new tables.
 */
static uint64_t assign_asid(struct arch_space *space, unsigned cpu)
{
    spin_lock_irqoff(&asid_lock);
    bool stale = asid_assign(&asids, cpu, &space->tag);
    uint64_t tag = space->tag;
    spin_unlock_irqoff(&asid_lock);
    if (stale)
        forget_everything();
    __asm__ volatile("dsb ish" : : : "memory");
    return tag;
}

void arch_space_switch(struct arch_space *space)
{
    uint64_t ttbr0 = start_image_pa(empty_root);

    if (space) {
        unsigned cpu = this_cpu()->index;
        uint64_t tag = asid_enter(&asids, cpu, &space->tag);
        ttbr0 = space->pt.root | (uint64_t)asid_of(tag ? tag : assign_asid(space, cpu))
                                     << ASID_SHIFT;
    }
    sysreg_write(ttbr0_el1, ttbr0);
    isb(); /* a user copy may follow immediately */
}

/* Invalidation by address includes the kernel's global pages, with any identifier. The first DSB:
 * after the tables were changed. The second, and ISB: no CPU concerned uses the old entries any
 * more, this CPU's next instructions included. */
#define DEFINE_FLUSH(name, whose, domain, pages_max)                                   \
    static void name(const struct arch_space *space, vaddr_t va, size_t n)             \
    {                                                                                  \
        __asm__ volatile("dsb ish" : : : "memory");                                    \
        uint64_t tag = space ? __atomic_load_n(&space->tag, __ATOMIC_RELAXED) : 0;     \
        uint64_t asid = (uint64_t)asid_of(tag) << ASID_SHIFT, page = va >> PAGE_SHIFT; \
        bool by_page = n && n <= (pages_max);                                          \
        for (size_t i = 0; by_page && i < n; i++)                                      \
            __asm__ volatile("tlbi vae1" whose ", %0"                                  \
                             :                                                         \
                             : "r"(asid | ((page + i) & TLBI_PAGE))                    \
                             : "memory");                                              \
        if (!by_page && space)                                                         \
            __asm__ volatile("tlbi aside1" whose ", %0" : : "r"(asid) : "memory");     \
        else if (!by_page)                                                             \
            __asm__ volatile("tlbi vmalle1" whose : : : "memory");                     \
        __asm__ volatile("dsb " domain "\n\tisb" : : : "memory");                      \
    }
DEFINE_FLUSH(flush_here, "", "nsh", PAGES_MAX_HERE)
DEFINE_FLUSH(flush_everywhere, "is", "ish", PAGES_MAX_EVERYWHERE)

void arch_tlb_flush(struct arch_space *space, vaddr_t va, size_t n)
{
    flush_here(space, va, n);
}

bool arch_tlb_flush_everywhere(struct arch_space *space, vaddr_t va, size_t n)
{
    flush_everywhere(space, va, n);
    return true;
}
