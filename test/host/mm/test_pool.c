/*
 * Pools against a model of every page: the owner of each frame and slot, and which pages are
 * resident, under random uses, evictions, reads and writes that end in any order, or fail, while
 * the pool grows and its target moves.
 */
#include "test/host/double/pooling.h"
#include "mm/pool/prefetching.h"
#include "mm/pool/reclaim.h"
#include "mm/pool/page_io.h"
#include "mm/pool/swap.h"

enum { NODES = 8192, STEPS = 6000 };

/* ---- Steps ----------------------------------------------------------------------------------- */

static void begin_a_page(void)
{
    if (pool->free_head == NODE_NONE && pool->capacity < NODES)
        assert_int_equal(pool_grow(pool), 0);
    if (pool->free_head == NODE_NONE || pool_charge(pool, NODE_NONE))
        return;
    bool irq = spin_lock(&pool->lock);
    uint32_t n =
        pool_node_new(pool, &space, (vaddr_t)(test_random(&seed) % 10000 + 1) << PAGE_SHIFT,
                      get_frame(), (uint8_t)below(4));
    assert_int_not_equal(n, NODE_NONE);
    spin_unlock(&pool->lock, irq);
}

/* Reads a page because a thread needs it, or ahead of that. */
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
        pool_enter_locked(pool, n);
        node->mapped = 1;
        pool_set_state(pool, n, NODE_HERE);
    } else if (below(2)) {
        prefetching_fault(pool, &space, n, &list);
        pool_set_state(pool, n, NODE_COMING);
    } else {
        node->flags |= NODE_UNUSED;
        pool->prefetching.unused++;
        pool->stats.prefetched++;
        if (pool->prefetching.policy)
            prefetching_fetched(pool, n);
        pool_set_state(pool, n, NODE_COMING);
    }
    spin_unlock(&pool->lock, irq);
}

/* Uses a page that is HERE, READY or still WRITING. */
static void use_a_page(void)
{
    uint32_t n = some_node(1 << NODE_HERE | 1 << NODE_READY | 1 << NODE_WRITING);
    struct prefetch_list list = {0};

    if (n == NODE_NONE || !pool->nodes[n].lineage)
        return;
    bool irq = spin_lock(&pool->lock);
    struct node *node = &pool->nodes[n];
    if (node->state == NODE_WRITING) {
        node->flags |= NODE_RESCUED;
        pool_enter_locked(pool, n);
    } else {
        prefetching_wanted(pool, &space, n, false, &list);
        pool_touch_locked(pool, n);
    }
    node->mapped = 1;
    if (node->state != NODE_HERE)
        pool_set_state(pool, n, NODE_HERE);
    spin_unlock(&pool->lock, irq);
}

static void forget_a_page(void)
{
    uint32_t n = some_node(~(1u << NODE_FREE));

    if (n != NODE_NONE && !(pool->nodes[n].flags & NODE_RESCUED))
        forget(n);
}

static uint32_t in_hand; /* frames charged that are no node's */

static void charge_and_give_back(void)
{
    if (in_hand < 5 && below(2) && !pool_charge(pool, NODE_NONE)) {
        in_hand++;
    } else if (in_hand) {
        pool_uncharge(pool, 1);
        in_hand--;
    }
}

/* Checks that every frame and slot belongs to exactly one node. */
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
        pool_set_target(pool, below(2 * LIMIT), false);
    else
        evict_batch(pool, 1 + below(20), NODE_NONE);
}

static void no_frame_and_no_slot_is_lost_by_any_policy(void **state)
{
    (void)state;
    for (const struct replace_ops *const *r = replace_policies; *r; r++)
        for (const struct prefetch_ops *const *a = prefetch_policies; *a; a++) {
            policy = *r;
            prefetching = *a;
            in_hand = 0;
            seed = (uint64_t)(1 + (r - replace_policies) * 16 + (a - prefetch_policies));
            make();
            for (unsigned i = 0; i < STEPS; i++) {
                step();
                if (i % 16 == 0)
                    check();
            }
            check();
            assert_true(pool->stats.page_ins > 100 && pool->stats.page_outs > 100 && bad_slots);
            for (; in_hand; in_hand--)
                pool_uncharge(pool, 1);
            end();
        }
}

static void a_pool_grows_only_when_it_has_no_free_node(void **state)
{
    (void)state;
    for (const struct prefetch_ops *const *a = prefetch_policies; *a; a++) {
        prefetching = *a;
        make();
        while (pool->free_head != NODE_NONE) {
            begin_a_page();
            end_some_transfer();
        }
        uint32_t before = pool->capacity;
        assert_int_equal(pool_grow(pool), 0);
        assert_int_equal(pool->capacity, 2 * before);
        assert_int_equal(pool_grow(pool), 0); /* there is room for nodes now */
        assert_int_equal(pool->capacity, 2 * before);
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

static void pages_keep_their_slots_if_a_write_together_fails_and_lose_them_alone(void **state)
{
    (void)state;
    make();
    uint32_t n = page_being_written(), slot = pool->nodes[n].slot;
    page_write_done(pool, n, -EIO, false);
    const struct node *node = &pool->nodes[n];
    assert_int_equal(node->state, NODE_READY);
    assert_true((node->flags & NODE_ALONE) && (node->flags & NODE_DIRTY));
    assert_int_equal(node->slot, slot);
    assert_int_equal(bad_slots, 0);
    assert_int_equal(evict_batch(pool, 1, NODE_NONE), 1);
    page_write_done(pool, n, -EIO, true);
    assert_int_equal(node->slot, SLOT_NONE);
    assert_true(!(node->flags & NODE_ALONE) && (node->flags & NODE_DIRTY));
    assert_int_equal(bad_slots, 1);
    assert_int_equal(evict_batch(pool, 1, NODE_NONE), 1);
    page_write_done(pool, n, 0, false);
    assert_int_equal(node->state, NODE_OUT);
    assert_int_equal(pool->stats.write_errors, 1);
    check();
    end();
}

/* Returns a page that is out, in a slot, with a frame to be read into; `asked`: a thread waits for
 * it. */
static uint32_t page_being_read(bool asked)
{
    uint32_t n = page_being_written();

    page_write_done(pool, n, 0, true);
    assert_int_equal(pool->nodes[n].state, NODE_OUT);
    assert_int_equal(pool_charge(pool, n), 0);
    bool irq = spin_lock(&pool->lock);
    struct node *node = &pool->nodes[n];
    node->frame = get_frame();
    pages[node->frame].next = n;
    pool->held++;
    node->flags |= asked ? 0 : NODE_UNUSED;
    pool->prefetching.unused += !asked;
    pool_set_state(pool, n, NODE_COMING);
    spin_unlock(&pool->lock, irq);
    return n;
}

/* A thread that comes later tries again, and so does one that asked for a page read with others. */
static void only_a_read_alone_for_a_waiting_thread_is_an_error(void **state)
{
    (void)state;
    make();
    for (unsigned i = 0; i < 4; i++) {
        bool asked = i & 1, alone = i & 2;
        uint32_t n = page_being_read(asked), slot = pool->nodes[n].slot, frames = pool->frames;
        const struct node *node = &pool->nodes[n];
        page_read_done(pool, n, -EIO, alone);
        assert_int_equal(node->state, NODE_OUT);
        assert_int_equal(node->flags & (NODE_FAILED | NODE_UNUSED),
                         asked && alone ? NODE_FAILED : 0);
        assert_int_equal(node->slot, slot);
        assert_int_equal(node->frame, 0);
        assert_int_equal(pool->frames, frames - 1);
        assert_int_equal(pool->stats.read_errors, i + 1);
        check();
    }
    end();
}

static void an_orphan_is_freed_however_its_read_ends(void **state)
{
    (void)state;
    make();
    for (unsigned fails = 0; fails < 2; fails++) {
        uint32_t n = page_being_read(true);
        forget(n);
        assert_int_equal(pool->nodes[n].state, NODE_COMING);
        page_read_done(pool, n, fails ? -EIO : 0, true);
        assert_int_equal(pool->nodes[n].state, NODE_FREE);
        assert_int_equal(pool->stats.read_errors, 0);
        check();
    }
    end();
}

static uint32_t new_page(vaddr_t va)
{
    assert_int_equal(pool_charge(pool, NODE_NONE), 0);
    bool irq = spin_lock(&pool->lock);
    uint32_t n = pool_node_new(pool, &space, va, get_frame(), 0);
    spin_unlock(&pool->lock, irq);
    return n;
}

/* Where no tracker watches, none will report the use that brought a page in. */
static void a_page_is_fresh_only_where_a_tracker_watches(void **state)
{
    (void)state;
    make();
    for (unsigned watched = 0; watched < 2; watched++) {
        space.watched = watched;
        uint32_t n = new_page((watched + 1) * PAGE_SIZE);
        assert_int_equal(pool->nodes[n].flags & NODE_FRESH, watched ? NODE_FRESH : 0);
    }
    space.watched = false;
    end();
}

/* LRU, which asks about a node after each call that allows a question. */
static uint32_t about, question = REPLACE_NONE;
static unsigned victim_calls, answers;
static enum page_buffered answer;
static bool had_answers;

static int init_asking(void *state, const struct replace_config *config)
{
    had_answers = config->answers;
    return replace_lru.init(state, config);
}

static void touch_asking(void *state, uint32_t node)
{
    replace_lru.touch(state, node);
    question = about;
}

static void enter_asking(void *state, uint32_t node, uint32_t region)
{
    replace_lru.enter(state, node, region);
    question = about;
}

static uint32_t victim_asking(void *state, uint32_t incoming)
{
    if (victim_calls++ == 0)
        question = about;
    return question == REPLACE_NONE ? replace_lru.victim(state, incoming) : REPLACE_NONE;
}

static void resize_asking(void *state, uint32_t frames)
{
    replace_lru.resize(state, frames);
    question = about;
}

static uint32_t open_question(const void *state)
{
    (void)state;
    return question;
}

static void take_answer(void *state, uint32_t node, enum page_buffered is)
{
    (void)state;
    assert_int_equal(node, question);
    question = REPLACE_NONE;
    answers++;
    answer = is;
}

/* The policy knows nodes, the tracker pages. */
static void a_policy_is_answered_what_the_buffer_has_of_a_page(void **state)
{
    struct replace_ops asking = replace_lru;

    (void)state;
    asking.init = init_asking;
    asking.touch = touch_asking;
    asking.enter = enter_asking;
    asking.victim = victim_asking;
    asking.resize = resize_asking;
    asking.asks = open_question;
    asking.tell = take_answer;
    policy = &asking;
    about = question = REPLACE_NONE;
    victim_calls = answers = 0;
    make();
    assert_true(had_answers);
    uint32_t first = new_page(PAGE_SIZE);
    hidden_page = 2 * PAGE_SIZE;
    about = first;
    uint32_t second = new_page(2 * PAGE_SIZE); /* enter */
    assert_int_equal(answers, 1);
    assert_int_equal(answer, BUFFER_NOT_KEPT);
    about = second;
    bool irq = spin_lock(&pool->lock);
    pool_touch_locked(pool, first);
    assert_int_equal(answers, 2);
    assert_int_equal(answer, BUFFER_USED);
    assert_int_equal(pool_victim_locked(pool, REPLACE_NONE), second); /* the second call's */
    assert_int_equal(victim_calls, 2);
    assert_int_equal(answers, 3);
    spin_unlock(&pool->lock, irq);
    about = pool->free_head; /* a node without a page */
    pool_set_target(pool, LIMIT / 2, false);
    assert_int_equal(answers, 4);
    assert_int_equal(answer, BUFFER_UNKNOWN);
    about = REPLACE_NONE;
    end();
}

/* Two threads that wait at the same time hold the program up no longer than one. */
static void waits_at_the_same_time_hold_up_once(void **state)
{
    (void)state;
    make();
    pool_wait_begins_locked(pool, 100);
    pool_wait_begins_locked(pool, 150);
    pool_wait_ends_locked(pool, 100, 200, true);
    pool_wait_begins_locked(pool, 160); /* of a fault before it was known to wait */
    pool_wait_ends_locked(pool, 150, 250, true);
    pool_wait_ends_locked(pool, 160, 250, true);
    assert_int_equal(pool_held_up_locked(pool, 290), 150);
    pool_wait_begins_locked(pool, 240);
    pool_wait_ends_locked(pool, 300, 310, false);
    assert_int_equal(pool->held_up.ns, 210);
    assert_int_equal(pool->stats.waited_ns, 290);
    assert_int_equal(pool->stats.major_faults, 3);
    end();
}

/* A wait counts as far as it has come: a program that waits for page after another does not
 * work. */
static void a_wait_holds_up_before_it_ends(void **state)
{
    (void)state;
    make();
    pool_wait_begins_locked(pool, 100);
    assert_int_equal(pool_held_up_locked(pool, 170), 70);
    assert_int_equal(pool_held_up_locked(pool, 160), 70); /* another CPU's clock */
    assert_int_equal(pool->stats.major_faults, 0);
    pool_wait_ends_locked(pool, 100, 300, true);
    assert_int_equal(pool_held_up_locked(pool, 400), 200);
    assert_int_equal(pool->stats.waited_ns, 200);
    end();
}

/* A resident page that is used again moves in the order by use, not in the order by misses. */
static void pages_are_in_the_orders_that_the_prefetch_policy_needs(void **state)
{
    (void)state;
    for (unsigned by_use = 0; by_use < 2; by_use++) {
        prefetching = by_use ? &prefetch_ppg_published : &prefetch_ppg;
        make();
        uint32_t first = new_page(PAGE_SIZE), second = new_page(2 * PAGE_SIZE);
        bool irq = spin_lock(&pool->lock);
        struct lrustack *const *order = pool->prefetching.order;
        assert_int_equal(!order[PREFETCH_BY_MISS], by_use);
        prefetching_used(pool, first);
        assert_int_equal(order[PREFETCH_BY_USE]->bottom, second);
        if (!by_use)
            assert_int_equal(order[PREFETCH_BY_MISS]->bottom, first);
        prefetching_missed(pool, first);
        if (!by_use)
            assert_int_equal(order[PREFETCH_BY_MISS]->bottom, second);
        spin_unlock(&pool->lock, irq);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_frame_and_no_slot_is_lost_by_any_policy),
        TEST(a_pool_grows_only_when_it_has_no_free_node),
        TEST(pages_keep_their_slots_if_a_write_together_fails_and_lose_them_alone),
        TEST(only_a_read_alone_for_a_waiting_thread_is_an_error),
        TEST(an_orphan_is_freed_however_its_read_ends),
        TEST(a_page_is_fresh_only_where_a_tracker_watches),
        TEST(a_policy_is_answered_what_the_buffer_has_of_a_page),
        TEST(waits_at_the_same_time_hold_up_once),
        TEST(a_wait_holds_up_before_it_ends),
        TEST(pages_are_in_the_orders_that_the_prefetch_policy_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
