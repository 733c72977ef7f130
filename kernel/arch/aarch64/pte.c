/* The page-table entries of AArch64 with the 4 KB granule (Arm ARM DDI 0487, D8.3), for
 * kernel/arch/pt.h. */
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
/* Set in an entry without PTE_VALID, of which the processor ignores the other bits: the page stays,
 * but every access faults. */
#define PTE_KEPT BIT(55)
/*
 * Bits for software (D8.3.2). Faults mark a program's page: without AF the next access faults, and
 * a writable page is read-only until it was written. (FEAT_HAFDBS would set AF and AP[2] in
 * hardware; it is not used.)
 */
#define PTE_WRITABLE BIT(56) /* a program's page that may be written */
#define PTE_WRITTEN  BIT(57) /* ... and was written */
/* Set in an entry that is not valid; the address bits are a number. */
#define PTE_NUMBER BIT(58)

#define PTE_ADDRESS 0x0000fffffffff000

static uint64_t leaf(paddr_t pa, unsigned prot, unsigned level)
{
    uint64_t e = pa | PTE_VALID | PTE_AF | PTE_INNER;

    if (!(prot & (PROT_R | PROT_W | PROT_X)))
        return pa | PTE_KEPT | (prot & PROT_WRITTEN ? PTE_WRITTEN : 0);
    if (prot & PROT_USER)
        e |= (prot & PROT_W ? PTE_WRITABLE : 0) | (prot & PROT_WRITTEN ? PTE_WRITTEN : 0);
    e |= (prot & PROT_W) && (prot & (PROT_USER | PROT_WRITTEN)) != PROT_USER ? 0 : PTE_RO;
    e |= prot & PROT_USER ? PTE_EL0 | PTE_NG | PTE_PXN : PTE_UXN;
    e |= prot & PROT_X ? 0 : PTE_PXN | PTE_UXN;
    e |= PTE_ATTR(prot & PROT_DEVICE   ? ATTR_DEVICE
                  : prot & PROT_GATHER ? ATTR_GATHER
                                       : ATTR_NORMAL);
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
    bool writable = e & PTE_EL0 ? e & PTE_WRITABLE : !(e & PTE_RO);
    return PROT_R | (writable ? PROT_W : 0) | (e & (e & PTE_EL0 ? PTE_UXN : PTE_PXN) ? 0 : PROT_X) |
           (e & PTE_EL0 ? PROT_USER : 0) |
           ((e & PTE_ATTR_ALL) == PTE_ATTR(ATTR_DEVICE) ? PROT_DEVICE : 0) |
           ((e & PTE_ATTR_ALL) == PTE_ATTR(ATTR_GATHER) ? PROT_GATHER : 0);
}

/* DSB: the walker sees the entry before any later access (D8.2.6 "Ordering and completion of
 * translation table updates"). ISB: later instructions are fetched after that. Release: the page's
 * contents precede the entry. */
static void store(uint64_t *slot, uint64_t e)
{
    __atomic_store_n(slot, e, __ATOMIC_RELEASE);
    __asm__ volatile("dsb ishst\n\tisb" : : : "memory");
}

static bool replace(uint64_t *slot, uint64_t old, uint64_t e)
{
    if (!__atomic_compare_exchange_n(slot, &old, e, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    __asm__ volatile("dsb ishst\n\tisb" : : : "memory");
    return true;
}

static unsigned marks(uint64_t e)
{
    return (e & PTE_AF ? ARCH_USED : 0) | (e & PTE_WRITTEN ? ARCH_WRITTEN : 0);
}

static uint64_t mark(uint64_t e, unsigned marks)
{
    e &= ~(PTE_AF | PTE_WRITTEN);
    e |= (marks & ARCH_USED ? PTE_AF : 0) | (marks & ARCH_WRITTEN ? PTE_WRITTEN : 0);
    if ((e & (PTE_VALID | PTE_EL0)) != (PTE_VALID | PTE_EL0))
        return e;
    return (e & (PTE_WRITABLE | PTE_WRITTEN)) == (PTE_WRITABLE | PTE_WRITTEN) ? e & ~PTE_RO
                                                                              : e | PTE_RO;
}

static uint64_t protect(uint64_t e, unsigned prot)
{
    unsigned last = pte_format.levels - 1;

    return mark(leaf(address(e, last), prot, last), marks(e));
}

static uint64_t number(uint32_t number)
{
    return (uint64_t)number << PAGE_SHIFT | PTE_NUMBER;
}

static bool is_number(uint64_t e, uint32_t *number)
{
    *number = (uint32_t)(e >> PAGE_SHIFT);
    return !present(e) && (e & PTE_NUMBER);
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
    .replace = replace,
    .marks = marks,
    .mark = mark,
    .protect = protect,
    .number = number,
    .is_number = is_number,
};
