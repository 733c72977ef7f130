/* See pooling.h. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/pooling.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "mm/pool/divide.h"
#include "mm/pool/prefetching.h"
#include "mm/pool/args.h"
#include "mm/pool/reclaim.h"
#include "mm/pool/page_io.h"
#include "mm/pool/swap.h"
#include "kernel/mem/mem.h"
#include "mm/track/track.h"

/* ---- What pools stand on --------------------------------------------------------------------- */
bool host_irqs_on = true;
struct cpu cpus[CPU_MAX], *host_cpu = cpus;
uint64_t host_ticks = 1;
uint64_t mem_process = LIMIT * PAGE_SIZE, mem_user = MEMORY_UNLIMITED, mem_pool;
uint64_t mem_goal, mem_seed = 1, mem_weight = 1, mem_rate, mem_accessed = 1;
const struct replace_ops *policy;
const struct prefetch_ops *prefetching;

struct page pages[FRAMES_MAX + 1];
bool in_use[FRAMES_MAX + 1];
unsigned frames_max = FRAMES, frames_used, bad_slots;
struct slots *slots;
void (*amid_sleep)(void);
const struct pool *stuck;
vaddr_t hidden_page;
bool areas_cost;
static struct lineage lineage;
static unsigned areas, frames_in_areas;

const struct replace_ops *memory_policy_ops(void)
{
    return policy;
}
const struct prefetch_ops *memory_prefetch_ops(void)
{
    return prefetching;
}
struct page *frame_page(paddr_t pa)
{
    return &pages[pa >> PAGE_SHIFT];
}
paddr_t frame_address(const struct page *page)
{
    return (paddr_t)(page - pages) << PAGE_SHIFT;
}
struct page *frame_page_number(uint32_t number)
{
    return &pages[number];
}
uint32_t frame_number(const struct page *page)
{
    return (uint32_t)(page - pages);
}
void frame_free(paddr_t pa, unsigned order)
{
    uint64_t n = pa >> PAGE_SHIFT;

    assert_true(!order && n && n <= frames_max && in_use[n]);
    in_use[n] = false;
    frames_used--;
}
void frame_stats(struct frame_stats *out)
{
    *out = (struct frame_stats){frames_max, frame_free_about()};
}
uint64_t frame_free_about(void)
{
    return frames_max - frames_used - frames_in_areas;
}
void *kmalloc(size_t size)
{
    return calloc(1, size);
}
void kfree(void *p)
{
    free(p);
}
/* In front of an area; as large as a cache line, so that the area is aligned to one. */
struct area {
    uint64_t bytes, frames, unused[6];
};
static struct area *area_of(void *p)
{
    return (struct area *)p - 1;
}
static uint64_t pages_in(uint64_t bytes)
{
    return ALIGN_UP(bytes, PAGE_SIZE) / PAGE_SIZE;
}
static void *make_area(uint64_t bytes, uint64_t frames)
{
    frames = areas_cost ? frames : 0;
    if (frames > frame_free_about())
        return NULL;
    struct area *a = calloc(1, sizeof(*a) + bytes);
    *a = (struct area){.bytes = bytes, .frames = frames};
    frames_in_areas += frames;
    areas++;
    return a + 1;
}
void *area_alloc(uint64_t bytes)
{
    return make_area(bytes, pages_in(bytes));
}
void *area_extend(void *p, uint64_t bytes)
{
    return make_area(bytes, pages_in(bytes) - pages_in(area_of(p)->bytes));
}
void area_replace(void *p, void *larger)
{
    memcpy(larger, p, area_of(p)->bytes);
    area_of(larger)->frames += area_of(p)->frames;
    area_of(p)->frames = 0;
}
void area_free(void *p)
{
    if (!p)
        return;
    frames_in_areas -= area_of(p)->frames;
    areas--;
    free(area_of(p));
}
bool swap_present(void)
{
    return true;
}
bool swap_failed(void)
{
    return false;
}
void swap_stats(struct swap_stats *out)
{
    *out = (struct swap_stats){0};
}
uint32_t swap_slot_take(uint32_t want, unsigned index)
{
    return slots_take(slots, want, index);
}
void swap_slot_give(uint32_t slot)
{
    slots_give(slots, slot);
}
void swap_slot_bad(void)
{
    bad_slots++;
}
void swap_report_lost(uint32_t slot)
{
    assert_int_not_equal(slot, SLOT_NONE);
}
uint64_t arch_clock_ns(void)
{
    return host_ticks++;
}
unsigned arch_space_look(struct arch_space *space, vaddr_t va, unsigned n, struct arch_page *out)
{
    (void)space, (void)va;
    memset(out, 0, n * sizeof(*out));
    return 0;
}
/* Not called in these tests. */
unsigned space_nodes(struct space *s, const uint64_t *page, unsigned n, uint32_t *nodes)
{
    (void)s, (void)page, (void)n, (void)nodes;
    abort();
}
unsigned pool_fetch(struct pool *p, const uint32_t *nodes, unsigned n, unsigned max, unsigned how)
{
    (void)p, (void)nodes, (void)n, (void)max, (void)how;
    abort();
}
int thread_create_kernel(const char *name, void (*entry)(void *), void *arg,
                         const struct cpuset *cpus)
{
    (void)name, (void)entry, (void)arg, (void)cpus;
    return 0;
}
bool track_makes_curves(void)
{
    return false;
}
void page_io_init(void)
{
}
void swap_init(void)
{
}
enum page_buffered lineage_buffered(struct lineage *l, vaddr_t va)
{
    return l == &lineage && va == hidden_page && va ? BUFFER_USED : BUFFER_NOT_KEPT;
}
void track_attach(track_sink *sink)
{
    (void)sink;
}
void divide_start(void)
{
}
void sched_yield(void)
{
}
void sched_point(void)
{
}
void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}
unsigned wait_wake(struct wait_queue *q, unsigned max)
{
    (void)q, (void)max;
    return 0;
}

/* ---- The world ------------------------------------------------------------------------------- */

struct pool *pool;
struct space space;
uint64_t seed;

uint32_t below(uint32_t n)
{
    return (uint32_t)(test_random(&seed) % n);
}

uint32_t some_node(unsigned states)
{
    uint32_t n = below(pool->capacity);

    for (uint32_t i = 0; i < pool->capacity; i++, n = (n + 1) % pool->capacity)
        if (states >> pool->nodes[n].state & 1)
            return n;
    return NODE_NONE;
}

static bool is_being_written(uint32_t n)
{
    return pool->nodes[n].state == NODE_WRITING || (pool->nodes[n].flags & NODE_RESCUED);
}

bool end_some_transfer(void)
{
    uint32_t n = below(pool->capacity);

    for (uint32_t i = 0; i < pool->capacity; i++, n = (n + 1) % pool->capacity) {
        int status = below(8) ? 0 : -EIO;
        bool alone = below(2) || (pool->nodes[n].flags & NODE_ALONE);
        if (pool->nodes[n].state == NODE_COMING)
            page_read_done(pool, n, status, alone);
        else if (is_being_written(n))
            page_write_done(pool, n, status, alone);
        else
            continue;
        return true;
    }
    return false;
}

struct pool *other;

void swap_pools(void)
{
    struct pool *p = pool;

    pool = other;
    other = p;
    space.pool = pool;
}

static bool end_transfer_of_the_other(void)
{
    if (!other)
        return false;
    swap_pools();
    bool ended = end_some_transfer();
    swap_pools();
    return ended;
}

static bool sleep_until_a_transfer_ends(struct spinlock *guard, bool *irq)
{
    spin_unlock(guard, *irq);
    bool ended = end_some_transfer() || end_transfer_of_the_other();
    if (amid_sleep)
        amid_sleep();
    *irq = spin_lock(guard);
    return ended;
}
int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    (void)q;
    if (sleep_until_a_transfer_ends(guard, irq))
        return 0;
    assert_true(deadline_ns != UINT64_MAX); /* else it would sleep for ever */
    return -ETIMEDOUT;
}
void wait_sleep_through(struct wait_queue *q, struct spinlock *guard, bool *irq)
{
    (void)q;
    assert_true(sleep_until_a_transfer_ends(guard, irq));
}

/* As mm/pool/evict.c, one page at a time. What the page table would say of a mapped page is
 * random. */
unsigned evict_batch(struct pool *p, uint32_t count, uint32_t incoming)
{
    unsigned left = 0;
    bool irq = spin_lock(&p->lock);
    p->vain += p->held; /* as if each was looked at in every call */
    if (p == stuck) {
        spin_unlock(&p->lock, irq);
        return 0;
    }

    for (unsigned tries = 0; left < count && tries < 2 * LIMIT; tries++) {
        uint32_t n = pool_victim_locked(p, incoming);
        if (n == REPLACE_NONE)
            break;
        struct node *node = &p->nodes[n];
        assert_true(node->state == NODE_HERE || node->state == NODE_READY);
        if (node->state == NODE_HERE && below(2))
            node->flags |= NODE_DIRTY;
        bool needs =
            (node->flags & NODE_DIRTY) && node->slot == SLOT_NONE && !(node->flags & NODE_RESCUED);
        if (needs)
            node->slot = swap_slot_take(SLOT_NONE, n % SLOT_CLUSTER);
        if ((node->flags & NODE_RESCUED) || (needs && node->slot == SLOT_NONE)) {
            pool_touch_locked(p, n);
            continue;
        }
        prefetching_wasted(p, n);
        node->flags &= ~NODE_FRESH;
        node->mapped = 0;
        pool_set_state(p, n, NODE_GOING);
        p->ops->leave(p->state, n);
        if (node->flags & NODE_DIRTY) {
            pool_set_state(p, n, NODE_WRITING);
        } else {
            pool_frame_free(p, n);
            pool_set_state(p, n, NODE_OUT);
        }
        left++;
    }
    if (left)
        p->vain = 0;
    spin_unlock(&p->lock, irq);
    return left;
}

bool evict_tried_all_locked(const struct pool *p)
{
    return p->vain >= p->held;
}

uint32_t get_frame(void)
{
    uint32_t n = 1 + below(frames_max);

    while (in_use[n])
        n = n % frames_max + 1;
    in_use[n] = true;
    frames_used++;
    return n;
}

int pooling_set_up(void **state)
{
    (void)state;
    mem_process = LIMIT * PAGE_SIZE;
    mem_user = MEMORY_UNLIMITED;
    mem_pool = mem_goal = mem_rate = 0;
    mem_seed = mem_weight = mem_accessed = 1;
    policy = &replace_lru;
    prefetching = &prefetch_none;
    seed = 1;
    amid_sleep = NULL;
    stuck = other = NULL;
    hidden_page = 0;
    areas_cost = false;
    frames_max = FRAMES;
    paging_start(); /* sets the frames that pools leave to the kernel */
    return 0;
}

void make(void)
{
    slots = malloc(slots_bytes(SLOTS));
    slots_init(slots, SLOTS);
    bad_slots = 0;
    assert_int_equal(pool_join(NULL, NULL, &pool), 0);
    space = (struct space){.pool = pool, .lineage = &lineage};
}

void forget(uint32_t n)
{
    bool irq = spin_lock(&pool->lock);
    uint32_t frame = pool->nodes[n].lineage ? pool_forget(pool, n) : 0;

    spin_unlock(&pool->lock, irq);
    if (frame) {
        frame_free(frame_address(&pages[frame]), 0);
        pool_uncharge(pool, 1);
    }
}

void leave(void)
{
    for (uint32_t n = 0; n < pool->capacity; n++) {
        while (pool->nodes[n].flags & NODE_RESCUED)
            end_some_transfer();
        forget(n);
    }
    pool_leave(pool);
}

void end(void)
{
    leave();
    assert_int_equal(frames_used, 0);
    assert_int_equal(areas, 0);
    assert_int_equal(slots->free + bad_slots, slots->slots);
    assert_int_equal(pools_number(), 0);
    free(slots);
}
