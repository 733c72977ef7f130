/* What becomes of a page that has been read or written. Called by interrupts: the pool's lock is
 * all that is taken. */
#include "mm/pool/swap.h"
#include "mm/pool/prefetching.h"
#include "mm/pool/reclaim.h"
#include "kernel/mem/frame.h"

/* Nobody's any more: whoever unmapped it left the rest to us. A waiter of the pool's end is woken
 * by the node's going. */
static void free_orphan_locked(struct pool *p, uint32_t n)
{
    pool_set_state(p, n, NODE_OUT);
    pool_frame_free(p, n);
    pool_node_free(p, n);
}

static void arrive_locked(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    p->stats.page_ins++;
    if (node->flags & NODE_UNUSED)
        p->ops->enter_unused(p->state, n, node->region);
    else
        pool_enter_locked(p, n);
    pool_set_state(p, n, NODE_READY);
}

/* Who waits for it is told; who might have wanted it later tries again then. Of several pages read
 * together it is not known which could not be: who waits for one reads it alone. */
static void fail_to_read_locked(struct pool *p, uint32_t n, bool alone)
{
    struct node *node = &p->nodes[n];

    p->stats.read_errors++;
    if (alone && !(node->flags & NODE_UNUSED))
        node->flags |= NODE_FAILED;
    prefetching_wasted(p, n);
    pool_frame_free(p, n);
    pool_set_state(p, n, NODE_OUT);
}

void swap_read_done(struct pool *p, uint32_t n, int status, bool alone)
{
    bool irq = spin_lock(&p->lock);
    const struct node *node = &p->nodes[n];

    ASSERT(node->state == NODE_COMING);
    if (!node->space)
        free_orphan_locked(p, n);
    else if (status)
        fail_to_read_locked(p, n, alone);
    else
        arrive_locked(p, n);
    spin_unlock(&p->lock, irq);
}

static void leave_locked(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    node->flags &= ~(NODE_DIRTY | NODE_ALONE);
    if (node->flags & NODE_RESCUED) {
        node->flags &= ~NODE_RESCUED;
        wait_wake(pool_queue(p, n), UINT32_MAX);
        return;
    }
    pool_frame_free(p, n);
    pool_set_state(p, n, NODE_OUT);
}

/* The page stays, still dirty. */
static void stay_locked(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    if (node->flags & NODE_RESCUED) {
        node->flags &= ~NODE_RESCUED;
        wait_wake(pool_queue(p, n), UINT32_MAX);
        return;
    }
    pool_enter_locked(p, n);
    pool_set_state(p, n, NODE_READY);
    wait_wake(&p->room, UINT32_MAX);
}

/* Of several pages written together it is not known which could not be: each is written alone next
 * time. One that was goes to another slot; this one is not used again. True: it is lost. */
static bool give_up_slot_locked(struct pool *p, struct node *node, bool alone)
{
    if (!alone) {
        node->flags |= NODE_ALONE;
        return false;
    }
    p->stats.write_errors++;
    swap_slot_bad();
    node->slot = SLOT_NONE;
    node->flags &= ~NODE_ALONE;
    return true;
}

void swap_write_done(struct pool *p, uint32_t n, int status, bool alone)
{
    bool irq = spin_lock(&p->lock);
    struct node *node = &p->nodes[n];
    uint32_t slot = node->slot;
    bool lost = false;

    ASSERT(node->state == NODE_WRITING || (node->flags & NODE_RESCUED));
    if (status)
        lost = give_up_slot_locked(p, node, alone);
    else
        p->stats.page_outs++;
    if (!node->space)
        free_orphan_locked(p, n);
    else if (status)
        stay_locked(p, n);
    else
        leave_locked(p, n);
    spin_unlock(&p->lock, irq);
    if (lost)
        swap_report_lost(slot);
}
