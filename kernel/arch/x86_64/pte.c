/* The page-table entries of x86-64 with four levels (SDM vol. 3A, 4.5), for kernel/arch/pt.h. */
#include "x86.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/memory.h"

#define PTE_P  BIT(0)
#define PTE_W  BIT(1)
#define PTE_U  BIT(2)
#define PTE_WT BIT(3) /* alone: PAT_KERNEL's entry 1, write combining */
#define PTE_CD BIT(4)
#define PTE_A  BIT(5)
#define PTE_D  BIT(6)
#define PTE_PS BIT(7) /* a leaf above the last level */
#define PTE_G  BIT(8)
#define PTE_NX BIT(63)
/* Set in an entry without PTE_P, of which the processor ignores the other bits: the page stays, but
 * every access faults. */
#define PTE_KEPT BIT(9)
/* Set in an entry without PTE_P that holds a number. The address bits are its complement: an
 * address that the processor might speculate on is far above any memory. */
#define PTE_NUMBER BIT(10)

#define PTE_ADDRESS       0x000ffffffffff000
#define PTE_LARGE_ADDRESS 0x000fffffffffe000 /* bit 12 of a large leaf is PAT */

static uint64_t leaf(paddr_t pa, unsigned prot, unsigned level)
{
    uint64_t e = pa | PTE_P;

    if (!(prot & (PROT_R | PROT_W | PROT_X)))
        return pa | PTE_KEPT | (prot & PROT_WRITTEN ? PTE_D : 0);
    e |= prot & PROT_W ? PTE_W : 0;
    e |= prot & PROT_X ? 0 : PTE_NX;
    e |= prot & PROT_DEVICE ? PTE_CD | PTE_WT : prot & PROT_GATHER ? PTE_WT : 0;
    /* The kernel's pages are the same in every space, and their use is not tracked. */
    e |= prot & PROT_USER ? PTE_U | PTE_A | (prot & PROT_WRITTEN ? PTE_D : 0)
                          : PTE_G | PTE_A | PTE_D;
    return e | (level + 1 < pte_format.levels ? PTE_PS : 0);
}

static uint64_t table(paddr_t pa, unsigned prot)
{
    return pa | PTE_P | PTE_W | PTE_A | (prot & PROT_USER ? PTE_U : 0);
}

static bool present(uint64_t e)
{
    return e & (PTE_P | PTE_KEPT);
}

static bool is_leaf(uint64_t e, unsigned level)
{
    return level + 1 == pte_format.levels || (e & PTE_PS);
}

static paddr_t address(uint64_t e, unsigned level)
{
    return e & (level + 1 < pte_format.levels && (e & PTE_PS) ? PTE_LARGE_ADDRESS : PTE_ADDRESS);
}

static unsigned prot(uint64_t e)
{
    if (!(e & PTE_P))
        return PROT_USER;
    return PROT_R | (e & PTE_W ? PROT_W : 0) | (e & PTE_NX ? 0 : PROT_X) |
           (e & PTE_U ? PROT_USER : 0) |
           (e & PTE_CD   ? PROT_DEVICE
            : e & PTE_WT ? PROT_GATHER
                         : 0);
}

static void store(uint64_t *slot, uint64_t e)
{
    __atomic_store_n(slot, e, __ATOMIC_RELEASE);
}

static bool replace(uint64_t *slot, uint64_t old, uint64_t e)
{
    return __atomic_compare_exchange_n(slot, &old, e, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static unsigned marks(uint64_t e)
{
    return (e & PTE_A ? ARCH_USED : 0) | (e & PTE_D ? ARCH_WRITTEN : 0);
}

static uint64_t mark(uint64_t e, unsigned marks)
{
    return (e & ~(PTE_A | PTE_D)) | (marks & ARCH_USED ? PTE_A : 0) |
           (marks & ARCH_WRITTEN ? PTE_D : 0);
}

static uint64_t protect(uint64_t e, unsigned prot)
{
    unsigned last = pte_format.levels - 1;

    return mark(leaf(address(e, last), prot, last), marks(e));
}

static uint64_t number(uint32_t number)
{
    return (PTE_ADDRESS & ~((uint64_t)number << PAGE_SHIFT)) | PTE_NUMBER;
}

static bool is_number(uint64_t e, uint32_t *number)
{
    *number = (uint32_t)(~e >> PAGE_SHIFT);
    return !present(e) && (e & PTE_NUMBER);
}

/* cpu_features_find() allows leaves of 1 GB if the processor has them. */
struct pt_format pte_format = {
    .levels = 4,
    .level = {{39, false}, {30, false}, {21, true}, {12, true}},
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
