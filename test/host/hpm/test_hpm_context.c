/* The counts of one thread or CPU as figures and as sums. */
#include "test/host/double/expect_panic.h"
#include "hpm/policy/context.h"

enum { COUNTERS = 2, SLICE = 10000, INSTRUCTIONS = 0, PINNED, FIRST, SECOND, THIRD, ASKED };

static const struct event instructions = {
    .config = 1, .counters = 3, .fixed = EVENT_NO_FIXED, .modes = 3};
static struct context_figures figures;
static struct mux_sum part[GROUP_EVENTS_MAX]; /* work space of context_sum */

static struct event event_number(unsigned n)
{
    return (struct event){.config = 10 + n, .counters = 3, .fixed = EVENT_NO_FIXED, .modes = 3};
}

/* Makes a plan: remote stalls on one counter of every group; stalls 0 and 1 and remote accesses
 * take turns on the other. */
static const struct hpm_plan *make_plan(uint32_t generation, uint64_t more)
{
    static struct hpm_plan plans[2];
    static struct plan_work work;
    struct plan_request r = {.counters = COUNTERS,
                             .generation = generation,
                             .slice = SLICE,
                             .always = {{0}, instructions},
                             .pinned = 1 << PINNED,
                             .wanted = ((1 << ASKED) - 1) | more};
    struct group_cause cause;

    r.event[INSTRUCTIONS] = instructions;
    for (unsigned i = PINNED; i < 10; i++) {
        r.event[i] = event_number(i);
        r.born[i] = i < ASKED ? 1 : generation;
    }
    assert_int_equal(plan_make(&plans[generation % 2], &r, &work, &cause), 0);
    return &plans[generation % 2];
}

static void forget_figures(void)
{
    figures = (struct context_figures){.instructions = GROUP_NIL};
    memset(figures.event, GROUP_NIL, sizeof figures.event);
}

static int set_up(void **state)
{
    (void)state;
    forget_figures();
    figures.instructions = INSTRUCTIONS;
    figures.event[EVENT_DCACHE(SOURCE_REMOTE_L2)] = PINNED;
    figures.event[EVENT_STALL(0)] = FIRST;
    figures.event[EVENT_STALL(1)] = SECOND;
    figures.event[EVENT_SERVED(SOURCE_REMOTE_L2)] = THIRD;
    return 0;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Adds what the group's events count at these rates per 1000 cycles, by logical count. */
static void add(struct hpm_context *c, const struct hpm_plan *plan, unsigned group, uint64_t cycles,
                const uint64_t *rate)
{
    uint64_t count[PLAN_COUNTERS_ALL] = {0};

    for (unsigned i = 0; i < plan->mux.group[group].seats; i++) {
        struct mux_seat seat = plan->mux.group[group].seat[i];
        count[seat.counter] = cycles * rate[seat.event] / 1000;
    }
    context_add(c, &plan->mux, group, cycles, cycles, count);
    context_end_slice(c, &plan->mux);
}

static void instructions_and_pinned_events_are_exact_at_any_time(void **state)
{
    const struct hpm_plan *plan = make_plan(1, 0);
    struct hpm_context c = {0};
    struct hpm_breakdown b;
    uint64_t cycles = 0, instructions_done = 0, pinned = 0;
    uint32_t seed = 7;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        uint64_t more = next_random(&seed) % 9000;
        uint64_t rate[GROUP_EVENTS_MAX] = {next_random(&seed) % 3000, next_random(&seed) % 500,
                                           next_random(&seed) % 500, 7, 8};
        add(&c, plan, next_random(&seed) % plan->mux.rounds.groups, more, rate);
        cycles += more;
        instructions_done += more * rate[INSTRUCTIONS] / 1000;
        pinned += more * rate[PINNED] / 1000;
        context_read(&c, &plan->mux, &figures, &b);
        assert_int_equal(b.cycles, cycles);
        assert_int_equal(b.instructions, instructions_done);
        assert_int_equal(b.dcache[SOURCE_REMOTE_L2], pinned);
    }
}

static void figures_are_scaled_by_the_part_they_were_seen_in(void **state)
{
    static const uint64_t rate[GROUP_EVENTS_MAX] = {900, 50, 100, 250, 0};
    const struct hpm_plan *plan = make_plan(1, 0);
    struct hpm_context c = {0};
    struct hpm_breakdown b;
    uint32_t seed = 3;

    (void)state;
    for (int i = 0; i < 3000; i++)
        add(&c, plan, next_random(&seed) % plan->mux.rounds.groups,
            1000 * (1 + next_random(&seed) % 20), rate);
    context_read(&c, &plan->mux, &figures, &b);
    assert_in_range(b.stall[0], b.cycles / 10 - b.cycles / 10000, b.cycles / 10);
    assert_in_range(b.stall[1], b.cycles / 4 - b.cycles / 10000, b.cycles / 4);
    assert_int_equal(b.served[SOURCE_REMOTE_L2], 0);
    assert_in_range(b.seen_permille, 250, 334);
}

static void the_few_figures_of_remote_accesses_are_those_of_the_breakdown(void **state)
{
    const struct hpm_plan *plan = make_plan(1, 0);
    struct hpm_context c = {0};
    struct hpm_breakdown b;
    struct hpm_remote r;
    uint32_t seed = 5;

    (void)state;
    for (int i = 0; i < 200; i++) {
        uint64_t rate[GROUP_EVENTS_MAX] = {900, next_random(&seed) % 300, 1, 1,
                                           next_random(&seed) % 300};
        add(&c, plan, next_random(&seed) % plan->mux.rounds.groups,
            500 + next_random(&seed) % 20000, rate);
        context_read(&c, &plan->mux, &figures, &b);
        context_read_remote(&c, &plan->mux, &figures, &r);
        assert_int_equal(r.cycles, b.cycles);
        assert_int_equal(r.stall, b.dcache[SOURCE_REMOTE_L2]);
        assert_int_equal(r.served, b.served[SOURCE_REMOTE_L2]);
    }
    assert_true(r.stall && r.served);
}

/* From the accesses, which may overlap, so that the estimate can exceed the cycles. */
static void remote_stalls_that_are_not_counted_are_estimated(void **state)
{
    const struct hpm_plan *plan = make_plan(1, 0);
    struct hpm_context c = {0};
    struct hpm_remote r;
    uint32_t seed = 5;

    (void)state;
    figures.event[EVENT_DCACHE(SOURCE_REMOTE_L2)] = GROUP_NIL;
    figures.remote_latency = 300;
    for (int i = 0; i < 200; i++) {
        uint64_t rate[GROUP_EVENTS_MAX] = {900, 0, 1, 1, i < 100 ? 2 : 100};
        add(&c, plan, next_random(&seed) % plan->mux.rounds.groups,
            500 + next_random(&seed) % 20000, rate);
        context_read_remote(&c, &plan->mux, &figures, &r);
        assert_int_equal(r.stall, MIN(300 * r.served, r.cycles));
        assert_true(i >= 100 || r.stall < r.cycles);
    }
    assert_int_equal(r.stall, r.cycles);
    figures.remote_latency = 0;
    context_read_remote(&c, &plan->mux, &figures, &r);
    assert_int_equal(r.stall, 0);
}

static void sums_of_threads_have_the_figures_of_their_breakdowns_added(void **state)
{
    const struct hpm_plan *plan = make_plan(1, 0);
    static struct hpm_context c[3];
    static struct hpm_sums sums;
    struct hpm_breakdown each, all = {0}, summed;
    uint32_t seed = 11;

    (void)state;
    memset(c, 0, sizeof c);
    memset(&sums, 0, sizeof sums);
    for (int i = 0; i < 900; i++) {
        uint64_t rate[GROUP_EVENTS_MAX] = {900, next_random(&seed) % 300, 1 + i, i % 7,
                                           next_random(&seed) % 300};
        add(&c[i % 3], plan, next_random(&seed) % plan->mux.rounds.groups,
            500 + next_random(&seed) % 20000, rate);
    }
    for (int i = 0; i < 3; i++) {
        context_read(&c[i], &plan->mux, &figures, &each);
        hpm_breakdown_add(&all, &each);
        context_sum(&c[i], &plan->mux, plan->mux.events, false, &sums, part);
    }
    sums_read(&sums, &plan->mux, &figures, &summed);
    assert_int_equal(summed.cycles, all.cycles);
    assert_int_equal(summed.instructions, all.instructions);
    assert_memory_equal(summed.stall, all.stall, sizeof all.stall);
    assert_memory_equal(summed.served, all.served, sizeof all.served);
    assert_true(all.stall[0] && all.stall[1]);
}

/* If a number's logical count is born again, the counts of its predecessor are dropped; others go
 * on. */
static void sums_forget_what_a_number_meant_before(void **state)
{
    static const uint64_t rate[GROUP_EVENTS_MAX] = {900, 50, 100, 250, 20, 500};
    const struct hpm_plan *plan = make_plan(1, 1 << ASKED);
    struct hpm_context ended = {0}, c = {0};
    static struct hpm_sums sums;

    (void)state;
    memset(&sums, 0, sizeof sums);
    for (int i = 0; i < 100; i++)
        add(&ended, plan, (unsigned)i % plan->mux.rounds.groups, SLICE, rate);
    context_sum(&ended, &plan->mux, plan->mux.events, false, &sums, part);
    assert_true(sums.count[ASKED].count > 100 * SLICE / 3);
    plan = make_plan(2, 1 << ASKED);
    for (unsigned g = 0; g < plan->mux.rounds.groups; g++)
        add(&c, plan, g, SLICE, rate);
    context_sum(&c, &plan->mux, plan->mux.events, false, &sums, part);
    assert_int_equal(sums.count[ASKED].count, plan->mux.rounds.groups * SLICE / 2);
    assert_int_equal(sums.count[INSTRUCTIONS].count,
                     (100 + plan->mux.rounds.groups) * SLICE * 9 / 10);
}

/* A sum that was kept is as good as its threads, except for numbers that were born again. */
static void sums_are_added_to_sums_of_later_plans(void **state)
{
    static struct hpm_context c[2];
    static struct hpm_sums past, sum, threads, later;
    const uint64_t rate[10] = {900, 30, 70, 110, 50, 0, 0, 0, 0, 40}, all = 0x3ff;

    (void)state;
    memset(c, 0, sizeof c);
    hpm_sums_clear(&past), hpm_sums_clear(&sum), hpm_sums_clear(&threads), hpm_sums_clear(&later);
    const struct hpm_plan *plan = make_plan(1, 1 << 9);
    for (unsigned i = 0; i < 60; i++)
        add(&c[i & 1], plan, i / 2 % plan->mux.rounds.groups, SLICE, rate);
    for (unsigned i = 0; i < 2; i++) {
        context_sum(&c[i], &plan->mux, plan->mux.events & all, false, &threads, part);
        context_sum(&c[i], &plan->mux, plan->mux.events & all, false, i ? &sum : &past, part);
    }
    sums_add_past(&past, &plan->mux, false, &sum);
    assert_int_equal(sum.held, threads.held);
    assert_int_equal(sum.cycles, threads.cycles);
    for (uint64_t left = sum.held; left; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);
        assert_int_equal(hpm_sums_count(&sum, k).count, hpm_sums_count(&threads, k).count);
        assert_int_equal(hpm_sums_count(&sum, k).seen, hpm_sums_count(&threads, k).seen);
    }
    plan = make_plan(2, 1 << 9); /* where 9 has been born again */
    sums_add_past(&past, &plan->mux, false, &later);
    assert_int_equal(later.generation, 2);
    assert_int_equal(later.held, past.held & ~(1ull << 9));
    assert_int_equal(hpm_sums_count(&later, PINNED).count, hpm_sums_count(&past, PINNED).count);
}

static void without_a_pmu_nothing_is_counted(void **state)
{
    static const struct mux_plan none;
    struct hpm_context c = {0};
    struct hpm_breakdown b;

    (void)state;
    forget_figures();
    context_read(&c, &none, &figures, &b);
    assert_int_equal(b.cycles, 0);
    assert_int_equal(b.seen_permille, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(instructions_and_pinned_events_are_exact_at_any_time, set_up),
        cmocka_unit_test_setup(figures_are_scaled_by_the_part_they_were_seen_in, set_up),
        cmocka_unit_test_setup(the_few_figures_of_remote_accesses_are_those_of_the_breakdown,
                               set_up),
        cmocka_unit_test_setup(remote_stalls_that_are_not_counted_are_estimated, set_up),
        cmocka_unit_test_setup(sums_of_threads_have_the_figures_of_their_breakdowns_added, set_up),
        cmocka_unit_test_setup(sums_forget_what_a_number_meant_before, set_up),
        cmocka_unit_test_setup(sums_are_added_to_sums_of_later_plans, set_up),
        cmocka_unit_test_setup(without_a_pmu_nothing_is_counted, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
