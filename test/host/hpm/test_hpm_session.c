/* Sessions on the simulated machine's double: each has its own events counted from its opening on,
 * whatever others do. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_sessions.h"

enum { SLICE = 1000000 };

static int set_up(void **state)
{
    (void)state;
    double_machine_present = true;
    double_boot();
    threads_begin(3);
    return 0;
}

/* ---- Truth: what happened on a thread's CPUs between the readings that began and ended its
 * stretches ---- */

static uint64_t of_thread[THREADS][MACHINE_EVENTS], at_switch[DOUBLE_CPUS][MACHINE_EVENTS];

/* Until its CPU's latest reading. */
static uint64_t truth_of(int thread, enum machine_event e)
{
    uint64_t truth = of_thread[thread][e];

    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        if (running[c] == thread)
            truth += double_cpus[c].at_read[e] - at_switch[c][e];
    return truth;
}

static uint64_t truth_of_machine(enum machine_event e)
{
    uint64_t truth = 0;

    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        truth += double_cpus[c].at_read[e];
    return truth;
}

static void begin_truth(void)
{
    memset(of_thread, 0, sizeof of_thread);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        memcpy(at_switch[c], double_cpus[c].at_read, sizeof at_switch[c]);
}

static void move_to(unsigned cpu, int next)
{
    int before = running[cpu];

    double_late = true;
    switch_to(cpu, next);
    for (unsigned e = 0; e < MACHINE_EVENTS; e++) {
        if (before >= 0)
            of_thread[before][e] += double_cpus[cpu].at_read[e] - at_switch[cpu][e];
        at_switch[cpu][e] = double_cpus[cpu].at_read[e];
    }
    double_late = false;
    double_deliver();
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static void assert_exact(const struct hpm_value *v, uint64_t count)
{
    assert_null(v->unit);
    assert_int_equal(v->estimate.count, count);
    assert_int_equal(v->estimate.sure, ESTIMATE_EXACT);
}

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

/* What is exact by the names that each session begins with. */
static const char *const always_names = "instructions,cycles,DCACHE:REMOTE_L2,DCACHE:REMOTE_L3";
static const enum machine_event always_events[] = {MACHINE_EVENT_INSTRUCTIONS, MACHINE_EVENT_CYCLES,
                                                   MACHINE_EVENT_DCACHE_REMOTE_L2,
                                                   MACHINE_EVENT_DCACHE_REMOTE_L3};
enum { ALWAYS = ARRAY_SIZE(always_events), OPEN_MAX = 6 };

/* The truth at its opening; past: of threads that have ended. */
static struct opened {
    struct hpm_session *s;
    uint64_t thread[THREADS][ALWAYS], past[ALWAYS], machine[ALWAYS];
} opened[OPEN_MAX];
static struct hpm_sums past; /* as a process keeps them */
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

static struct mux_sum part[GROUP_EVENTS_MAX]; /* for context_sum */

/* Threads, ended ones included, and idle time are the machine. */
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

/* A thread that runs nowhere ends, and another one begins. */
static void end_thread(int t)
{
    if (is_running(t))
        return;
    hpm_sum_thread(&threads[t], UINT64_MAX, &past);
    for (unsigned i = 0; i < ALWAYS; i++)
        past_truth[i] += of_thread[t][always_events[i]];
    hpm_thread_init(&threads[t], threads[t].tid, threads[t].pid);
    memset(of_thread[t], 0, sizeof of_thread[t]);
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

/* CPUs 1 and 2 run threads of processes 10 and 11, CPU 3 runs nothing, and nobody switches. */
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

/* ---- Of events that take turns --------------------------------------------------------------- */

static void steady_work(uint64_t *seed)
{
    double_execute(500, 2000 + test_random(seed) % 1000);
    double_count(MACHINE_EVENT_STORES, 20 + test_random(seed) % 20);
    double_count(MACHINE_EVENT_MISPREDICTS, 10 + test_random(seed) % 9);
    double_count(MACHINE_EVENT_STALL_TLB, test_random(seed) % 100);
    double_count(MACHINE_EVENT_L1D_MISSES, test_random(seed) % 8);
    double_count(MACHINE_EVENT_COMPLETION, test_random(seed) % 300);
    double_access(MACHINE_LOCAL_L2 + test_random(seed) % 6, 0, true);
}

static const struct {
    const char *name;
    enum machine_event event;
} turning[] = {
    {"STORES", MACHINE_EVENT_STORES},
    {"LOADS:u", MACHINE_EVENT_LOADS},
    {"MISPREDICTS", MACHINE_EVENT_MISPREDICTS},
    {"STALL:TLB", MACHINE_EVENT_STALL_TLB},
    {"L1D_MISSES", MACHINE_EVENT_L1D_MISSES},
    {"COMPLETION", MACHINE_EVENT_COMPLETION},
    {"SERVED:LOCAL_L2", MACHINE_EVENT_SERVED_LOCAL_L2},
    {"SERVED:REMOTE_MEMORY:u", MACHINE_EVENT_SERVED_REMOTE_MEMORY},
    {"STALL:DCACHE:k", MACHINE_EVENT_STALL_DCACHE},
    {"DCACHE:LOCAL_L3:u", MACHINE_EVENT_DCACHE_LOCAL_L3},
};

static struct hpm_session *open_turning(void)
{
    char names[512] = "";

    for (unsigned i = 0; i < ARRAY_SIZE(turning); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s", turning[i].name);
    return open_names(names);
}

/* Runs threads until CPU 0 has spent so many slices. */
static void run_threads(unsigned slices, uint64_t *seed)
{
    uint64_t end = double_cpus[0].time + slices * (uint64_t)SLICE;

    while (double_cpus[0].time < end) {
        for (unsigned c = 0; c < 2; c++) {
            double_run_on(c);
            for (unsigned n = 0; n < 20; n++)
                steady_work(seed);
            move_to(c, (int)(2 * (test_random(seed) % 2) + c));
        }
    }
}

static void most_intervals_hold_the_truth(void **state)
{
    uint64_t seed = 5, began[ARRAY_SIZE(turning)];
    unsigned inside = 0, intervals = 0;

    (void)state;
    begin_truth();
    run_threads(30, &seed);
    for (unsigned trial = 0; trial < 8; trial++) {
        struct hpm_session *s = open_turning();
        for (unsigned i = 0; i < ARRAY_SIZE(turning); i++)
            began[i] = truth_of_machine(turning[i].event);
        unsigned groups = hpm_state.plan->mux.rounds.groups;
        assert_true(groups > 4);
        run_threads(120 * groups / 2, &seed);
        struct hpm_sums sums = {0};
        hpm_sum_machine(hpm_session_counts(s), &sums);
        for (unsigned i = 0; i < ARRAY_SIZE(turning); i++) {
            struct hpm_value v = value(s, i, &sums);
            uint64_t truth = truth_of_machine(turning[i].event) - began[i];
            if (v.estimate.sure == ESTIMATE_EXACT)
                continue;
            assert_in_range(v.estimate.count, truth * 8 / 10, truth * 12 / 10);
            if (v.estimate.sure != ESTIMATE_INTERVAL)
                continue;
            assert_in_range(v.seen_permille, 1000 / groups / 2, 999);
            intervals++;
            inside += v.estimate.low <= truth && truth <= v.estimate.high;
        }
        hpm_session_close(s);
    }
    assert_true(intervals > 40);
    assert_true(inside * 100 >= intervals * 88);
}

/* Two sessions of twenty, beside the breakdown's own, on four counters. */
static void forty_events_at_a_time_are_all_counted(void **state)
{
    static const char *const names[] = {
        "LOADS",           "STORES",          "L1D_MISSES",   "L1I_MISSES",       "MISPREDICTS",
        "TLB_MISSES",      "SERVED:LOCAL_L2", "COMPLETION",   "SERVED:REMOTE_L3", "SERVED:LOCAL_L3",
        "STALL:ICACHE",    "STALL:BRANCH",    "STALL:DCACHE", "STALL:TLB",        "STALL:OTHER",
        "DCACHE:LOCAL_L2", "DCACHE:LOCAL_L3", "IDLE",         "EXCEPTIONS",       "CYCLES"};
    char text[2][640] = {"", ""};
    struct hpm_session *s[2];
    uint64_t seed = 8;

    (void)state;
    begin_truth();
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        for (unsigned k = 0; k < 2; k++)
            snprintf(text[k] + strlen(text[k]), sizeof text[k] - strlen(text[k]), "%s:%c,",
                     names[i], "uk"[k]);
    for (unsigned k = 0; k < 2; k++)
        s[k] = open_names(text[k]);
    assert_true(__builtin_popcountll(hpm_state.plan->mux.events) >= 58);
    run_threads(60 * hpm_state.plan->mux.rounds.groups / 10, &seed);
    for (unsigned k = 0; k < 2; k++) {
        struct hpm_sums sums = {0};
        hpm_sum_machine(hpm_session_counts(s[k]), &sums);
        for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
            assert_in_range(value(s[k], i, &sums).seen_permille, 1, 1000);
    }
    hpm_session_close(s[0]);
    hpm_session_close(s[1]);
}

/* However short what runs is: its turn need not come first. Where there is no room for that it
 * takes turns as others do. */
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

/* Bursts, each of one kind, and too little time for turns: every event by itself would be scaled to
 * anything. */
static void no_part_is_larger_than_its_whole(void **state)
{
    static const char *const names =
        "cycles,STALL:DCACHE,DCACHE:LOCAL_L2,DCACHE:REMOTE_L2,DCACHE:LOCAL_MEMORY,L1D_MISSES,"
        "SERVED:LOCAL_L2,SERVED:REMOTE_L2,SERVED:LOCAL_MEMORY,STALL:OTHER,STALL:TLB";
    uint64_t seed = 21;
    unsigned changed = 0;

    (void)state;
    begin_truth();
    for (unsigned trial = 0; trial < 40; trial++) {
        struct hpm_session *s = open_names(names);
        struct hpm_sums sums = {0};
        move_to(0, 0);
        for (unsigned n = 0; n < 60; n++) {
            double_execute(1000, test_random(&seed) % 200000);
            for (unsigned i = n % 3 ? 0 : test_random(&seed) % 2000; i; i--)
                double_access(MACHINE_LOCAL_L2 + n % 5, i, true);
        }
        move_to(0, -1);
        hpm_sum_thread(&threads[0], hpm_session_counts(s), &sums);
        hpm_session_fit(s, &sums);
        uint64_t count[11];
        for (unsigned i = 0; i < ARRAY_SIZE(count); i++) {
            struct hpm_value v = value(s, i, &sums);
            count[i] = v.estimate.count;
            changed += v.fitted;
            assert_true(v.estimate.count >= v.counted && v.seen <= v.length);
            if (v.estimate.sure == ESTIMATE_INTERVAL)
                assert_in_range(v.estimate.count, v.estimate.low, v.estimate.high);
        }
        assert_true(count[1] + count[9] + count[10] <= count[0]);
        if (value(s, 1, &sums).seen)
            assert_true(count[2] + count[3] + count[4] <= count[1]);
        if (value(s, 5, &sums).seen)
            assert_true(count[6] + count[7] + count[8] <= count[5]);
        hpm_session_close(s);
    }
    assert_true(changed > 20);
}

/* ---- Numbers that are born again ------------------------------------------------------------- */

static void run_thread_0(enum machine_event event, uint64_t n)
{
    move_to(0, 0);
    for (unsigned i = 0; i < 100; i++) {
        double_execute(1000, 300000);
        double_count(event, n);
    }
    move_to(0, -1);
}

static void assert_nothing(const struct hpm_session *s, const struct hpm_sums *sums)
{
    struct hpm_value v = value(s, 0, sums);

    assert_int_equal(v.estimate.count, 0);
    assert_int_equal(v.estimate.low, 0);
    assert_int_equal(v.seen_permille, 0);
}

static void a_number_born_again_shows_nothing_of_its_predecessor(void **state)
{
    struct hpm_sums before = {0}, ended = {0}, machine = {0}, thread = {0};

    (void)state;
    begin_truth();
    struct hpm_session *first = open_names("L1I_MISSES:u");
    uint64_t number = hpm_session_counts(first);
    run_thread_0(MACHINE_EVENT_L1I_MISSES, 1000);
    assert_true(value_of_thread(first, 0, 0).estimate.count > 50000);
    hpm_sum_thread(&threads[0], UINT64_MAX, &before);
    hpm_sum_thread(&threads[0], UINT64_MAX, &ended);
    hpm_session_close(first);

    struct hpm_session *second = open_names("TLB_MISSES:u");
    assert_int_equal(hpm_session_counts(second), number);
    assert_nothing(second, &before); /* read under the plan before */
    assert_nothing(second, &ended);
    hpm_sum_thread(&threads[0], number, &thread); /* it has slept since */
    assert_nothing(second, &thread);
    hpm_sum_thread(&threads[1], number, &ended); /* added to what is older */
    assert_nothing(second, &ended);
    hpm_sum_machine(number, &machine);
    assert_int_equal(value(second, 0, &machine).estimate.count, 0);

    run_thread_0(MACHINE_EVENT_TLB_MISSES, 7);
    assert_in_range(value_of_thread(second, 0, 0).estimate.count, 1, 100 * 7 * 3);
    hpm_sum_thread(&threads[0], number, &ended);
    assert_in_range(value(second, 0, &ended).estimate.count, 1, 100 * 7 * 3);
    hpm_session_close(second);
}

static void a_thread_that_slept_through_a_session_has_nothing_of_it(void **state)
{
    (void)state;
    begin_truth();
    run_thread_0(MACHINE_EVENT_STORES, 3);
    struct hpm_session *kept = open_names("instructions,STORES"),
                       *other = open_names("LOADS:u,STORES:k");
    struct hpm_value v = value_of_thread(kept, 0, 0);
    assert_int_equal(v.estimate.count, 0);
    hpm_session_close(other);
    other = open_names("ipc,L1I_MISSES:k");
    uint64_t began = truth_of(0, MACHINE_EVENT_INSTRUCTIONS);
    run_thread_0(MACHINE_EVENT_STORES, 3);
    v = value_of_thread(kept, 0, 0);
    assert_exact(&v, truth_of(0, MACHINE_EVENT_INSTRUCTIONS) - began);
    assert_int_equal(value_of_thread(kept, 0, 1).estimate.count, 0);
    hpm_session_close(other);
    hpm_session_close(kept);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_always_counted_is_exact_from_each_opening_on),
        TEST(an_update_brings_in_what_other_cpus_have_done),
        TEST(most_intervals_hold_the_truth),
        TEST(forty_events_at_a_time_are_all_counted),
        TEST(cycles_of_one_mode_have_a_counter_all_the_time),
        TEST(no_part_is_larger_than_its_whole),
        TEST(a_number_born_again_shows_nothing_of_its_predecessor),
        TEST(a_thread_that_slept_through_a_session_has_nothing_of_it),
        TEST(differences_of_readings_are_exact_too),
        TEST(metrics_are_of_their_own_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
