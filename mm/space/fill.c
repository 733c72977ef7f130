/* Makes pages a space's own, and fills them. */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/pool.h"
#include "mm/space.h"

#define LOOKS_MAX 256 /* pages looked at in one hold of the lock */

/* ---- Unsharing ------------------------------------------------------------------------------- */

/* Returns whether a page is the space's and relatives', and would be copied when one writes. [S]
 * held. */
static bool relatives_have(struct space *s, const struct arch_page *page)
{
    return pool_owns_page(s->pool, page) && space_shares(s, page);
}

/* Looks for a page of [*va, end) that relatives have, too, LOOKS_MAX pages on. Returns whether
 * there is one, at *va; else *va is how far it came. */
static bool find_shared(struct space *s, vaddr_t *va, vaddr_t end)
{
    bool irq = spin_lock(&s->lock), is = false;

    *va = arch_space_skip(&s->arch, *va, end);
    for (unsigned i = 0; *va < end && i < LOOKS_MAX; i++, *va += PAGE_SIZE) {
        struct arch_page page;
        arch_space_look(&s->arch, *va, 1, &page);
        is = relatives_have(s, &page);
        if (is)
            break;
    }
    spin_unlock(&s->lock, irq);
    return is;
}

int space_unshare(struct space *s, vaddr_t va, vaddr_t end)
{
    int err = 0;

    while (!err && lineage_forked(s->lineage) && va < end) {
        err = find_shared(s, &va, end) ? space_fault_own(s, va) : 0;
        sched_point();
    }
    return err;
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* Copies to the page at va. Returns false if it is not mapped. */
static bool fill_locked(struct space *s, vaddr_t va, const void *src, size_t n)
{
    const struct region *r = regions_find(&s->regions, va);
    struct arch_page page;

    if (!r || (r->flags & REGION_CLOSED))
        return false;
    arch_space_look(&s->arch, ALIGN_DOWN(va, PAGE_SIZE), 1, &page);
    if (page.kind != ARCH_PAGE_HERE || space_shares(s, &page))
        return false;
    char *frame = phys_to_virt(page.pa);
    arch_space_mark(&s->arch, ALIGN_DOWN(va, PAGE_SIZE), 0, ARCH_USED | ARCH_WRITTEN);
    memcpy(frame + (va & PAGE_MASK), src, n);
    if (r->prot & PROT_X)
        arch_code_written(frame);
    return true;
}

static int fill_page(struct space *s, vaddr_t va, const void *src, size_t n)
{
    for (;;) {
        int err = space_fault_own(s, va);
        if (err)
            return err;
        bool irq = spin_lock(&s->lock);
        bool done = fill_locked(s, va, src, n);
        spin_unlock(&s->lock, irq);
        if (done)
            return 0;
    }
}

int space_fill(struct space *s, vaddr_t va, const void *src, size_t n)
{
    const char *from = src;

    while (n) {
        size_t part = MIN(n, (size_t)(PAGE_SIZE - (va & PAGE_MASK)));
        int err = fill_page(s, va, from, part);
        if (err)
            return err;
        va += part;
        from += part;
        n -= part;
    }
    return 0;
}
