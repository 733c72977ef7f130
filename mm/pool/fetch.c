/*
 * Reads pages before a thread asks for them: those that a program has advised it will need, and
 * those that a prefetch policy wants. No thread waits for the read: pages become COMING, then
 * READY. If no frame is free, other pages are evicted, but only if that needs no wait for a write.
 */
#include "mm/pool/prefetching.h"
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/pool/reclaim.h"
#include "mm/space.h"
#include "mm/pool/swap.h"
#include "kernel/mem/mem.h"

#define BATCH 32

/* Tells whether node n is to be read: it is OUT in a slot. With FETCH_TOUCH, touches a resident
 * page. */
static bool is_wanted(struct pool *p, uint32_t n, unsigned how)
{
    bool irq = spin_lock(&p->lock);
    const struct node *node = n < p->capacity ? &p->nodes[n] : NULL;
    bool wanted = node && node->state == NODE_OUT && node->slot != SLOT_NONE;

    if ((how & FETCH_TOUCH) && node && node->lineage &&
        (node->state == NODE_HERE || node->state == NODE_READY))
        pool_touch_locked(p, n);
    spin_unlock(&p->lock, irq);
    return wanted;
}

/* Makes the charged frame that of node n, if n is still to be read, and fills in *out. */
static bool give_frame(struct pool *p, uint32_t n, paddr_t frame, unsigned how,
                       struct swap_page *out)
{
    bool irq = spin_lock(&p->lock);
    const struct node *node = &p->nodes[n];
    bool is = node->state == NODE_OUT && node->slot != SLOT_NONE;

    if (is) {
        pool_node_coming(p, n, frame_number(frame_page(frame)));
        if (how & FETCH_PREDICTED)
            prefetching_fetched(p, n);
        *out = (struct swap_page){.node = n, .slot = node->slot, .frame = frame};
    }
    spin_unlock(&p->lock, irq);
    return is;
}

static bool prepare_read(struct pool *p, uint32_t n, unsigned how, struct swap_page *out)
{
    paddr_t frame;

    if (frame_alloc(0, &frame) == 0) {
        if (give_frame(p, n, frame, how, out))
            return true;
        frame_free(frame, 0);
    }
    pool_uncharge(p, 1);
    return false;
}

unsigned pool_fetch(struct pool *p, const uint32_t *nodes, unsigned n, unsigned max, unsigned how)
{
    struct swap_page coming[BATCH];
    unsigned begun = 0, waiting = 0;

    for (unsigned i = 0; i < n && (begun < max || (how & FETCH_TOUCH)); i++) {
        if (!is_wanted(p, nodes[i], how) || begun == max)
            continue;
        if (!pool_charge_now(p))
            break;
        if (!prepare_read(p, nodes[i], how, &coming[waiting]))
            continue;
        begun++;
        if (++waiting == BATCH) {
            swap_pages(p, false, coming, waiting);
            waiting = 0;
        }
    }
    swap_pages(p, false, coming, waiting);
    return begun;
}

unsigned space_nodes(struct space *s, const uint64_t *page, unsigned n, uint32_t *nodes)
{
    unsigned found = 0;
    bool irq = spin_lock(&s->lock);

    for (unsigned i = 0; i < n; i++) {
        struct arch_page at;
        if (page[i] >= USER_MAX >> PAGE_SHIFT)
            continue;
        arch_space_look(&s->arch, page[i] << PAGE_SHIFT, 1, &at);
        if (at.kind == ARCH_PAGE_OUT)
            nodes[found++] = at.number;
        else if (at.kind == ARCH_PAGE_HERE && pool_owns(s->pool, at.pa))
            nodes[found++] = frame_page(at.pa)->next;
    }
    spin_unlock(&s->lock, irq);
    return found;
}

/* Tells whether half of the frames that p may have wait for their first use. */
static bool has_enough_unused(struct pool *p)
{
    bool irq = spin_lock(&p->lock);
    bool is = p->prefetching.unused >= p->limit / 2;

    spin_unlock(&p->lock, irq);
    return is;
}

/* Returns where the space's tables have pages next, from va on. */
static vaddr_t skip(struct space *s, vaddr_t va, vaddr_t end)
{
    bool irq = spin_lock(&s->lock);

    va = arch_space_skip(&s->arch, va, end);
    spin_unlock(&s->lock, irq);
    return va;
}

void space_fetch(struct space *s, vaddr_t va, vaddr_t end)
{
    while ((va = skip(s, va, end)) < end && !has_enough_unused(s->pool) &&
           !thread_current()->ending) {
        uint64_t page[BATCH];
        uint32_t nodes[BATCH];
        unsigned n = 0;
        for (; va < end && n < BATCH; va += PAGE_SIZE)
            page[n++] = va >> PAGE_SHIFT;
        n = space_nodes(s, page, n, nodes);
        pool_fetch(s->pool, nodes, n, n, 0);
        sched_point();
    }
}
