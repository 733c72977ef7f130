/*
 * Growth of a pool's tables: twice as many nodes, with all that policies know of each.
 *
 * One thread makes the tables and others that need a node wait for it; else each would make tables,
 * of which one would be used. The old contents stay where they are in memory and appear at another
 * address, with room behind them (area_extend). Under the pool's lock their users are told the new
 * address; nothing is copied.
 *
 * Tables are kernel memory, and pages are evicted to make room for them. Otherwise a pool that
 * fills its tables while memory is full would never have more nodes than memory has frames, however
 * large the swap disk.
 */
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/pool/prefetching.h"
#include "mm/pool/reclaim.h"
#include "kernel/mem/mem.h"

#define TABLES 5                              /* at most, in a pool */
#define MAPPED (PAGE_SIZE / sizeof(uint64_t)) /* pages mapped by a page of page tables */

/* What grows with the number of nodes. */
struct tables {
    struct node *nodes;
    void *state;
    struct prefetching_tables prefetching;
};

static void free_tables(struct tables *t)
{
    prefetching_free_tables(&t->prefetching);
    area_free(t->state);
    area_free(t->nodes);
}

/* Returns 0 or -ENOMEM. */
static int extend_tables(const struct pool *p, uint32_t nodes, struct tables *t)
{
    *t = (struct tables){
        .nodes = area_extend(p->nodes, nodes * sizeof(*t->nodes)),
        .state = area_extend(p->state, p->ops->bytes(nodes)),
    };
    int err = prefetching_extend(p, nodes, &t->prefetching);
    if (err || !t->nodes || !t->state) {
        free_tables(t);
        return -ENOMEM;
    }
    return 0;
}

/* Exchanges p's tables and those in *t, which have `capacity` nodes. The new nodes are linked as
 * free ones from free_head on. */
static void replace_tables_locked(struct pool *p, struct tables *t, uint32_t capacity,
                                  uint32_t free_head)
{
    struct tables had = {.nodes = p->nodes, .state = p->state};

    area_replace(had.nodes, t->nodes);
    area_replace(had.state, t->state);
    p->ops->grow(t->state, capacity);
    prefetching_replace_tables(p, &t->prefetching, capacity);
    had.prefetching = t->prefetching;
    p->nodes = t->nodes;
    p->state = t->state;
    p->nodes[capacity - 1].page = p->free_head;
    p->free_head = free_head;
    p->free_nodes += capacity - p->capacity;
    p->capacity = capacity;
    *t = had;
}

uint64_t pool_tables_bytes(const struct pool *p, uint32_t nodes)
{
    return ALIGN_UP(nodes * sizeof(struct node), PAGE_SIZE) +
           ALIGN_UP(p->ops->bytes(nodes), PAGE_SIZE) + prefetching_tables_bytes(p, nodes);
}

uint64_t pool_bytes_to_grow(struct pool *p)
{
    bool irq = spin_lock(&p->lock);
    bool room = !p->account || p->free_head != NODE_NONE;
    uint64_t bytes = room ? 0 : pool_tables_bytes(p, 2 * p->capacity) - p->charged;

    spin_unlock(&p->lock, irq);
    return bytes;
}

/* Returns the frames needed for tables of `nodes` nodes besides the present ones, page tables
 * included. */
static uint64_t frames_to_grow(const struct pool *p, uint32_t nodes)
{
    uint64_t all = pool_tables_bytes(p, nodes) / PAGE_SIZE;

    return all - pool_tables_bytes(p, p->capacity) / PAGE_SIZE + all / MAPPED + 2 * TABLES;
}

static bool can_grow(const struct pool *p)
{
    return p->capacity <= REPLACE_NODES_MAX / 2 && prefetching_can_hold(p, 2 * p->capacity);
}

/* Waits while another thread makes nodes. Returns 0: the caller is to make nodes; 1: a node is
 * free; -ENOMEM: the pool has the most nodes possible; -EINTR. */
static int begin_growing(struct pool *p)
{
    int err = 0;
    bool irq = spin_lock(&p->lock);

    while (!err && p->growing && p->free_head == NODE_NONE)
        err = wait_sleep(&p->grown, &p->lock, &irq, UINT64_MAX);
    if (!err && p->free_head != NODE_NONE)
        err = 1;
    else if (!err && !can_grow(p))
        err = -ENOMEM;
    if (!err)
        p->growing = true;
    spin_unlock(&p->lock, irq);
    return err;
}

/* Makes the tables *t for `nodes` nodes, evicting pages for them. If no page can be evicted, takes
 * frames of the kernel's reserve; if other kernel allocations took the frames, evicts twice as
 * many. */
static int make_tables(struct pool *p, uint32_t nodes, struct tables *t)
{
    for (uint64_t frames = frames_to_grow(p, nodes);; frames *= 2) {
        int room = reclaim_for_kernel(p, frames),
            err = room == -EINTR ? room : extend_tables(p, nodes, t);
        reclaim_taken(frames);
        if (room || !err)
            return err;
    }
}

/* Makes tables for `capacity` nodes and charges their bytes. The caller has set p->growing, so that
 * p->capacity and p->charged do not change. */
static int make_charged(struct pool *p, uint32_t capacity, struct tables *t, uint64_t *bytes)
{
    *bytes = p->account ? pool_tables_bytes(p, capacity) - p->charged : 0;
    int err = p->account ? memory_charge(p->account, *bytes) : 0;

    if (err)
        return err;
    err = make_tables(p, capacity, t);
    if (err && p->account)
        memory_uncharge(p->account, *bytes);
    return err;
}

int pool_grow(struct pool *p)
{
    struct tables tables;
    uint64_t bytes;
    int err = begin_growing(p);

    if (err)
        return MIN(err, 0);
    uint32_t capacity = 2 * p->capacity;
    err = make_charged(p, capacity, &tables, &bytes);
    uint32_t free_head = NODE_NONE;
    if (!err)
        pool_link_free(tables.nodes, p->capacity, capacity, &free_head);
    bool irq = spin_lock(&p->lock);
    if (!err) {
        replace_tables_locked(p, &tables, capacity, free_head);
        p->charged += bytes;
    }
    p->growing = false;
    wait_wake(&p->grown, UINT32_MAX);
    spin_unlock(&p->lock, irq);
    if (!err)
        free_tables(&tables);
    return err;
}
