/* How much memory pools may have: what two pools that together may have LIMIT frames take from each
 * other, and what a new one gets. */
#include "test/host/double/pooling.h"
#include "mm/pool/args.h"
#include "mm/pool/reclaim.h"
#include "kernel/mem/mem.h"

enum { BURST = 16 }; /* reclaim.c's DONATION */

/* Makes a page that must be written before it can be evicted. */
static void begin_a_dirty_page(void)
{
    assert_int_equal(pool_charge(pool, NODE_NONE), 0);
    bool irq = spin_lock(&pool->lock);
    uint32_t n = pool_node_new(pool, &space, PAGE_SIZE, get_frame(), 0);
    pool->nodes[n].flags |= NODE_DIRTY;
    spin_unlock(&pool->lock, irq);
}

/* Makes `pool` and `other`, filled up to their targets, which together are all that pools keep. */
static void make_two(uint32_t part)
{
    mem_user = LIMIT * PAGE_SIZE;
    mem_process = MEMORY_UNLIMITED;
    make();
    assert_int_equal(pool_join(NULL, NULL, &other), 0);
    pool_set_target(pool, part, false);
    pool_set_target(other, pools_memory() - part, false);
    for (unsigned i = 0; i < 2; i++, swap_pools())
        while (pool->frames < pool->share.target)
            begin_a_dirty_page();
    assert_int_equal(pool->leaving + other->leaving, 0);
}

static void end_two(void)
{
    swap_pools();
    leave();
    swap_pools();
    other = NULL;
    end();
}

/* Whichever is larger: a loop that just fits misses on every page once it has lost a few. */
static void a_pool_within_its_share_loses_nothing_to_one_above_it(void **state)
{
    (void)state;
    for (unsigned large = 0; large < 2; large++) {
        make_two(large ? LIMIT * 3 / 4 : LIMIT / 4);
        for (unsigned i = 0; i < LIMIT; i++) {
            swap_pools();
            begin_a_dirty_page();
            swap_pools();
            assert_int_equal(pool->frames, pool->share.target);
            assert_int_equal(pool->leaving, 0);
            assert_true(other->frames - other->leaving + BURST >= other->share.target);
        }
        end_two();
    }
}

/* Frames beyond the cap stay free; afterwards the pool may have them. */
static void a_bound_pool_has_no_more_than_its_target(void **state)
{
    (void)state;
    make_two(1);
    frames_max = FRAMES_MAX; /* memory is free */
    mem_user = FRAMES_MAX * PAGE_SIZE;
    for (unsigned bound = 2; bound-- > 0;) {
        pool_set_target(pool, LIMIT / 4, bound);
        pool_set_target(other, LIMIT / 4, false);
        for (unsigned i = 0; i < LIMIT / 2; i++) {
            begin_a_dirty_page();
            assert_true(!bound || pool->frames <= LIMIT / 4);
        }
        assert_int_equal(pool->frames > LIMIT / 4, !bound);
    }
    end_two();
}

static void of_two_pools_below_their_shares_the_one_that_lacks_less_gives(void **state)
{
    (void)state;
    make_two(LIMIT * 3 / 4);
    pool_set_target(pool, LIMIT, false);
    pool_set_target(other, other->share.target + 1, false);
    uint32_t frames = pool->frames;
    for (unsigned i = 0; i < BURST; i++) {
        swap_pools();
        begin_a_dirty_page();
        swap_pools();
    }
    assert_int_equal(pool->frames, frames);
    end_two();
}

/* Returns the bytes that twice as many nodes take beyond the present ones. */
static uint64_t bytes_to_grow(void)
{
    uint32_t nodes = pool->capacity;

    return nodes * sizeof(struct node) + policy->bytes(2 * nodes) - policy->bytes(nodes) +
           prefetch_bytes(prefetching, 2 * nodes) - prefetch_bytes(prefetching, nodes) +
           prefetching->orders * (lrustack_bytes(2 * nodes) - lrustack_bytes(nodes));
}

/* Fills all nodes, most of them out, until tables for twice as many take more than the kernel's
 * reserve. */
static void make_full(void)
{
    enum { MANY = 20000 };

    policy = &replace_chooser;
    prefetching = &prefetch_ppg;
    mem_process = MEMORY_UNLIMITED;
    frames_max = FRAMES_MAX;
    paging_start(); /* it counts the machine's frames */
    areas_cost = true;
    make();
    slots = realloc(slots, slots_bytes(MANY));
    slots_init(slots, MANY);
    for (;;) {
        while (pool->free_head != NODE_NONE)
            begin_a_dirty_page();
        if (bytes_to_grow() > frame_free_about() * PAGE_SIZE)
            break;
        assert_int_equal(pool_grow(pool), 0);
    }
    assert_true(pool_is_short(pool) && pool->capacity > pool->limit);
}

static void a_full_memory_does_not_keep_a_pool_from_having_more_nodes(void **state)
{
    (void)state;
    make_full();
    uint32_t before = pool->capacity;
    uint64_t free = frame_free_about();
    assert_int_equal(pool_grow(pool), 0);
    assert_int_equal(pool->capacity, 2 * before);
    assert_true(frame_free_about() + BURST >= free); /* the kernel's reserve is full again */
    for (unsigned i = 0; i < 100; i++)
        begin_a_dirty_page();
    pool_check(pool);
    end();
}

static void a_pool_does_not_grow_if_no_page_can_be_evicted(void **state)
{
    (void)state;
    make_full();
    uint32_t before = pool->capacity;
    uint64_t free = frame_free_about();
    while (end_some_transfer())
        ;
    stuck = pool;
    assert_int_equal(pool_grow(pool), -ENOMEM);
    assert_int_equal(pool->capacity, before);
    stuck = NULL;
    assert_true(frame_free_about() >= free);
    assert_int_equal(pool_grow(pool), 0);
    end();
}

/* Before they are allocated, with the 52 KB of the prefetch chooser. */
static void a_pools_tables_are_charged_to_its_process(void **state)
{
    struct memory_account account = {.limit = MEMORY_UNLIMITED, .refs = 1};

    (void)state;
    policy = &replace_chooser;
    prefetching = &prefetch_chooser;
    make();
    assert_int_equal(pool_join(NULL, &account, &other), 0);
    uint32_t nodes = other->capacity;
    assert_in_range(account.used,
                    nodes * sizeof(struct node) + policy->bytes(nodes) +
                        prefetch_bytes(prefetching, nodes),
                    pool_tables_bytes(other, nodes));
    swap_pools();
    while (pool->free_head != NODE_NONE)
        begin_a_dirty_page();
    account.limit = account.used + pool_bytes_to_grow(pool) - 1;
    assert_int_equal(pool_grow(pool), -EDQUOT);
    assert_int_equal(pool->capacity, nodes);
    account.limit++;
    assert_int_equal(pool_grow(pool), 0);
    assert_int_equal(pool->capacity, 2 * nodes);
    assert_int_equal(account.used, account.limit);
    assert_int_equal(pool_bytes_to_grow(pool), 0);
    swap_pools();
    end_two();
    assert_int_equal(account.used, 0);
}

/* All spaces share it; none of them alone is charged. */
static void tables_of_the_common_pool_are_charged_to_none(void **state)
{
    struct memory_account account = {.limit = 0, .refs = 1};

    (void)state;
    mem_pool = true;
    assert_int_equal(pool_join(NULL, &account, &other), 0);
    assert_int_equal(account.used, 0);
    pool_leave(other);
    other = NULL;
    mem_pool = false;
}

static unsigned sleeps, in_hand;

/* A thread of the other pool, which has just lost a page and is awake, takes all that is free. */
static void other_takes_what_is_free(void)
{
    assert_true(++sleeps <= 2 * BURST); /* else the first thread would wait for ever */
    swap_pools();
    while (pool_charge_now(pool))
        in_hand++;
    swap_pools();
}

static void threads_that_wait_for_memory_are_served_in_order(void **state)
{
    (void)state;
    in_hand = 0;
    make_two(LIMIT / 2);
    pool_set_target(pool, pool->share.target + LIMIT / 4, false);
    pool_set_target(other, other->share.target - LIMIT / 4, false);
    sleeps = 0;
    other_takes_what_is_free();
    amid_sleep = other_takes_what_is_free;
    for (unsigned i = 1; i <= LIMIT / 4; i++) {
        begin_a_dirty_page();
        sleeps = 0;
        other_takes_what_is_free();
    }
    amid_sleep = NULL;
    assert_true(pool->frames >= pool->share.target);
    swap_pools();
    pool_uncharge(pool, in_hand);
    in_hand = 0;
    swap_pools();
    end_two();
}

/* A loop that just fits would miss on every page once it has lost one. */
static void a_pool_gives_no_more_than_its_excess(void **state)
{
    (void)state;
    make_two(LIMIT / 2);
    uint32_t excess = LIMIT - pools_memory();
    assert_true(excess < BURST);
    pool_set_target(pool, pool->share.target - excess, false);
    pool_set_target(other, other->share.target + excess, false);
    for (unsigned i = 0; i < LIMIT / 4; i++) {
        swap_pools();
        begin_a_dirty_page();
        swap_pools();
        assert_true(pool->frames - pool->leaving >= pool->share.target);
    }
    assert_true(pool->frames - pool->leaving <= pool->share.target + 1);
    end_two();
}

/* Where memory is to be divided by curves but none exists yet. Without a goal, parts are even. */
static void before_there_is_a_plan_pools_keep_what_they_have(void **state)
{
    struct pool *small[2];

    (void)state;
    for (mem_goal = 0; mem_goal < 2; mem_goal++) {
        make_two(LIMIT * 5 / 8);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(pool_join(NULL, NULL, &small[i]), 0);
        pool_set_target(pool, 0, false);
        pool_set_target(other, 0, false);
        uint32_t had = pool->frames;
        for (unsigned i = 0; i < LIMIT; i++) {
            swap_pools();
            begin_a_dirty_page();
            swap_pools();
        }
        if (mem_goal)
            assert_int_equal(pool->frames - pool->leaving, had);
        else
            assert_in_range(pool->frames - pool->leaving, LIMIT / 2 - 2 * BURST, LIMIT / 2 + BURST);
        for (unsigned i = 0; i < 2; i++)
            pool_leave(small[i]);
        end_two();
    }
}

/* If no page of the pool furthest above its share can be evicted, others give. */
static void all_pools_are_asked_before_memory_is_exhausted(void **state)
{
    (void)state;
    make_two(LIMIT / 2);
    stuck = other;
    pool_set_target(other, LIMIT / 4, false);
    uint32_t frames = other->frames;
    swap_pools();
    for (unsigned i = 0; i < LIMIT / 4; i++)
        begin_a_dirty_page();
    swap_pools();
    assert_int_equal(other->frames, frames + LIMIT / 4);
    stuck = NULL;
    end_two();
}

/* Trackers watch while memory is short. */
static void memory_is_no_longer_short_when_a_quarter_is_free(void **state)
{
    (void)state;
    mem_process = MEMORY_UNLIMITED;
    make();
    while (!pool->is_short)
        begin_a_dirty_page();
    for (uint32_t n = 0; n < pool->capacity; n++)
        forget(n);
    begin_a_dirty_page();
    assert_false(pool->is_short);
    end();
}

static void pages_that_are_leaving_count_as_free(void **state)
{
    (void)state;
    make_two(LIMIT / 2);
    while (!other->leaving) {
        swap_pools();
        begin_a_dirty_page();
        swap_pools();
    }
    /* The first page of a batch has left, or could not be written, as others will: no further pages
     * are evicted before all of the batch have ended. */
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
    mem_user = LIMIT * PAGE_SIZE;
    assert_int_equal(pools_memory(), LIMIT - pool_reserve_of(LIMIT));
    mem_user = 0;
    assert_int_equal(pools_memory(), 0);
}

/* Though the arguments have changed meanwhile, for another application. */
static void a_childs_pool_is_like_its_parents(void **state)
{
    struct pool *child;

    (void)state;
    policy = &replace_lirs;
    prefetching = &prefetch_ppg;
    mem_weight = 8;
    mem_rate = 50;
    mem_seed = 7;
    mem_accessed = 0;
    make();
    mem_weight = 1;
    mem_rate = 0;
    mem_seed = 1;
    mem_accessed = 1;
    mem_process = LIMIT / 2 * PAGE_SIZE;
    policy = &replace_lru;
    prefetching = &prefetch_none;
    assert_int_equal(pool_join(pool, NULL, &child), 0);
    assert_ptr_not_equal(child, pool);
    assert_int_equal(child->share.weight, 8);
    assert_int_equal(child->share.rate_max, 50);
    assert_int_equal(child->seed, 7);
    assert_false(child->accessed);
    assert_int_equal(child->limit, LIMIT);
    assert_ptr_equal(child->ops, &replace_lirs);
    assert_ptr_equal(child->prefetching.ops, &prefetch_ppg);
    assert_non_null(child->prefetching.policy);
    pool_leave(child);
    assert_int_equal(pool_join(NULL, NULL, &child), 0);
    assert_int_equal(child->share.weight, 1);
    assert_int_equal(child->seed, 1);
    assert_true(child->accessed);
    assert_int_equal(child->limit, LIMIT / 2);
    assert_null(child->prefetching.ops);
    pool_leave(child);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bound_pool_has_no_more_than_its_target),
        TEST(a_pool_within_its_share_loses_nothing_to_one_above_it),
        TEST(of_two_pools_below_their_shares_the_one_that_lacks_less_gives),
        TEST(a_full_memory_does_not_keep_a_pool_from_having_more_nodes),
        TEST(a_pool_does_not_grow_if_no_page_can_be_evicted),
        TEST(a_pools_tables_are_charged_to_its_process),
        TEST(tables_of_the_common_pool_are_charged_to_none),
        TEST(threads_that_wait_for_memory_are_served_in_order),
        TEST(a_pool_gives_no_more_than_its_excess),
        TEST(before_there_is_a_plan_pools_keep_what_they_have),
        TEST(all_pools_are_asked_before_memory_is_exhausted),
        TEST(pages_that_are_leaving_count_as_free),
        TEST(pools_keep_less_than_they_may_have),
        TEST(a_childs_pool_is_like_its_parents),
        TEST(memory_is_no_longer_short_when_a_quarter_is_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
