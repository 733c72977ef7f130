/* Which READY thread runs: on one simulated CPU, with threads that compute, sleep, and come in random order. */
#include "test/host/expect_panic.h"
#include "sched/ready.h"

enum { THREADS = 24 };
#define SLICE_NS  (3 * NS_PER_MS)
#define STARVE_NS (50 * NS_PER_MS)

/* Runs for run_ns, then sleeps for sleep_ns, again and again; run_ns 0: never sleeps. */
struct thread {
    struct ready_thread ready;
    uint64_t run_ns, sleep_ns;
    enum { ABSENT, ASLEEP, WAITING, RUNNING } state;
    uint64_t left_ns;  /* to run until it sleeps */
    uint64_t wake_ns;  /* asleep: until when */
    uint64_t since_ns; /* waiting: since when */
    uint64_t got_ns, longest_ns;
    unsigned runs;
};

struct cpu {
    struct ready_queue q;
    struct thread thread[THREADS], *current;
    unsigned threads;
    uint64_t now_ns, slice_end_ns;
    uint64_t seed;
    unsigned switches;
};

static struct cpu *begin(void)
{
    static struct cpu c;

    c = (struct cpu){.seed = 1};
    ready_init(&c.q);
    return &c;
}

static struct thread *add(struct cpu *c, uint8_t prio, uint64_t run_ns, uint64_t sleep_ns)
{
    struct thread *t = &c->thread[c->threads++];

    *t = (struct thread){.ready.prio = prio, .run_ns = run_ns, .sleep_ns = sleep_ns, .state = ASLEEP};
    list_init(&t->ready.link);
    t->wake_ns = c->now_ns;
    return t;
}

static void wait_again(struct cpu *c, struct thread *t, enum ready_how how)
{
    t->state = WAITING;
    t->since_ns = c->now_ns;
    ready_add(&c->q, &t->ready, how, c->now_ns);
}

static void choose(struct cpu *c)
{
    struct ready_thread *next = ready_take(&c->q, c->now_ns, STARVE_NS);

    c->current = next ? container_of(next, struct thread, ready) : NULL;
    if (!next)
        return;
    struct thread *t = c->current;
    t->state = RUNNING;
    t->runs++;
    t->longest_ns = MAX(t->longest_ns, c->now_ns - t->since_ns);
    c->slice_end_ns = c->now_ns + SLICE_NS * 3 / 4 + test_random(&c->seed) % (SLICE_NS / 2);
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
        if (!c->current || !ready_preempts(&c->q, &c->current->ready, &t->ready))
            continue;
        wait_again(c, c->current, READY_PREEMPTED);
        choose(c);
    }
}

/* What the current thread does until something happens. */
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
        t->left_ns -= t->run_ns ? end_ns - c->now_ns : 0;
    }
    c->now_ns = end_ns;
    if (t && t->run_ns && !t->left_ns) {
        t->state = ASLEEP;
        t->wake_ns = c->now_ns + t->sleep_ns;
        c->current = NULL;
    } else if (t && c->now_ns >= c->slice_end_ns) {
        if (ready_slice_over(&c->q, &t->ready, c->now_ns, STARVE_NS)) {
            wait_again(c, t, READY_OVER);
            c->current = NULL;
        } else {
            c->slice_end_ns += SLICE_NS;
        }
    }
}

static void run(struct cpu *c, uint64_t ns)
{
    uint64_t until_ns = c->now_ns + ns;

    while (c->now_ns < until_ns) {
        wake_due(c);
        if (!c->current)
            choose(c);
        pass(c, until_ns);
        ready_check(&c->q);
    }
}

/* ---- Between priorities ---- */

static void a_higher_priority_runs_as_soon_as_it_wants_to(void **state)
{
    struct cpu *c = begin();

    (void)state;
    add(c, PRIO_NORMAL, 0, 0);
    struct thread *high = add(c, PRIO_HIGH, NS_PER_MS, 7 * NS_PER_MS);
    run(c, 2 * NS_PER_S);
    assert_int_equal(high->longest_ns, 0);
    assert_in_range(high->got_ns, NS_PER_S / 4 - NS_PER_MS, NS_PER_S / 4 + NS_PER_MS);
}

static void a_lower_priority_waits_while_a_higher_one_runs_but_not_longer_than_said(void **state)
{
    struct cpu *c = begin();

    (void)state;
    struct thread *high = add(c, PRIO_HIGH, 0, 0), *low = add(c, PRIO_LOW, 0, 0);
    run(c, 10 * NS_PER_S);
    assert_true(low->runs >= 180);
    assert_in_range(low->longest_ns, STARVE_NS, STARVE_NS + SLICE_NS * 5 / 4);
    assert_true(high->got_ns > low->got_ns * 13); /* strict otherwise */
}

static void each_of_several_starved_threads_and_priorities_gets_its_turn(void **state)
{
    struct cpu *c = begin();
    struct thread *t[8];

    (void)state;
    add(c, PRIO_KERNEL, 0, 0);
    for (unsigned i = 0; i < 8; i++)
        t[i] = add(c, PRIO_LOW + i / 3, 0, 0);
    run(c, 20 * NS_PER_S);
    /* At most three at one priority, and at each turn three priorities and the running thread before it. */
    for (unsigned i = 0; i < 8; i++)
        assert_in_range(t[i]->longest_ns, STARVE_NS, 3 * (STARVE_NS + 4 * SLICE_NS * 5 / 4));
}

/* It would hardly get anywhere if those it waits for could take back what it was given. */
static void a_starved_thread_keeps_its_slice_though_a_higher_one_wakes(void **state)
{
    struct cpu *c = begin();

    (void)state;
    struct thread *low = add(c, PRIO_LOW, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        add(c, PRIO_HIGH, 300 * NS_PER_US, 50 * NS_PER_US);
    run(c, 10 * NS_PER_S);
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

/* ---- In one priority ---- */

static void threads_that_compute_get_equal_shares(void **state)
{
    struct cpu *c = begin();

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        add(c, PRIO_NORMAL, 0, 0);
    run(c, 5 * NS_PER_S);
    for (unsigned i = 0; i < 5; i++) {
        assert_in_range(c->thread[i].got_ns, 980 * NS_PER_MS, 1020 * NS_PER_MS);
        assert_true(c->thread[i].longest_ns <= 5 * SLICE_NS * 5 / 4);
    }
}

static void the_order_from_last_to_first_is_that_of_taking_reversed_in_each_priority(void **state)
{
    struct ready_queue q;
    struct ready_thread t[40], *order[40];
    uint64_t seed = 5;
    unsigned n = 0;

    (void)state;
    ready_init(&q);
    for (unsigned i = 0; i < 40; i++) {
        t[i] = (struct ready_thread){.prio = (uint8_t)(PRIO_LOW + test_random(&seed) % 4)};
        list_init(&t[i].link);
        ready_add(&q, &t[i], READY_WOKEN, 0);
    }
    for (struct ready_thread *it = ready_last(&q); it; it = ready_before(&q, it))
        order[n++] = it;
    assert_int_equal(n, 40);
    for (unsigned last = 0; last < 40;) { /* one priority at a time, the highest first */
        unsigned end = last;
        while (end < 40 && order[end]->prio == order[last]->prio)
            end++;
        for (unsigned i = end; i-- > last;)
            assert_ptr_equal(ready_take(&q, 0, STARVE_NS), order[i]);
        last = end;
    }
    assert_null(ready_take(&q, 0, STARVE_NS));
}

/* Whatever threads there are: the CPU is never idle while one waits, and none waits longer than said. */
static void random_threads_all_get_their_turn(void **state)
{
    uint64_t seed = 77;

    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        struct cpu *c = begin();
        unsigned n = 2 + test_random(&seed) % (THREADS - 2), at[PRIO_COUNT] = {0}, most = 0;
        c->seed = seed;
        for (unsigned i = 0; i < n; i++) {
            uint8_t prio = (uint8_t)(PRIO_LOW + test_random(&seed) % 4);
            bool computes = test_random(&seed) % 3 == 0;
            add(c, prio, computes ? 0 : 1 + test_random(&seed) % (10 * NS_PER_MS),
                1 + test_random(&seed) % (10 * NS_PER_MS));
            most = MAX(most, ++at[prio]);
        }
        run(c, 3 * NS_PER_S);
        for (unsigned i = 0; i < n; i++)
            assert_true(c->thread[i].longest_ns <= most * (STARVE_NS + 4 * SLICE_NS * 5 / 4));
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
        cmocka_unit_test(the_order_from_last_to_first_is_that_of_taking_reversed_in_each_priority),
        cmocka_unit_test(random_threads_all_get_their_turn),
        cmocka_unit_test(broken_uses_are_found),
    };

    return cmocka_run_group_tests_name("ready", tests, NULL, NULL);
}
