/* Sessions with more events than counters: their events take turns and are scaled. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_session_truth.h"

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

/* Two sessions of twenty events, beside the breakdown's, on four counters. */
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

/* Bursts, each of one kind, and too little time for turns: scaled by itself, any event could get
 * any count. */
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

static struct hpm_turn turn_of(const struct hpm_session *s, unsigned i)
{
    struct hpm_turn turn;

    hpm_session_turn(s, i, &turn);
    return turn;
}

static bool stalls_are_pinned(void)
{
    unsigned stalls = hpm_state.figures.event[EVENT_DCACHE(SOURCE_REMOTE_L2)];

    return hpm_state.plan->mux.slots_with[stalls] == hpm_state.plan->mux.rounds.slots;
}

static void a_weight_is_a_part_of_the_slices(void **state)
{
    struct hpm_turns all;
    uint64_t seed = 3;

    (void)state;
    begin_truth();
    struct hpm_session *s = open_names("LOADS*4,MISPREDICTS,TLB_MISSES");
    hpm_read_turns(&all);
    assert_int_equal(turn_of(s, 0).weight, 4);
    assert_true(turn_of(s, 0).slices >= 4 && turn_of(s, 0).slices < all.slices);
    run_threads(40 * all.slices, &seed);
    struct hpm_sums sums = {0};
    hpm_sum_machine(hpm_session_counts(s), &sums);
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(value(s, i, &sums).seen_permille, 900 * turn_of(s, i).slices / all.slices,
                        1100 * turn_of(s, i).slices / all.slices);
    hpm_session_close(s);
    hpm_read_turns(&all);
    assert_int_equal(all.slices, all.groups);
}

static void automatic_weights_follow_from_variances(void **state)
{
    static const char *const names = "LOADS*auto,MISPREDICTS*auto,TLB_MISSES*auto,STALL:TLB*auto,"
                                     "L1D_MISSES*auto,SERVED:REMOTE_MEMORY*auto,STORES,round=1";
    unsigned changed = 0, heavy = 0;
    struct hpm_turns all;
    uint64_t seed = 3;

    (void)state;
    begin_truth();
    struct hpm_session *s = open_names(names);
    uint64_t began = truth_of_machine(MACHINE_EVENT_LOADS);
    for (unsigned e = 0; e < 7; e++)
        assert_true(turn_of(s, e).automatic == (e < 6) && turn_of(s, e).weight <= 1);
    uint32_t generation = hpm_state.plan->mux.generation;
    hpm_session_weigh(s);
    assert_int_equal(hpm_state.plan->mux.generation, generation); /* there are no rounds yet */
    for (unsigned look = 0; look < 6; look++) {
        hpm_read_turns(&all);
        run_threads(60 * all.slices, &seed);
        hpm_session_weigh(s);
        changed += hpm_state.plan->mux.generation != generation;
        generation = hpm_state.plan->mux.generation;
        hpm_session_weigh(s);
        assert_int_equal(hpm_state.plan->mux.generation, generation); /* not twice at a time */
    }
    for (unsigned e = 0; e < 6; e++) {
        assert_in_range(turn_of(s, e).weight, 1, WEIGHT_MAX);
        heavy += turn_of(s, e).weight > 1;
    }
    assert_true(changed && heavy && heavy < 6);
    assert_in_range(turn_of(s, 6).weight, 0, 1);
    struct hpm_sums sums = {0};
    hpm_sum_machine(hpm_session_counts(s), &sums);
    uint64_t truth = truth_of_machine(MACHINE_EVENT_LOADS) - began;
    assert_in_range(value(s, 0, &sums).estimate.count, truth * 9 / 10, truth * 11 / 10);
    hpm_session_close(s);
}

static void the_shortest_round_rules(void **state)
{
    struct hpm_turns all;

    (void)state;
    struct hpm_session *s = open_names("LOADS,round=30000000");
    hpm_read_turns(&all);
    assert_int_equal(all.round, all.pass * all.passes);
    assert_true(all.round >= 30000000 && all.round < 30000000 + all.pass);
    struct hpm_session *shorter = open_names("LOADS,round=1");
    hpm_read_turns(&all);
    assert_int_equal(all.passes, 1);
    hpm_session_close(shorter);
    hpm_read_turns(&all);
    assert_true(all.round >= 30000000);
    hpm_session_close(s);
}

static void pinned_events_are_exact_and_outrank_the_breakdowns(void **state)
{
    struct hpm_turns all;
    uint64_t seed = 4;

    (void)state;
    begin_truth();
    assert_true(stalls_are_pinned());
    struct hpm_session *s = open_names("LOADS!,STORES!,MISPREDICTS"), *other;
    hpm_read_turns(&all);
    assert_true(all.scaled && turn_of(s, 0).pinned && !turn_of(s, 2).pinned);
    assert_false(stalls_are_pinned());
    assert_non_null(strstr(double_output, "event=scaled figures=remote"));
    uint64_t loads = truth_of_machine(MACHINE_EVENT_LOADS),
             stores = truth_of_machine(MACHINE_EVENT_STORES);
    run_threads(100, &seed);
    other = open_names("cycles,TLB_MISSES");
    assert_true(turn_of(s, 1).pinned && !turn_of(other, 0).pinned);
    run_threads(100, &seed);
    struct hpm_sums sums = {0};
    hpm_sum_machine(hpm_session_counts(s), &sums);
    struct hpm_value v = value(s, 0, &sums);
    assert_exact(&v, truth_of_machine(MACHINE_EVENT_LOADS) - loads);
    v = value(s, 1, &sums);
    assert_exact(&v, truth_of_machine(MACHINE_EVENT_STORES) - stores);
    hpm_session_close(other);
    assert_false(stalls_are_pinned());
    hpm_session_close(s);
    assert_true(stalls_are_pinned());
    assert_non_null(strstr(double_output, "event=exact figures=remote"));
}

static void impossible_pins_are_refused_by_name(void **state)
{
    struct hpm_session *s, *pins;
    char why[160];

    (void)state;
    assert_int_equal(hpm_session_open("cycles!,LOADS!,STORES!,L1D_MISSES!,MISPREDICTS!,TLB_MISSES!",
                                      &s, why, sizeof why),
                     -ENOSPC);
    assert_non_null(strstr(why, "LOADS!"));
    assert_null(strstr(why, "cycles!"));
    assert_true(stalls_are_pinned());
    pins = open_names("LOADS!");
    hpm_session_close(pins);
    /* A metric does not outrank the breakdown's, nor a session's pins. */
    assert_int_equal(hpm_session_open("remote_pct", &s, why, sizeof why), -ENOSPC);
    assert_true(stalls_are_pinned());
}

/* On the four counters of the model, of which the stalls for remote caches take two. */
static void how_many_groups_more_is_known_before(void **state)
{
    static const char *const names[] = {"LOADS", "LOADS:u,LOADS:k", "cycles",
                                        "LOADS:u,STORES:u,MISPREDICTS:u,TLB_MISSES:u"};
    uint32_t generation = hpm_state.plan->mux.generation;
    unsigned frames = double_frames(), differ = 0;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        unsigned before = hpm_state.plan->mux.rounds.groups;
        int more = hpm_groups_more(names[i]);
        assert_int_equal(double_frames(), frames);
        struct hpm_session *s = open_names(names[i]);
        assert_int_equal(hpm_state.plan->mux.rounds.groups, before + (unsigned)more);
        differ += more != 0;
        hpm_session_close(s);
    }
    assert_in_range(differ, 1, ARRAY_SIZE(names) - 1);
    assert_int_equal(hpm_groups_more("remote_pct"), -ENOSPC);
    assert_int_equal(hpm_groups_more("LOADZ"), -ENOENT);
    assert_int_equal(hpm_state.plan->mux.generation, generation + 2 * ARRAY_SIZE(names));
    assert_int_equal(double_frames(), frames);
}

/* Both were counted in the same cycles, all the time, whatever else is counted. */
static void tied_events_are_counted_in_the_same_slices(void **state)
{
    uint64_t seed = 9;

    (void)state;
    begin_truth();
    struct hpm_session *s = open_names("{LOADS,cycles,STORES},LOADS,MISPREDICTS,TLB_MISSES");
    run_threads(200, &seed);
    struct hpm_sums sums = {0};
    hpm_sum_machine(hpm_session_counts(s), &sums);
    struct hpm_value loads = value(s, 0, &sums), cycles = value(s, 1, &sums),
                     stores = value(s, 2, &sums), alone = value(s, 3, &sums);
    assert_true(loads.seen && loads.seen == cycles.seen && loads.seen == stores.seen);
    assert_int_equal(cycles.counted, cycles.seen);
    assert_true(cycles.seen_permille < 500 && alone.seen >= loads.seen);
    assert_int_equal(turn_of(s, 0).tied, 1);
    assert_int_equal(turn_of(s, 3).tied, 0);
    hpm_session_close(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sessions_set_up, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(most_intervals_hold_the_truth),
        TEST(forty_events_at_a_time_are_all_counted),
        TEST(no_part_is_larger_than_its_whole),
        TEST(a_weight_is_a_part_of_the_slices),
        TEST(automatic_weights_follow_from_variances),
        TEST(the_shortest_round_rules),
        TEST(pinned_events_are_exact_and_outrank_the_breakdowns),
        TEST(impossible_pins_are_refused_by_name),
        TEST(how_many_groups_more_is_known_before),
        TEST(tied_events_are_counted_in_the_same_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
