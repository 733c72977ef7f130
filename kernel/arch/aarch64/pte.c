/* Page-table entries of AArch64 with the 4 KB granule (Arm ARM DDI 0487, D8.3), as kernel/arch/pt.h wants them. */
#include "sysreg.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/memory.h"

#define BIT(n) ((uint64_t)1 << (n))

#define PTE_VALID    BIT(0)
#define PTE_NOBLOCK  BIT(1) /* a table, or a page of the last level */
#define PTE_ATTR(n)  ((uint64_t)(n) << 2)
#define PTE_ATTR_ALL PTE_ATTR(7)
#define PTE_EL0      BIT(6) /* AP[1] */
#define PTE_RO       BIT(7) /* AP[2] */
#define PTE_INNER    ((uint64_t)3 << 8)
#define PTE_AF       BIT(10)
#define PTE_NG       BIT(11) /* not global */
#define PTE_PXN      BIT(53)
#define PTE_UXN      BIT(54)
/* Without PTE_VALID the processor ignores the rest: a page that stays in its place, but whose every access faults. */
#define PTE_KEPT BIT(55)

#define PTE_ADDRESS 0x0000fffffffff000

static uint64_t leaf(paddr_t pa, unsigned prot, unsigned level)
{
    uint64_t e = pa | PTE_VALID | PTE_AF | PTE_INNER;

    if (!(prot & (PROT_R | PROT_W | PROT_X)))
        return pa | PTE_KEPT;
    e |= prot & PROT_W ? 0 : PTE_RO;
    e |= prot & PROT_USER ? PTE_EL0 | PTE_NG | PTE_PXN : PTE_UXN;
    e |= prot & PROT_X ? 0 : PTE_PXN | PTE_UXN;
    e |= PTE_ATTR(prot & PROT_DEVICE ? ATTR_DEVICE : prot & PROT_GATHER ? ATTR_GATHER : ATTR_NORMAL);
    return e | (level + 1 == pte_format.levels ? PTE_NOBLOCK : 0);
}

static uint64_t table(paddr_t pa, UNUSED unsigned prot)
{
    return pa | PTE_VALID | PTE_NOBLOCK;
}

static bool present(uint64_t e)
{
    return e & (PTE_VALID | PTE_KEPT);
}

static bool is_leaf(uint64_t e, unsigned level)
{
    return level + 1 == pte_format.levels || !(e & PTE_NOBLOCK);
}

static paddr_t address(uint64_t e, UNUSED unsigned level)
{
    return e & PTE_ADDRESS;
}

static unsigned prot(uint64_t e)
{
    if (!(e & PTE_VALID))
        return PROT_USER;
    return PROT_R | (e & PTE_RO ? 0 : PROT_W) | (e & (e & PTE_EL0 ? PTE_UXN : PTE_PXN) ? 0 : PROT_X) |
           (e & PTE_EL0 ? PROT_USER : 0) | ((e & PTE_ATTR_ALL) == PTE_ATTR(ATTR_DEVICE) ? PROT_DEVICE : 0) |
           ((e & PTE_ATTR_ALL) == PTE_ATTR(ATTR_GATHER) ? PROT_GATHER : 0);
}

/* The walker sees the entry before anything that follows is done with it (D8.2.6 "Ordering and completion of
 * translation table updates"): DSB; and what follows is fetched and executed after that: ISB.  Release: the page's contents,
 * too, precede it. */
static void store(uint64_t *slot, uint64_t e)
{
    __atomic_store_n(slot, e, __ATOMIC_RELEASE);
    __asm__ volatile("dsb ishst\n\tisb" : : : "memory");
}

struct pt_format pte_format = {
    .levels = 4,
    .level = {{39, false}, {30, true}, {21, true}, {12, true}},
    .leaf = leaf,
    .table = table,
    .present = present,
    .is_leaf = is_leaf,
    .address = address,
    .prot = prot,
    .store = store,
};
