/* Checks address spaces, for debug builds and tests. */
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/object.h"

struct tally {
    uint64_t mapped, locked, resident, out;
};

/* Checks that the tables and the pool agree on a page. */
static void check_node(struct space *s, const struct region *r, vaddr_t va,
                       const struct arch_page *page)
{
    bool here = page->kind == ARCH_PAGE_HERE, own = !here || pool_owns(s->pool, page->pa);
    struct pool *p = own ? s->pool : pool_of_files();
    bool irq = spin_lock(&p->lock);
    uint32_t n = here ? frame_page(page->pa)->next : page->number;

    ASSERT(n < p->capacity);
    const struct node *node = &p->nodes[n];
    if (!own) {
        ASSERT(object_mapped(r) && !(page->prot & PROT_W && !object_shown(r)) &&
               node->state == NODE_HERE && node->mapped > 1);
        spin_unlock(&p->lock, irq);
        return;
    }
    ASSERT(node->lineage == s->lineage && node->page == va >> PAGE_SHIFT && node->sharers);
    if (pool_is_shared(node))
        ASSERT(!here ||
               (node->mapped && !(page->prot & PROT_W && !s->files && pool_is_copied(node))));
    else
        ASSERT(here == (node->state == NODE_HERE));
    spin_unlock(&p->lock, irq);
}

static void check_region(struct space *s, const struct region *r, struct tally *t)
{
    t->mapped += space_counts(r) ? (r->end - r->start) >> PAGE_SHIFT : 0;
    t->locked += r->flags & REGION_LOCKED ? (r->end - r->start) >> PAGE_SHIFT : 0;
    for (vaddr_t va = r->touched_lo; va < r->touched_hi; va += PAGE_SIZE) {
        struct arch_page page;
        va = arch_space_skip(&s->arch, va, r->touched_hi);
        if (va == r->touched_hi || !arch_space_look(&s->arch, va, 1, &page))
            continue;
        t->resident += page.kind == ARCH_PAGE_HERE;
        t->out += page.kind == ARCH_PAGE_OUT;
        check_node(s, r, va, &page);
    }
}

/* Checks a space that no other thread changes, or that is locked. */
static void check_quiet(struct space *s)
{
    struct tally t = {0};

    regions_check(&s->regions, USER_MIN, USER_MAX);
    for (const struct region *r = regions_above(&s->regions, 0); r; r = region_next(r))
        check_region(s, r, &t);
    ASSERT(t.mapped == s->mapped_pages && t.locked == s->locked_pages);
    ASSERT(t.resident == s->resident_pages && t.out == s->out_pages);
}

void space_check(struct space *s)
{
    bool irq = spin_lock(&s->lock);

    check_quiet(s);
    spin_unlock(&s->lock, irq);
}

void space_check_end(struct space *s)
{
    space_check(s);
    pool_check(s->pool);
}
