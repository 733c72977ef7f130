/* Completion of reads and writes of pages. Called by interrupts: no lock but the pool's is
 * taken. */
#include "mm/pool/page_io.h"
#include "mm/pool/prefetching.h"
#include "mm/pool/reclaim.h"
#include "mm/pool/swap.h"
#include "kernel/mem/frame.h"

/* Frees node n, which lost its lineage during the transfer. A thread that waits for the pool's end
 * is woken by freeing the node. */
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

/* Fails a read. If the page was read alone for a thread that waits, that thread gets an error. Of
 * several pages read together the bad one is not known, and no thread waits for a prefetched page:
 * a thread that wants such a page then reads it alone. */
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

void page_read_done(struct pool *p, uint32_t n, int status, bool alone)
{
    bool irq = spin_lock(&p->lock);
    const struct node *node = &p->nodes[n];

    ASSERT(node->state == NODE_COMING);
    if (!node->lineage)
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

/* Keeps a page in memory that could not be written; it is still dirty. */
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

/* Handles a failed write. Of several pages written together the bad one is not known: each is
 * written alone next time. A slot that failed alone is given up and never used again. Returns true
 * if so. */
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

void page_write_done(struct pool *p, uint32_t n, int status, bool alone)
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
    if (!node->lineage)
        free_orphan_locked(p, n);
    else if (status)
        stay_locked(p, n);
    else
        leave_locked(p, n);
    spin_unlock(&p->lock, irq);
    if (lost)
        swap_report_lost(slot);
}
