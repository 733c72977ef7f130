/* Sessions on the simulated machine's double: the events of each are counted from its opening on,
 * whatever other sessions do. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_session_truth.h"

/* ---- Sessions -------------------------------------------------------------------------------- */

static void work(uint64_t *seed)
{
    double_execute(test_random(seed) % 5000, test_random(seed) % 200000);
    double_count(MACHINE_EVENT_STORES, test_random(seed) % 100);
    double_count(MACHINE_EVENT_MISPREDICTS, test_random(seed) % 100);
    double_count(MACHINE_EVENT_STALL_TLB, test_random(seed) % 100);
    for (unsigned n = test_random(seed) % 10; n; n--)
        double_access(MACHINE_LOCAL_L2 + test_random(seed) % 6, test_random(seed), true);
}

/* ---- At random ------------------------------------------------------------------------------- */

enum { OPEN_MAX = 6 };

/* A session, and the truth at its opening. past: of threads that have ended. */
static struct opened {
    struct hpm_session *s;
    uint64_t thread[THREADS][ALWAYS], past[ALWAYS], machine[ALWAYS];
} opened[OPEN_MAX];
static struct hpm_sums past; /* kept as a process keeps its sums */
static uint64_t past_truth[ALWAYS];

static void open_one(struct opened *o, uint64_t *seed)
{
    static const char *const more[] = {
        "ipc",        "LOADS",           "STORES:u",      "MISPREDICTS",  "STALL:TLB",
        "TLB_MISSES", "SERVED:LOCAL_L2", "l1d.mpki",      "L1I_MISSES:k", "COMPLETION",
        "EXCEPTIONS", "cycles:u",        "stall.mem_pct", "llc.miss:u"};
    char names[160], why[160];

    snprintf(names, sizeof names, "%s,%s,%s", always_names,
             more[test_random(seed) % (ARRAY_SIZE(more) - 1)],
             more[test_random(seed) % ARRAY_SIZE(more)]);
    double_run_on(test_random(seed) % DOUBLE_CPUS);
    double_calls_refused = (unsigned)(test_random(seed) % 3);
    if (hpm_session_open(names, &o->s, why, sizeof why)) {
        o->s = NULL;
        return;
    }
    for (unsigned i = 0; i < ALWAYS; i++) {
        for (int t = 0; t < THREADS; t++)
            o->thread[t][i] = truth_of(t, always_events[i]);
        o->past[i] = past_truth[i];
        o->machine[i] = truth_of_machine(always_events[i]);
    }
}

static void check_one(const struct opened *o)
{
    struct hpm_sums process = past, machine = {0};

    hpm_update(0);
    for (int t = 0; t < THREADS; t++) {
        for (unsigned i = 0; i < ALWAYS; i++) {
            struct hpm_value v = value_of_thread(o->s, i, t);
            assert_exact(&v, truth_of(t, always_events[i]) - o->thread[t][i]);
        }
        hpm_sum_thread(&threads[t], hpm_session_counts(o->s), &process);
    }
    for (unsigned i = 0; i < ALWAYS; i++) {
        uint64_t truth = past_truth[i] - o->past[i];
        for (int t = 0; t < THREADS; t++)
            truth += truth_of(t, always_events[i]) - o->thread[t][i];
        struct hpm_value v = value(o->s, i, &process);
        assert_exact(&v, truth);
    }
    hpm_sum_machine(hpm_session_counts(o->s), &machine);
    for (unsigned i = 0; i < ALWAYS; i++) {
        struct hpm_value v = value(o->s, i, &machine);
        assert_exact(&v, truth_of_machine(always_events[i]) - o->machine[i]);
    }
}

static struct mux_sum part[GROUP_EVENTS_MAX]; /* work space of context_sum */

/* Checks that threads, ended ones included, and idle time add up to the machine. */
static void check_parts(const struct opened *o)
{
    const struct mux_plan *plan = &hpm_state.plan->mux;
    uint64_t counts = hpm_session_counts(o->s);
    struct hpm_sums parts = past, machine = {0};

    for (int t = 0; t < THREADS; t++)
        context_sum(&threads[t].counts, plan, counts, false, &parts, part);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++) {
        context_sum(&cpus[c].hpm->idle, plan, counts, false, &parts, part);
        context_sum(&cpus[c].hpm->idle, plan, counts, false, &machine, part);
        context_sum(&cpus[c].hpm->busy, plan, counts, false, &machine, part);
    }
    for (unsigned i = 0; i < ALWAYS; i++) {
        struct hpm_value v = value(o->s, i, &parts);
        assert_exact(&v, value(o->s, i, &machine).estimate.count);
    }
}

/* Replaces a thread that does not run by a new one. */
static void end_thread(int t)
{
    if (is_running(t))
        return;
    hpm_sum_thread(&threads[t], UINT64_MAX, &past);
    for (unsigned i = 0; i < ALWAYS; i++)
        past_truth[i] += truth_of_stretches(t, always_events[i]);
    hpm_thread_init(&threads[t], threads[t].tid, threads[t].pid);
    forget_truth(t);
    for (unsigned k = 0; k < OPEN_MAX; k++)
        for (unsigned i = 0; opened[k].s && i < ALWAYS; i++) {
            opened[k].past[i] += opened[k].thread[t][i];
            opened[k].thread[t][i] = 0;
        }
}

static void step(uint64_t *seed)
{
    unsigned cpu = test_random(seed) % DOUBLE_CPUS;
    int next = (int)(test_random(seed) % (THREADS + 1)) - 1;
    struct opened *o = &opened[test_random(seed) % OPEN_MAX];

    double_run_on(cpu);
    work(seed);
    if (test_random(seed) % 4 == 0)
        tick(cpu);
    if (next < 0 || !is_running(next))
        move_to(cpu, next);
    switch (test_random(seed) % 40) {
    case 0:
        if (o->s)
            hpm_session_close(o->s);
        o->s = NULL;
        return;
    case 1:
    case 2:
        if (!o->s)
            open_one(o, seed);
        return;
    case 3:
        if (o->s) {
            check_one(o);
            check_parts(o);
        }
        return;
    case 4:
        end_thread((int)(test_random(seed) % THREADS));
        return;
    }
}

static void what_is_always_counted_is_exact_from_each_opening_on(void **state)
{
    uint64_t seed = 11;

    (void)state;
    begin_truth();
    memset(opened, 0, sizeof opened);
    memset(past_truth, 0, sizeof past_truth);
    past = (struct hpm_sums){0};
    for (int n = 0; n < 20000; n++)
        step(&seed);
    for (unsigned k = 0; k < OPEN_MAX; k++)
        if (opened[k].s) {
            check_one(&opened[k]);
            hpm_session_close(opened[k].s);
        }
    assert_true(hpm_state.plan->mux.generation > 500);
    /* The breakdown's own counts have gone on all the time. */
    struct hpm_breakdown b;
    uint64_t instructions = past_truth[0], counted_past;
    hpm_sums_breakdown(&past, &b);
    counted_past = b.instructions;
    for (int t = 0; t < THREADS; t++)
        instructions += truth_of(t, MACHINE_EVENT_INSTRUCTIONS);
    assert_int_equal(counted_past + counted_in_all().instructions, instructions);
}

/* CPUs 1 and 2 run threads of processes 10 and 11, CPU 3 runs none, and no CPU switches. */
static void an_update_brings_in_what_other_cpus_have_done(void **state)
{
    struct hpm_sums sums = {0};
    unsigned accesses[DOUBLE_CPUS];

    (void)state;
    struct hpm_session *s = open_names("instructions");
    uint64_t number = hpm_session_counts(s);
    switch_to(1, 0);
    switch_to(2, 3);
    hpm_update(0);
    hpm_sum_machine(number, &sums);
    uint64_t before = value(s, 0, &sums).estimate.count;
    for (unsigned c = 1; c < DOUBLE_CPUS; c++) {
        double_run_on(c);
        double_execute(1000, 1000);
        accesses[c] = double_cpus[c].accesses;
    }
    double_run_on(0);
    hpm_update(threads[0].pid);
    assert_int_equal(value_of_thread(s, 0, 0).estimate.count, 1000);
    assert_int_equal(value_of_thread(s, 0, 3).estimate.count, 0);
    assert_true(double_cpus[1].accesses > accesses[1]);
    assert_int_equal(double_cpus[2].accesses, accesses[2]);
    hpm_update(0);
    sums = (struct hpm_sums){0};
    hpm_sum_machine(number, &sums);
    assert_int_equal(value(s, 0, &sums).estimate.count, before + 3000);
    hpm_session_close(s);
}

static void differences_of_readings_are_exact_too(void **state)
{
    uint64_t seed = 4;

    (void)state;
    begin_truth();
    struct hpm_session *s = open_names(always_names);
    for (unsigned trial = 0; trial < 20; trial++) {
        struct hpm_sums earlier = {0}, later = {0};
        uint64_t began[ALWAYS];
        hpm_sum_thread(&threads[trial % 4], hpm_session_counts(s), &earlier);
        for (unsigned i = 0; i < ALWAYS; i++)
            began[i] = truth_of((int)trial % 4, always_events[i]);
        run_threads(3, &seed);
        struct hpm_session *other = open_names("LOADS:u,COMPLETION");
        run_threads(3, &seed);
        hpm_session_close(other);
        hpm_sum_thread(&threads[trial % 4], hpm_session_counts(s), &later);
        hpm_sums_sub(&later, &earlier);
        for (unsigned i = 0; i < ALWAYS; i++) {
            struct hpm_value v = value(s, i, &later);
            assert_exact(&v, truth_of((int)trial % 4, always_events[i]) - began[i]);
        }
    }
    hpm_session_close(s);
}

/* They need not wait for a turn, however short a thread runs. Without room for that they take turns
 * as other events do. */
static void cycles_of_one_mode_have_a_counter_all_the_time(void **state)
{
    struct hpm_session *many[4];

    (void)state;
    begin_truth();
    struct hpm_session *s = open_names("cycles:u");
    uint64_t began = truth_of(1, MACHINE_EVENT_CYCLES);
    move_to(0, 1);
    double_execute(1000, 5000);
    move_to(0, -1);
    struct hpm_value v = value_of_thread(s, 0, 1);
    assert_exact(&v, truth_of(1, MACHINE_EVENT_CYCLES) - began);
    many[0] = open_names("CYCLES:k,COMPLETION:u,STALL:BRANCH:k");
    many[1] = open_names("MISPREDICTS:u,STALL:BRANCH:u,DCACHE:LOCAL_L3:k");
    many[2] = open_names("IDLE,EXCEPTIONS,SERVED:REMOTE_L3:k");
    many[3] = open_names("L1D_MISSES:k,STALL:DCACHE:k,L1I_MISSES:k");
    for (unsigned i = 0; i < ARRAY_SIZE(many); i++)
        hpm_session_close(many[i]);
    hpm_session_close(s);
}

static void metrics_are_of_their_own_events(void **state)
{
    (void)state;
    begin_truth();
    struct hpm_session *s = open_names("ipc,cycles,instructions");
    struct hpm_value v = value_of_thread(s, 0, 2);
    assert_string_equal(v.unit, "instructions per cycle");
    assert_int_not_equal(v.metric.trouble, METRIC_FINE);
    move_to(1, 2);
    double_execute(500000, 1000000);
    move_to(1, -1);
    uint64_t cycles = truth_of(2, MACHINE_EVENT_CYCLES),
             instructions = truth_of(2, MACHINE_EVENT_INSTRUCTIONS);
    v = value_of_thread(s, 0, 2);
    assert_int_equal(v.metric.trouble, METRIC_FINE);
    assert_in_range(v.metric.millionths, instructions * 1000000 / cycles - 1,
                    instructions * 1000000 / cycles + 1);
    assert_int_equal(v.seen_permille, 1000);
    hpm_session_close(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sessions_set_up, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_always_counted_is_exact_from_each_opening_on),
        TEST(an_update_brings_in_what_other_cpus_have_done),
        TEST(differences_of_readings_are_exact_too),
        TEST(cycles_of_one_mode_have_a_counter_all_the_time),
        TEST(metrics_are_of_their_own_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
