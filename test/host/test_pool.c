/*
 * Pools against a model of every page: which frames are whose, which slots, who is resident; under random uses, evictions, readings and
 * writings that end in any order, or fail, while the pool grows and its target moves.  Frames, slots and time are the test's; who sleeps
 * is woken by some reading or writing that ends.
 */
#include "test/host/expect_panic.h"
#include "kernel/cpu.h"
#include "kernel/printf.h"
#include "mm/divide.h"
#include "mm/foresee.h"
#include "mm/frame.h"
#include "mm/memory_args.h"
#include "mm/reclaim.h"
#include "mm/space.h"
#include "mm/swap.h"

enum { FRAMES = 700, LIMIT = 400, SLOTS = 60 * SLOT_CLUSTER, NODES = 8192, STEPS = 6000 };

/* ---- What pools stand on ---- */
bool host_irqs_on = true;
struct cpu cpus[CPU_MAX], *host_cpu = cpus;
uint64_t host_ticks = 1;
uint64_t memory_process_max = LIMIT * PAGE_SIZE, memory_user_max = MEMORY_UNLIMITED, memory_pool_global;
uint64_t memory_seed = 1, memory_weight = 1, memory_rate, memory_pools_always;
static const struct replace_ops *policy;
static const struct prefetch_ops *prefetching;

static struct page pages[FRAMES + 1];
static bool in_use[FRAMES + 1];
static unsigned frames_used, areas, bad_slots;
static struct slots *slots;
static void (*amid_alloc)(void); /* what another CPU does while this one allocates */

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

    assert_true(!order && n && n <= FRAMES && in_use[n]);
    in_use[n] = false;
    frames_used--;
}
void frame_stats(struct frame_stats *out)
{
    *out = (struct frame_stats){FRAMES, FRAMES - frames_used};
}
uint64_t frame_free_about(void)
{
    return FRAMES - frames_used;
}
void *kmalloc(size_t size)
{
    return calloc(1, size);
}
void kfree(void *p)
{
    free(p);
}
void *area_alloc(uint64_t bytes)
{
    if (amid_alloc)
        amid_alloc();
    areas++;
    return calloc(1, bytes);
}
void area_free(void *p)
{
    areas -= p != NULL;
    free(p);
}
bool swap_present(void)
{
    return true;
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
/* What is not called here. */
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
int thread_create(const struct thread_params *params, struct thread **out)
{
    (void)params, (void)out;
    abort();
}
void thread_start(struct thread *t)
{
    (void)t;
}
void thread_put(struct thread *t)
{
    (void)t;
}
void swap_init(void)
{
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

/* ---- The world ---- */

static struct pool *pool;
static struct space space;
static uint64_t seed;
static uint32_t in_hand; /* frames charged, and no node's */

static uint32_t below(uint32_t n)
{
    return (uint32_t)(test_random(&seed) % n);
}

/* Some node in one of these states (a bit each), or NODE_NONE. */
static uint32_t some_node(unsigned states)
{
    uint32_t n = below(pool->capacity);

    for (uint32_t i = 0; i < pool->capacity; i++, n = (n + 1) % pool->capacity)
        if (states >> pool->nodes[n].state & 1)
            return n;
    return NODE_NONE;
}

static bool is_being_written(uint32_t n)
{
    return pool->nodes[n].state == NODE_WRITING || (pool->nodes[n].flags & NODE_BEHIND);
}

/* A reading or writing ends, well or not.  False: none is under way. */
static bool end_some_transfer(void)
{
    uint32_t n = below(pool->capacity);

    for (uint32_t i = 0; i < pool->capacity; i++, n = (n + 1) % pool->capacity) {
        int status = below(8) ? 0 : -EIO;
        bool alone = below(2) || (pool->nodes[n].flags & NODE_ALONE);
        if (pool->nodes[n].state == NODE_COMING)
            swap_read_done(pool, n, status);
        else if (is_being_written(n))
            swap_write_done(pool, n, status, alone);
        else
            continue;
        return true;
    }
    return false;
}

static void sleep_until_a_transfer_ends(struct spinlock *guard, bool *irq)
{
    spin_unlock(guard, *irq);
    assert_true(end_some_transfer()); /* else it would sleep for ever */
    *irq = spin_lock(guard);
}
int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    (void)q, (void)deadline_ns;
    sleep_until_a_transfer_ends(guard, irq);
    return 0;
}
void wait_sleep_through(struct wait_queue *q, struct spinlock *guard, bool *irq)
{
    (void)q;
    sleep_until_a_transfer_ends(guard, irq);
}

/* As mm/evict.c, of a page at a time; what the page table would say of a mapped page is drawn. */
unsigned evict_batch(struct pool *p, uint32_t count, uint32_t incoming)
{
    unsigned left = 0;
    bool irq = spin_lock(&p->lock);

    for (unsigned tries = 0; left < count && tries < 2 * LIMIT; tries++) {
        uint32_t n = p->ops->victim(p->state, incoming);
        if (n == REPLACE_NONE)
            break;
        struct node *node = &p->nodes[n];
        assert_true(node->state == NODE_HERE || node->state == NODE_READY);
        if (node->state == NODE_HERE && below(2))
            node->flags |= NODE_DIRTY;
        bool needs = (node->flags & NODE_DIRTY) && node->slot == SLOT_NONE && !(node->flags & NODE_BEHIND);
        if (needs)
            node->slot = swap_slot_take(SLOT_NONE, n % SLOT_CLUSTER);
        if ((node->flags & NODE_BEHIND) || (needs && node->slot == SLOT_NONE)) {
            p->ops->touch(p->state, n);
            continue;
        }
        foresee_wasted(p, n);
        node->flags &= ~NODE_FRESH;
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
    spin_unlock(&p->lock, irq);
    return left;
}

static uint32_t get_frame(void)
{
    uint32_t n = 1 + below(FRAMES);

    while (in_use[n])
        n = n % FRAMES + 1;
    in_use[n] = true;
    frames_used++;
    return n;
}

/* ---- Steps ---- */

static void begin_a_page(void)
{
    if (pool->free_head == NODE_NONE && pool->capacity < NODES)
        assert_int_equal(pool_grow(pool), 0);
    if (pool->free_head == NODE_NONE || pool_charge(pool, NODE_NONE))
        return;
    bool irq = spin_lock(&pool->lock);
    uint32_t n = pool_node_new(pool, &space, (vaddr_t)(test_random(&seed) % 10000 + 1) << PAGE_SHIFT,
                               get_frame(), (uint8_t)below(4));
    assert_int_not_equal(n, NODE_NONE);
    spin_unlock(&pool->lock, irq);
}

/* Somebody needs it, or it is foreseen. */
static void bring_a_page(void)
{
    uint32_t n = some_node(1 << NODE_OUT);
    struct prefetch_list list = {0};

    if (n == NODE_NONE || pool_charge(pool, n))
        return;
    bool irq = spin_lock(&pool->lock);
    struct node *node = &pool->nodes[n];
    uint32_t frame = get_frame();
    node->frame = frame;
    pages[frame].next = n;
    node->flags &= ~NODE_FAILED;
    pool->held++;
    if (node->slot == SLOT_NONE) {
        pool->ops->enter(pool->state, n, node->region);
        pool_set_state(pool, n, NODE_HERE);
    } else if (below(2)) {
        foresee_fault(pool, n, &list);
        pool_set_state(pool, n, NODE_COMING);
    } else {
        node->flags |= NODE_UNUSED;
        pool->unused++;
        pool->stats.prefetched++;
        if (pool->prefetch)
            foresee_fetched(pool, n);
        pool_set_state(pool, n, NODE_COMING);
    }
    spin_unlock(&pool->lock, irq);
}

/* One that is there, ready, or still being written, is used. */
static void use_a_page(void)
{
    uint32_t n = some_node(1 << NODE_HERE | 1 << NODE_READY | 1 << NODE_WRITING);
    struct prefetch_list list = {0};

    if (n == NODE_NONE || !pool->nodes[n].space)
        return;
    bool irq = spin_lock(&pool->lock);
    struct node *node = &pool->nodes[n];
    if (node->state == NODE_WRITING) {
        node->flags |= NODE_BEHIND;
        pool->ops->enter(pool->state, n, node->region);
    } else {
        foresee_wanted(pool, n, false, &list);
        pool->ops->touch(pool->state, n);
    }
    if (node->state != NODE_HERE)
        pool_set_state(pool, n, NODE_HERE);
    spin_unlock(&pool->lock, irq);
}

static void forget_a_page(void)
{
    uint32_t n = some_node(~(1u << NODE_FREE));

    if (n == NODE_NONE || !pool->nodes[n].space || (pool->nodes[n].flags & NODE_BEHIND))
        return;
    bool irq = spin_lock(&pool->lock);
    uint32_t frame = pool_forget(pool, n);
    spin_unlock(&pool->lock, irq);
    if (frame) {
        frame_free(frame_address(&pages[frame]), 0);
        pool_uncharge(pool, 1);
    }
}

static void charge_and_give_back(void)
{
    if (in_hand < 5 && below(2) && !pool_charge(pool, NODE_NONE)) {
        in_hand++;
    } else if (in_hand) {
        pool_uncharge(pool, 1);
        in_hand--;
    }
}

/* Every frame and slot is exactly one node's. */
static void check(void)
{
    uint32_t frames = 0, taken = 0;

    pool_check(pool);
    assert_null(slots_check(slots));
    for (uint32_t n = 0; n < pool->capacity; n++) {
        const struct node *node = &pool->nodes[n];
        if (node->state == NODE_FREE)
            continue;
        frames += node->frame != 0;
        taken += node->slot != SLOT_NONE;
        assert_true(!node->frame || in_use[node->frame]);
        assert_true(!(node->flags & NODE_ALONE) || (node->flags & NODE_DIRTY));
        assert_true(node->state != NODE_OUT ||
                    !(node->flags & NODE_DIRTY)); /* what was written is not lost */
    }
    assert_int_equal(frames, frames_used);
    assert_int_equal(frames + in_hand, pool->frames);
    assert_true(pool->frames <= LIMIT);
    assert_int_equal(taken + bad_slots + slots->free, slots->slots);
}

static void step(void)
{
    uint32_t what = below(100);

    if (what < 25)
        begin_a_page();
    else if (what < 45)
        bring_a_page();
    else if (what < 65)
        use_a_page();
    else if (what < 85)
        end_some_transfer();
    else if (what < 93)
        forget_a_page();
    else if (what < 96)
        charge_and_give_back();
    else if (what < 97)
        pool_set_target(pool, below(2 * LIMIT));
    else
        evict_batch(pool, 1 + below(20), NODE_NONE);
}

static void make(void)
{
    slots = malloc(slots_bytes(SLOTS));
    slots_init(slots, SLOTS);
    bad_slots = 0;
    assert_int_equal(pool_join(NULL, &pool), 0);
    space = (struct space){.pool = pool};
}

/* All pages go; whatever is under way ends while the pool waits for it. */
static void end(void)
{
    for (; in_hand; in_hand--)
        pool_uncharge(pool, 1);
    for (uint32_t n = 0; n < pool->capacity; n++) {
        while (pool->nodes[n].flags & NODE_BEHIND)
            end_some_transfer();
        bool irq = spin_lock(&pool->lock);
        uint32_t frame = pool->nodes[n].space ? pool_forget(pool, n) : 0;
        spin_unlock(&pool->lock, irq);
        if (frame) {
            frame_free(frame_address(&pages[frame]), 0);
            pool_uncharge(pool, 1);
        }
    }
    pool_leave(pool);
    assert_int_equal(frames_used, 0);
    assert_int_equal(areas, 0);
    assert_int_equal(slots->free + bad_slots, slots->slots);
    assert_int_equal(pools_number(), 0);
    free(slots);
}

static void no_frame_and_no_slot_is_lost_by_any_policy(void **state)
{
    (void)state;
    for (const struct replace_ops *const *r = replace_policies; *r; r++)
        for (const struct prefetch_ops *const *a = prefetch_policies; *a; a++) {
            policy = *r;
            prefetching = *a;
            seed = (uint64_t)(1 + (r - replace_policies) * 16 + (a - prefetch_policies));
            make();
            for (unsigned i = 0; i < STEPS; i++) {
                step();
                if (i % 16 == 0)
                    check();
            }
            check();
            assert_true(pool->stats.page_ins > 100 && pool->stats.page_outs > 100 && bad_slots);
            end();
        }
}

static void grow_on_another_cpu(void)
{
    amid_alloc = NULL;
    assert_int_equal(pool_grow(pool), 0);
}

static void two_threads_grow_a_pool_at_once(void **state)
{
    (void)state;
    policy = &replace_lru;
    for (const struct prefetch_ops *const *a = prefetch_policies; *a; a++) {
        prefetching = *a;
        seed = 7;
        make();
        while (pool->free_head != NODE_NONE) {
            begin_a_page();
            end_some_transfer();
        }
        uint32_t before = pool->capacity;
        amid_alloc = grow_on_another_cpu;
        assert_int_equal(pool_grow(pool), 0);
        assert_int_equal(pool->capacity, 2 * before);
        assert_int_equal(pool_grow(pool), 0); /* there is room now */
        assert_int_equal(pool->capacity, 2 * before);
        check();
        end();
    }
}

static struct prefetch *hidden;

/* From the first allocation to that for the prefetch policy, the third, its table is not to be looked at. */
static void hide_tables(void)
{
    static unsigned calls;

    if (calls++ == 0) {
        hidden = pool->prefetch;
        pool->prefetch = (struct prefetch *)8;
    } else if (calls == 3) {
        pool->prefetch = hidden;
        amid_alloc = NULL;
        calls = 0;
    }
}

/* Another thread may replace and free them at that moment. */
static void a_pool_that_grows_does_not_look_into_its_tables_unlocked(void **state)
{
    (void)state;
    policy = &replace_lru;
    for (const struct prefetch_ops *const *a = prefetch_policies; *a; a++) {
        prefetching = *a;
        if (prefetching == &prefetch_none)
            continue;
        make();
        while (pool->free_head != NODE_NONE) {
            begin_a_page();
            end_some_transfer();
        }
        amid_alloc = hide_tables;
        assert_int_equal(pool_grow(pool), 0);
        assert_null(amid_alloc);
        check();
        end();
    }
}

static uint32_t page_being_written(void)
{
    begin_a_page();
    for (uint32_t n; (n = some_node(1 << NODE_HERE)) != NODE_NONE;) {
        pool->nodes[n].flags |= NODE_DIRTY;
        evict_batch(pool, 1, NODE_NONE);
        return n;
    }
    fail();
    return NODE_NONE;
}

static void pages_that_fail_together_keep_their_slots_and_alone_lose_them(void **state)
{
    (void)state;
    policy = &replace_lru;
    prefetching = prefetch_policies[0];
    seed = 3;
    make();
    uint32_t n = page_being_written(), slot = pool->nodes[n].slot;
    swap_write_done(pool, n, -EIO, false);
    const struct node *node = &pool->nodes[n];
    assert_int_equal(node->state, NODE_READY);
    assert_true((node->flags & NODE_ALONE) && (node->flags & NODE_DIRTY));
    assert_int_equal(node->slot, slot);
    assert_int_equal(bad_slots, 0);
    assert_int_equal(evict_batch(pool, 1, NODE_NONE), 1);
    swap_write_done(pool, n, -EIO, true);
    assert_int_equal(node->slot, SLOT_NONE);
    assert_true(!(node->flags & NODE_ALONE) && (node->flags & NODE_DIRTY));
    assert_int_equal(bad_slots, 1);
    assert_int_equal(evict_batch(pool, 1, NODE_NONE), 1);
    swap_write_done(pool, n, 0, false);
    assert_int_equal(node->state, NODE_OUT);
    assert_int_equal(pool->stats.write_errors, 1);
    check();
    end();
}

/* ---- Two pools that together may have LIMIT frames ---- */

enum { BURST = 16 }; /* reclaim.c's DONATION */

static struct pool *other;

static void swap_pools(void)
{
    struct pool *p = pool;

    pool = other;
    other = p;
    space.pool = pool;
}

/* A page that has to be written before it can leave. */
static void begin_a_dirty_page(void)
{
    assert_int_equal(pool_charge(pool, NODE_NONE), 0);
    bool irq = spin_lock(&pool->lock);
    uint32_t n = pool_node_new(pool, &space, PAGE_SIZE, get_frame(), 0);
    pool->nodes[n].flags |= NODE_DIRTY;
    spin_unlock(&pool->lock, irq);
}

/* `pool` and `other` have what they are to have, which is all that pools keep. */
static void make_two(uint32_t part)
{
    policy = &replace_lru;
    prefetching = prefetch_policies[0];
    memory_user_max = LIMIT * PAGE_SIZE;
    memory_process_max = MEMORY_UNLIMITED;
    seed = 11;
    make();
    assert_int_equal(pool_join(NULL, &other), 0);
    pool_set_target(pool, part);
    pool_set_target(other, pools_memory() - part);
    for (unsigned i = 0; i < 2; i++, swap_pools())
        while (pool->frames < pool->target)
            begin_a_dirty_page();
    assert_int_equal(pool->leaving + other->leaving, 0);
}

static void end_pages(void)
{
    for (uint32_t n = 0; n < pool->capacity; n++) {
        bool irq = spin_lock(&pool->lock);
        uint32_t frame = pool->nodes[n].space ? pool_forget(pool, n) : 0;
        spin_unlock(&pool->lock, irq);
        if (frame) {
            frame_free(frame_address(&pages[frame]), 0);
            pool_uncharge(pool, 1);
        }
    }
}

static void end_two(void)
{
    swap_pools();
    end_pages();
    pool_leave(pool);
    swap_pools();
    end();
    memory_user_max = MEMORY_UNLIMITED;
    memory_process_max = LIMIT * PAGE_SIZE;
}

/* Whichever of them is larger: a loop that just fits misses on every page once it has lost a few. */
static void a_pool_that_keeps_to_its_part_loses_nothing_to_one_that_does_not(void **state)
{
    (void)state;
    for (unsigned large = 0; large < 2; large++) {
        make_two(large ? LIMIT * 3 / 4 : LIMIT / 4);
        for (unsigned i = 0; i < LIMIT; i++) {
            swap_pools();
            begin_a_dirty_page();
            swap_pools();
            assert_int_equal(pool->frames, pool->target);
            assert_int_equal(pool->leaving, 0);
            assert_true(other->frames - other->leaving + BURST >= other->target);
        }
        end_two();
    }
}

static void of_two_that_have_less_than_their_parts_the_one_that_lacks_less_gives(void **state)
{
    (void)state;
    make_two(LIMIT * 3 / 4);
    pool_set_target(pool, LIMIT);
    pool_set_target(other, other->target + 1);
    uint32_t frames = pool->frames;
    for (unsigned i = 0; i < BURST; i++) {
        swap_pools();
        begin_a_dirty_page();
        swap_pools();
    }
    assert_int_equal(pool->frames, frames);
    end_two();
}

static void what_is_on_its_way_out_is_reckoned_with(void **state)
{
    (void)state;
    make_two(LIMIT / 2);
    while (!other->leaving) {
        swap_pools();
        begin_a_dirty_page();
        swap_pools();
    }
    /* The first of a burst has left, or could not be written, as others will: no further ones go before all of them have ended. */
    assert_true(other->leaving < BURST);
    for (uint32_t leaving; (leaving = other->leaving) > 1;) {
        swap_pools();
        begin_a_dirty_page();
        swap_pools();
        assert_true(other->leaving < leaving);
    }
    end_two();
}

static void pools_keep_less_than_they_may_have(void **state)
{
    (void)state;
    memory_user_max = LIMIT * PAGE_SIZE;
    assert_int_equal(pools_memory(), LIMIT - pool_reserve_of(LIMIT));
    memory_user_max = 0;
    assert_int_equal(pools_memory(), 0);
    memory_user_max = MEMORY_UNLIMITED;
}

/* Nobody is still to tell of the use that brought it where nobody watched. */
static void a_page_is_fresh_only_where_a_tracker_watches(void **state)
{
    (void)state;
    make();
    for (unsigned watched = 0; watched < 2; watched++) {
        space.watched = watched;
        assert_int_equal(pool_charge(pool, NODE_NONE), 0);
        bool irq = spin_lock(&pool->lock);
        uint32_t n = pool_node_new(pool, &space, (watched + 1) * PAGE_SIZE, get_frame(), 0);
        assert_int_equal(pool->nodes[n].flags & NODE_FRESH, watched ? NODE_FRESH : 0);
        spin_unlock(&pool->lock, irq);
    }
    space.watched = false;
    end_pages();
    end();
}

/* Two threads that wait at the same time hold the program up no longer than one. */
static void waits_at_the_same_time_hold_up_once(void **state)
{
    (void)state;
    make();
    pool_waited_locked(pool, 100, 200);
    pool_waited_locked(pool, 150, 250);
    pool_waited_locked(pool, 160, 250);
    pool_waited_locked(pool, 300, 310);
    assert_int_equal(pool->held_up_ns, 160);
    assert_int_equal(pool->stats.waited_ns, 300);
    assert_int_equal(pool->stats.major_faults, 4);
    end();
}

/* Arguments may be those of an application that was started meanwhile. */
static void a_childs_pool_is_like_its_parents(void **state)
{
    struct pool *child;

    (void)state;
    policy = &replace_lirs;
    prefetching = &prefetch_ppg;
    memory_weight = 8;
    memory_rate = 50;
    make();
    memory_weight = 1;
    memory_rate = 0;
    memory_process_max = LIMIT / 2 * PAGE_SIZE;
    policy = &replace_lru;
    prefetching = &prefetch_none;
    assert_int_equal(pool_join(pool, &child), 0);
    assert_ptr_not_equal(child, pool);
    assert_int_equal(child->weight, 8);
    assert_int_equal(child->rate_max, 50);
    assert_int_equal(child->limit, LIMIT);
    assert_ptr_equal(child->ops, &replace_lirs);
    assert_ptr_equal(child->ahead, &prefetch_ppg);
    assert_non_null(child->prefetch);
    pool_leave(child);
    assert_int_equal(pool_join(NULL, &child), 0);
    assert_int_equal(child->weight, 1);
    assert_int_equal(child->limit, LIMIT / 2);
    assert_null(child->ahead);
    pool_leave(child);
    memory_process_max = LIMIT * PAGE_SIZE;
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_frame_and_no_slot_is_lost_by_any_policy),
        cmocka_unit_test(two_threads_grow_a_pool_at_once),
        cmocka_unit_test(a_pool_that_grows_does_not_look_into_its_tables_unlocked),
        cmocka_unit_test(pages_that_fail_together_keep_their_slots_and_alone_lose_them),
        cmocka_unit_test(a_pool_that_keeps_to_its_part_loses_nothing_to_one_that_does_not),
        cmocka_unit_test(of_two_that_have_less_than_their_parts_the_one_that_lacks_less_gives),
        cmocka_unit_test(what_is_on_its_way_out_is_reckoned_with),
        cmocka_unit_test(pools_keep_less_than_they_may_have),
        cmocka_unit_test(a_page_is_fresh_only_where_a_tracker_watches),
        cmocka_unit_test(waits_at_the_same_time_hold_up_once),
        cmocka_unit_test(a_childs_pool_is_like_its_parents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
