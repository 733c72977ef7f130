/* Which READY thread runs: one simulated CPU, with threads that compute and sleep, in cases by hand
 * and at random. */
#include "test/host/double/expect_panic.h"
#include "sched/policy/ready.h"

enum { THREADS = 24 };
#define SLICE_NS  (3 * NS_PER_MS)
#define STARVE_NS (50 * NS_PER_MS)

/* A thread that runs for run_ns, then sleeps for sleep_ns, again and again. run_ns 0: it never
 * sleeps. */
struct thread {
    struct ready_thread ready;
    uint64_t run_ns, sleep_ns;
    enum { ABSENT, ASLEEP, WAITING, RUNNING } state;
    uint64_t left_ns; /* time until it sleeps */
    uint64_t slice_ns, slice_left_ns;
    uint64_t wake_ns;  /* asleep: time it wakes */
    uint64_t since_ns; /* waiting: time since when */
    uint64_t got_ns, longest_ns;
    unsigned runs;
    bool known; /* it has waited before */
};

struct cpu {
    struct ready_queue q;
    struct thread thread[THREADS], *current;
    unsigned threads;
    uint64_t now_ns, slice_end_ns;
    uint64_t seed;
    unsigned switches;
};

static struct cpu *begin_cpu(void)
{
    static struct cpu c;

    c = (struct cpu){.seed = 1};
    ready_init(&c.q);
    return &c;
}

static struct thread *add_thread(struct cpu *c, uint8_t prio, uint64_t run_ns, uint64_t sleep_ns)
{
    struct thread *t = &c->thread[c->threads++];

    *t = (struct thread){
        .ready.prio = prio, .run_ns = run_ns, .sleep_ns = sleep_ns, .state = ASLEEP};
    list_init(&t->ready.link);
    t->wake_ns = c->now_ns;
    return t;
}

static void wait_again(struct cpu *c, struct thread *t, enum ready_how how)
{
    t->state = WAITING;
    t->since_ns = c->now_ns;
    ready_add(&c->q, &t->ready, t->known ? how : READY_NEW, c->now_ns);
    t->known = true;
}

static void choose(struct cpu *c)
{
    struct ready_thread *next = ready_take(&c->q, c->now_ns, STARVE_NS);

    if (c->current && next != &c->current->ready && c->current->state == RUNNING)
        fail_msg("the running thread is lost");
    c->current = next ? container_of(next, struct thread, ready) : NULL;
    if (!next)
        return;
    struct thread *t = c->current;
    t->state = RUNNING;
    t->runs++;
    t->longest_ns = MAX(t->longest_ns, c->now_ns - t->since_ns);
    if (!t->slice_left_ns)
        t->slice_left_ns = t->slice_ns = SLICE_NS * 3 / 4 + test_random(&c->seed) % (SLICE_NS / 2);
    c->slice_end_ns = c->now_ns + t->slice_left_ns;
    c->switches++;
}

static void wake_due(struct cpu *c)
{
    for (unsigned i = 0; i < c->threads; i++) {
        struct thread *t = &c->thread[i];
        if (t->state != ASLEEP || t->wake_ns > c->now_ns)
            continue;
        t->left_ns = t->run_ns;
        wait_again(c, t, READY_WOKEN);
        if (!c->current || !ready_preempts(&c->q, &t->ready))
            continue;
        c->current->slice_left_ns = c->slice_end_ns - c->now_ns;
        wait_again(c, c->current, c->current->slice_left_ns ? READY_PREEMPTED : READY_OVER);
        choose(c);
    }
}

/* Lets the current thread run until something happens. */
static void pass(struct cpu *c, uint64_t until_ns)
{
    struct thread *t = c->current;
    uint64_t end_ns = until_ns;

    for (unsigned i = 0; i < c->threads; i++)
        if (c->thread[i].state == ASLEEP)
            end_ns = MIN(end_ns, c->thread[i].wake_ns);
    if (t) {
        end_ns = MIN(end_ns, c->slice_end_ns);
        if (t->run_ns)
            end_ns = MIN(end_ns, c->now_ns + t->left_ns);
        t->got_ns += end_ns - c->now_ns;
        ready_charge(&t->ready, end_ns - c->now_ns, t->slice_ns);
        t->left_ns -= t->run_ns ? end_ns - c->now_ns : 0;
    }
    c->now_ns = end_ns;
    if (t && t->run_ns && !t->left_ns) {
        t->state = ASLEEP;
        t->wake_ns = c->now_ns + t->sleep_ns;
        t->slice_left_ns = 0;
        c->current = NULL;
    } else if (t && c->now_ns >= c->slice_end_ns) {
        if (ready_slice_over(&c->q, c->now_ns, STARVE_NS)) {
            t->slice_left_ns = 0;
            wait_again(c, t, READY_OVER);
            c->current = NULL;
        } else {
            c->slice_end_ns += t->slice_ns;
        }
    }
}

static void run_cpu(struct cpu *c, uint64_t ns)
{
    uint64_t until_ns = c->now_ns + ns;

    while (c->now_ns < until_ns) {
        wake_due(c);
        if (!c->current)
            choose(c);
        assert_ptr_equal(c->q.running, c->current ? &c->current->ready : NULL);
        pass(c, until_ns);
        ready_check(&c->q);
    }
}

/* ---- Between priorities ---------------------------------------------------------------------- */

static void a_higher_priority_runs_as_soon_as_it_wants_to(void **state)
{
    struct cpu *c = begin_cpu();

    (void)state;
    add_thread(c, PRIO_NORMAL, 0, 0);
    struct thread *high = add_thread(c, PRIO_HIGH, NS_PER_MS, 7 * NS_PER_MS);
    run_cpu(c, 2 * NS_PER_S);
    assert_int_equal(high->longest_ns, 0);
    assert_in_range(high->got_ns, NS_PER_S / 4 - NS_PER_MS, NS_PER_S / 4 + NS_PER_MS);
}

static void a_lower_priority_waits_while_a_higher_one_runs_but_not_longer_than_said(void **state)
{
    struct cpu *c = begin_cpu();

    (void)state;
    struct thread *high = add_thread(c, PRIO_HIGH, 0, 0), *low = add_thread(c, PRIO_LOW, 0, 0);
    run_cpu(c, 10 * NS_PER_S);
    assert_true(low->runs >= 180);
    assert_in_range(low->longest_ns, STARVE_NS, STARVE_NS + SLICE_NS * 5 / 4);
    assert_true(high->got_ns > low->got_ns * 13); /* strict but for that */
}

static void each_of_several_starved_threads_and_priorities_gets_its_turn(void **state)
{
    struct cpu *c = begin_cpu();
    struct thread *t[8];

    (void)state;
    add_thread(c, PRIO_KERNEL, 0, 0);
    for (unsigned i = 0; i < 8; i++)
        t[i] = add_thread(c, PRIO_LOW + i / 3, 0, 0);
    run_cpu(c, 20 * NS_PER_S);
    /* At most three threads have one priority, and before each turn come the running thread and
     * three other priorities. */
    for (unsigned i = 0; i < 8; i++)
        assert_in_range(t[i]->longest_ns, STARVE_NS, 3 * (STARVE_NS + 4 * SLICE_NS * 5 / 4));
}

/* If threads it preempted before could preempt it during its slice, it would hardly run. */
static void a_starved_thread_keeps_its_slice_though_a_higher_one_wakes(void **state)
{
    struct cpu *c = begin_cpu();

    (void)state;
    struct thread *low = add_thread(c, PRIO_LOW, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        add_thread(c, PRIO_HIGH, 300 * NS_PER_US, 50 * NS_PER_US);
    run_cpu(c, 10 * NS_PER_S);
    assert_true(low->got_ns >= 170 * SLICE_NS);
}

static void a_thread_that_comes_from_another_cpu_brings_its_waiting_with_it(void **state)
{
    struct ready_queue q;
    struct ready_thread high = {.prio = PRIO_HIGH}, low = {.prio = PRIO_LOW};

    (void)state;
    ready_init(&q);
    list_init(&high.link);
    list_init(&low.link);
    ready_add(&q, &high, READY_WOKEN, 60 * NS_PER_MS);
    ready_add(&q, &low, READY_WOKEN, 5 * NS_PER_MS);
    assert_ptr_equal(ready_take(&q, 60 * NS_PER_MS, STARVE_NS), &low);
}

/* ---- In one priority ------------------------------------------------------------------------- */

static void threads_that_compute_get_equal_shares(void **state)
{
    struct cpu *c = begin_cpu();

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        add_thread(c, PRIO_NORMAL, 0, 0);
    run_cpu(c, 5 * NS_PER_S);
    for (unsigned i = 0; i < 5; i++) {
        assert_in_range(c->thread[i].got_ns, 980 * NS_PER_MS, 1020 * NS_PER_MS);
        assert_true(c->thread[i].longest_ns <= 5 * SLICE_NS * 5 / 4);
    }
}

/* Beside threads that only compute, a thread that needs less than its share never waits for it. */
static void a_sleeper_runs_as_soon_as_it_wakes(void **state)
{
    struct cpu *c = begin_cpu();

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        add_thread(c, PRIO_NORMAL, 0, 0);
    run_cpu(c, 100 * NS_PER_MS);
    struct thread *seldom = add_thread(c, PRIO_NORMAL, 50 * NS_PER_US, 20 * NS_PER_MS);
    run_cpu(c, 30 * NS_PER_MS);
    seldom->longest_ns = 0; /* a new thread waits once */
    run_cpu(c, 2 * NS_PER_S);
    assert_int_equal(seldom->longest_ns, 0);
    assert_true(seldom->runs > 90);
}

static void a_thread_that_sleeps_gets_no_more_than_an_even_share(void **state)
{
    static const uint64_t run_us[] = {10, 200, 1000, 2900, 4000, 7000, 20000};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(run_us); i++) {
        for (uint64_t sleep_us = 1; sleep_us < 3000; sleep_us *= 7) {
            struct cpu *c = begin_cpu();
            struct thread *computes = add_thread(c, PRIO_NORMAL, 0, 0);
            add_thread(c, PRIO_NORMAL, run_us[i] * NS_PER_US, sleep_us * NS_PER_US);
            run_cpu(c, 3 * NS_PER_S);
            assert_true(computes->got_ns >= 1460 * NS_PER_MS);
        }
    }
}

/* After a long sleep a thread is ahead by one slice and the others' next turn: unused time is not
 * saved up. */
static void a_long_sleep_gains_a_slice_and_no_more(void **state)
{
    struct cpu *c = begin_cpu();

    (void)state;
    struct thread *computes = add_thread(c, PRIO_NORMAL, 0, 0);
    add_thread(c, PRIO_NORMAL, 400 * NS_PER_MS, 2 * NS_PER_S);
    run_cpu(c, 2300 * NS_PER_MS);
    computes->got_ns = computes->longest_ns = 0;
    run_cpu(c, 600 * NS_PER_MS);
    assert_true(computes->longest_ns <= 3 * SLICE_NS);
    assert_true(computes->got_ns >= 300 * NS_PER_MS - 3 * SLICE_NS);
}

static void a_preempted_thread_goes_on_with_its_slice_before_others_have_theirs(void **state)
{
    struct ready_queue q;
    struct ready_thread t[3];

    (void)state;
    ready_init(&q);
    for (unsigned i = 0; i < 3; i++) {
        t[i] = (struct ready_thread){.prio = PRIO_NORMAL};
        list_init(&t[i].link);
        if (i < 2)
            ready_add(&q, &t[i], READY_NEW, 0);
    }
    assert_ptr_equal(ready_take(&q, 0, STARVE_NS), &t[0]);
    ready_charge(&t[0], SLICE_NS / 2, SLICE_NS);
    t[2].start = 0; /* has slept since the start */
    ready_add(&q, &t[2], READY_WOKEN, 1);
    assert_true(ready_preempts(&q, &t[2]));
    ready_add(&q, &t[0], READY_PREEMPTED, 1);
    assert_ptr_equal(ready_take(&q, 1, STARVE_NS), &t[2]);
    assert_ptr_equal(ready_take(&q, 2, STARVE_NS), &t[0]);
}

static void a_thread_that_yields_comes_after_all_that_wait(void **state)
{
    struct ready_queue q;
    struct ready_thread t[5];

    (void)state;
    ready_init(&q);
    for (unsigned i = 0; i < 5; i++) {
        t[i] = (struct ready_thread){.prio = PRIO_NORMAL};
        list_init(&t[i].link);
        ready_add(&q, &t[i], READY_NEW, 0);
    }
    for (unsigned turn = 0; turn < 1000; turn++) {
        struct ready_thread *next = ready_take(&q, turn, STARVE_NS);
        assert_ptr_equal(next, &t[turn % 5]);
        ready_charge(next, turn % 3 * SLICE_NS / 5, SLICE_NS);
        ready_add(&q, next, READY_YIELDED, turn);
        ready_check(&q);
    }
}

static void a_thread_takes_its_lead_or_lag_with_it(void **state)
{
    struct ready_queue from, to;
    struct ready_thread t = {.prio = PRIO_NORMAL}, other = {.prio = PRIO_NORMAL};

    (void)state;
    ready_init(&from);
    ready_init(&to);
    list_init(&t.link);
    list_init(&other.link);
    ready_add(&to, &other, READY_NEW, 0);
    for (unsigned i = 0; i < 50; i++) { /* virtual time has passed there */
        assert_ptr_equal(ready_take(&to, i, STARVE_NS), &other);
        ready_charge(&other, SLICE_NS, SLICE_NS);
        ready_add(&to, &other, READY_OVER, i);
    }
    t.start = from.level[PRIO_NORMAL].now + READY_SLICE / 2;
    ready_transfer(&from, &to, &t);
    assert_int_equal(t.start, to.level[PRIO_NORMAL].now + READY_SLICE / 2);
    ready_set_priority(&to, &t, PRIO_HIGH);
    assert_int_equal(t.start, to.level[PRIO_HIGH].now + READY_SLICE / 2);
}

/* ---- Against a plain list -------------------------------------------------------------------- */

/* The rules of ready.h, checked one by one on a list: tags within a bucket count as equal, and a
 * preempted thread comes before them. */
struct plain {
    struct ready_thread t;
    int64_t order;
    bool waits;
};

static bool earlier(const struct plain *a, const struct plain *b)
{
    uint64_t at = a->t.start / READY_BUCKET, bt = b->t.start / READY_BUCKET;

    return a->t.prio != b->t.prio ? a->t.prio > b->t.prio
           : at != bt             ? at < bt
                                  : a->order < b->order;
}

static struct plain *best_of(struct plain *all, unsigned n, const struct plain *after)
{
    struct plain *best = NULL;

    for (unsigned i = 0; i < n; i++)
        if (all[i].waits && (!after || earlier(after, &all[i])) &&
            (!best || earlier(&all[i], best)))
            best = &all[i];
    return best;
}

/* Checks the order from the last thread of each priority to the first. */
static void check_reverse_order(const struct ready_queue *q, struct plain *all, unsigned n)
{
    struct ready_thread *it = ready_last(q);
    struct plain *order[THREADS];
    unsigned count = 0;

    for (struct plain *p = best_of(all, n, NULL); p; p = best_of(all, n, p))
        order[count++] = p;
    for (unsigned first = 0; first < count;) {
        unsigned end = first;
        while (end < count && order[end]->t.prio == order[first]->t.prio)
            end++;
        for (unsigned i = end; i-- > first; it = ready_before(q, it))
            assert_ptr_equal(it, &order[i]->t);
        first = end;
    }
    assert_null(it);
}

static void random_operations_keep_the_order_of_a_plain_list(void **state)
{
    static struct plain all[THREADS];
    struct ready_queue q;
    uint64_t seed = 3, now_ns = 1;

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        struct plain *running = NULL;
        int64_t stamp = 0;
        ready_init(&q);
        for (unsigned i = 0; i < THREADS; i++) {
            all[i] = (struct plain){.t.prio = (uint8_t)(PRIO_LOW + test_random(&seed) % 4)};
            list_init(&all[i].t.link);
        }
        for (unsigned step = 0; step < 400; step++, now_ns++) {
            struct plain *p = &all[test_random(&seed) % THREADS];
            if (running)
                ready_charge(&running->t, test_random(&seed) % SLICE_NS, SLICE_NS);
            if (p->waits && test_random(&seed) % 4 == 0) {
                ready_remove(&q, &p->t);
                p->waits = false;
            } else if (!p->waits && p != running) {
                ready_add(&q, &p->t, test_random(&seed) % 2 ? READY_WOKEN : READY_NEW, now_ns);
                p->waits = true;
                p->order = ++stamp;
            } else {
                if (running && test_random(&seed) % 4) {
                    enum ready_how how = READY_PREEMPTED + test_random(&seed) % 3;
                    ready_add(&q, &running->t, how, now_ns);
                    running->waits = true;
                    running->order = how == READY_PREEMPTED ? -++stamp : ++stamp;
                }
                running = best_of(all, THREADS, NULL);
                assert_ptr_equal(ready_take(&q, now_ns, STARVE_NS), running ? &running->t : NULL);
                if (running)
                    running->waits = false;
            }
            ready_check(&q);
            check_reverse_order(&q, all, THREADS);
        }
    }
}

/* Of the threads of one priority that compute all the time, none is ahead of another by more than a
 * turn. A thread that sometimes sleeps has had no more than these, but for its credit. */
static void check_even_shares(const struct cpu *c)
{
    for (unsigned i = 0; i < c->threads; i++) {
        for (unsigned k = 0; k < c->threads; k++) {
            const struct thread *a = &c->thread[i], *b = &c->thread[k];
            if (a->ready.prio == b->ready.prio && !b->run_ns)
                /* slices differ in length */
                assert_true(a->got_ns <= b->got_ns * 103 / 100 + 4 * SLICE_NS);
        }
    }
}

/* Whatever the threads do, the CPU is never idle while one waits, and none waits longer than
 * ready.h says. */
static void random_threads_all_get_their_turn(void **state)
{
    uint64_t seed = 77;

    (void)state;
    for (unsigned round = 0; round < 100; round++) {
        struct cpu *c = begin_cpu();
        unsigned n = 2 + test_random(&seed) % (THREADS - 2), at[PRIO_COUNT] = {0}, most = 0;
        c->seed = seed;
        for (unsigned i = 0; i < n; i++) {
            uint8_t prio = (uint8_t)(PRIO_LOW + test_random(&seed) % 4);
            bool computes = test_random(&seed) % 3 == 0;
            add_thread(c, prio, computes ? 0 : 1 + test_random(&seed) % (10 * NS_PER_MS),
                       1 + test_random(&seed) % (10 * NS_PER_MS));
            most = MAX(most, ++at[prio]);
        }
        run_cpu(c, 3 * NS_PER_S);
        check_even_shares(c);
        for (unsigned i = 0; i < n; i++)
            assert_true(c->thread[i].longest_ns <= 3 * most * (STARVE_NS + 5 * SLICE_NS * 5 / 4));
    }
}

static void broken_uses_are_found(void **state)
{
    struct ready_queue q;
    struct ready_thread t = {.prio = PRIO_LOW};

    (void)state;
    ready_init(&q);
    list_init(&t.link);
    EXPECT_PANIC(ready_remove(&q, &t));
    ready_add(&q, &t, READY_WOKEN, 0);
    EXPECT_PANIC(ready_add(&q, &t, READY_WOKEN, 0));
    t.prio = PRIO_HIGH;
    EXPECT_PANIC(ready_check(&q));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_higher_priority_runs_as_soon_as_it_wants_to),
        cmocka_unit_test(a_lower_priority_waits_while_a_higher_one_runs_but_not_longer_than_said),
        cmocka_unit_test(each_of_several_starved_threads_and_priorities_gets_its_turn),
        cmocka_unit_test(a_starved_thread_keeps_its_slice_though_a_higher_one_wakes),
        cmocka_unit_test(a_thread_that_comes_from_another_cpu_brings_its_waiting_with_it),
        cmocka_unit_test(threads_that_compute_get_equal_shares),
        cmocka_unit_test(a_sleeper_runs_as_soon_as_it_wakes),
        cmocka_unit_test(a_thread_that_sleeps_gets_no_more_than_an_even_share),
        cmocka_unit_test(a_long_sleep_gains_a_slice_and_no_more),
        cmocka_unit_test(a_preempted_thread_goes_on_with_its_slice_before_others_have_theirs),
        cmocka_unit_test(a_thread_that_yields_comes_after_all_that_wait),
        cmocka_unit_test(a_thread_takes_its_lead_or_lag_with_it),
        cmocka_unit_test(random_operations_keep_the_order_of_a_plain_list),
        cmocka_unit_test(random_threads_all_get_their_turn),
        cmocka_unit_test(broken_uses_are_found),
    };

    return cmocka_run_group_tests_name("ready", tests, NULL, NULL);
}
