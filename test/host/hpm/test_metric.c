/* Metrics: the arithmetic, formulas, refusals and their words, and the table of metrics on every
 * PMU. */
#include "test/host/double/expect_panic.h"
#include <math.h>
#include "hpm/events/metric.h"
#include "hpm/events/scaled.h"
#include "hpm/events/table.h"
#include "test/host/double/topdown.h"

static struct metric_program program;
static char err[256];

/* ---- Arithmetic, against long double --------------------------------------------------------- */

static long double value_of(struct scaled a)
{
    return (a.negative ? -1 : 1) * ldexpl((long double)a.bits, a.exponent);
}

static struct scaled random_number(uint64_t *seed)
{
    uint64_t bits = test_random(seed) >> test_random(seed) % 64;

    return (struct scaled){bits, (int)(test_random(seed) % 40) - 20, bits && test_random(seed) & 1};
}

static void assert_close(struct scaled is, long double expected, long double scale)
{
    if (fabsl(value_of(is) - expected) > scale * ldexpl(1, -60))
        fail_msg("%Lg instead of %Lg", value_of(is), expected);
}

static void the_arithmetic_keeps_sixty_bits(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct scaled a = random_number(&seed), b = random_number(&seed);
        long double x = value_of(a), y = value_of(b);
        assert_close(scaled_add(a, b), x + y, fabsl(x) + fabsl(y));
        assert_close(scaled_sub(a, b), x - y, fabsl(x) + fabsl(y));
        assert_close(scaled_mul(a, b), x * y, fabsl(x * y));
        if (b.bits)
            assert_close(scaled_div(a, b), x / y, fabsl(x / y));
    }
}

static void rounding_goes_to_the_nearest_whole_number(void **state)
{
    static const struct {
        struct scaled number;
        int64_t whole;
    } exact[] = {
        {{0, 0, false}, 0},
        {{1, -1, false}, 1},
        {{1, -2, false}, 0},
        {{3, -1, true}, -2},
        {{5, -2, false}, 1},
        {{7, -2, true}, -2},
        {{1, -200, true}, 0},
        {{1, 62, false}, (int64_t)1 << 62},
        {{INT64_MAX, 0, false}, INT64_MAX},
        {{1, 40, true}, -((int64_t)1 << 40)},
    };
    int64_t whole;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(exact); i++) {
        assert_true(scaled_round(exact[i].number, &whole));
        assert_int_equal(whole, exact[i].whole);
    }
    assert_false(scaled_round((struct scaled){1, 63, false}, &whole));
    assert_false(scaled_round((struct scaled){UINT64_MAX, 100, true}, &whole));
    EXPECT_PANIC(scaled_div(scaled_of(1), scaled_of(0)));
}

/* ---- Formulas -------------------------------------------------------------------------------- */

static int64_t evaluate(const char *formula, const uint64_t *count)
{
    if (metric_parse(formula, 4, &program, err, sizeof err))
        fail_msg("%s: %s", formula, err);
    struct metric_value v = metric_evaluate(&program, count, ~0u);
    assert_int_equal(v.trouble, METRIC_FINE);
    return v.millionths;
}

static void operators_bind_as_everywhere(void **state)
{
    (void)state;
    assert_int_equal(evaluate("1 + 2 * 3", NULL), 7 * METRIC_ONE);
    assert_int_equal(evaluate("(1+2)*3", NULL), 9 * METRIC_ONE);
    assert_int_equal(evaluate("10 - 4 - 3", NULL), 3 * METRIC_ONE);
    assert_int_equal(evaluate("100 / 10 / 5", NULL), 2 * METRIC_ONE);
    assert_int_equal(evaluate("2 - 10 / 4", NULL), -METRIC_ONE / 2);
    assert_int_equal(evaluate(" 0.000001 ", NULL), 1);
    assert_int_equal(evaluate("1 / 3", NULL), 333333);
    assert_int_equal(evaluate("2 / 3", NULL), 666667);
    assert_int_equal(evaluate("$slots * 2.5", NULL), 10 * METRIC_ONE);
    assert_int_equal(evaluate("((((((((1))))))))", NULL), METRIC_ONE);
}

static void events_are_listed_once_in_the_order_of_the_formula(void **state)
{
    const uint64_t count[] = {3000, 1000, 500};

    (void)state;
    assert_int_equal(evaluate("instructions / (cycles + L2_RQSTS:MISS:u) + instructions", count),
                     3002 * METRIC_ONE);
    assert_int_equal(program.events, 3);
    assert_string_equal(program.event[0], "instructions");
    assert_string_equal(program.event[1], "cycles");
    assert_string_equal(program.event[2], "L2_RQSTS:MISS:u");
}

static void neither_large_nor_small_counts_are_lost(void **state)
{
    (void)state;
    assert_int_equal(evaluate("a / b", (uint64_t[]){UINT64_MAX, UINT64_MAX}), METRIC_ONE);
    assert_int_equal(evaluate("1000 * a / b", (uint64_t[]){UINT64_MAX / 1000, UINT64_MAX}),
                     METRIC_ONE);
    assert_int_equal(evaluate("a / b", (uint64_t[]){1, 1000000}), 1);
    assert_int_equal(evaluate("1000000 * a / b", (uint64_t[]){1, UINT64_MAX}), 0);
    assert_int_equal(evaluate("100 - 100 * a / b", (uint64_t[]){999999999999, 1000000000000}), 0);
    assert_int_equal(evaluate("a * a / b / b", (uint64_t[]){UINT64_MAX, 1ull << 63}),
                     4 * METRIC_ONE);
}

static void troubles_are_told_apart(void **state)
{
    struct metric_value v;

    (void)state;
    assert_int_equal(metric_parse("1 + a / (b - b)", 0, &program, err, sizeof err), 0);
    v = metric_evaluate(&program, (uint64_t[]){5, 7}, 3);
    assert_int_equal(v.trouble, METRIC_DIVISION_BY_ZERO);
    v = metric_evaluate(&program, (uint64_t[]){5, 7}, 1);
    assert_int_equal(v.trouble, METRIC_EVENT_MISSING);
    assert_int_equal(v.which, 1);
    assert_int_equal(metric_parse("a", 0, &program, err, sizeof err), 0);
    v = metric_evaluate(&program, (uint64_t[]){UINT64_MAX}, 1);
    assert_int_equal(v.trouble, METRIC_TOO_LARGE);
    v = metric_evaluate(&program, (uint64_t[]){0}, 1);
    assert_int_equal(v.trouble, METRIC_FINE);
    assert_int_equal(v.millionths, 0);
}

static void wrong_formulas_are_refused_where_they_are_wrong(void **state)
{
    static const struct {
        const char *formula, *message;
    } wrong[] = {
        {"", "a number, an event or '(' is missing before the end"},
        {"a /", "a number, an event or '(' is missing before the end"},
        {"a b", "an operator is missing before 'b'"},
        {"(a + b", "')' is missing before the end"},
        {"a + b)", "an operator is missing before ')'"},
        {"a ** b", "a number, an event or '(' is missing before '* b'"},
        {"-a", "a number, an event or '(' is missing before '-a'"},
        {"a + $width", "there is no constant '$width'"},
        {"1.", "digits are missing behind the point of '1.'"},
        {"0.1234567", "more than six digits behind the point: '0.1234567'"},
        {"99999999999999999999", "a number is too large: '999999999999'"},
        {"(((((((((1)))))))))", "too many brackets at '(1))))))'"},
        {"a+b+c+d+e+f+g+h+i", "too many events for one group: 'i'"},
        {"1+1+1+1+1+1+1+1+1", "too many numbers at '1'"},
        {"a # b", "an operator is missing before '# b'"},
    };
    char longest[400] = "a";

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
        assert_int_equal(metric_parse(wrong[i].formula, 4, &program, err, sizeof err), -EINVAL);
        assert_string_equal(err, wrong[i].message);
        assert_int_equal(program.steps, 0);
    }
    assert_int_equal(metric_parse("$slots", 0, &program, err, sizeof err), -EINVAL);
    assert_string_equal(err, "this PMU's table does not know '$slots'");
    memset(longest, 'a', METRIC_EVENT_TEXT);
    assert_int_equal(metric_parse(longest, 4, &program, err, sizeof err), -EINVAL);
    assert_non_null(strstr(err, "an event's name is too long: 'aaa"));
    strcpy(longest, "a");
    for (unsigned i = 0; i < METRIC_STEPS_MAX / 2; i++)
        strcat(longest, "+a");
    assert_int_equal(metric_parse(longest, 4, &program, err, sizeof err), -EINVAL);
    assert_string_equal(err, "the formula is too long at the end");
}

/* ---- The table ------------------------------------------------------------------------------- */

static const struct metric *row;
static struct event event[METRIC_EVENTS_MAX];

static int find(const char *pmu, const char *name)
{
    const struct event_pmu names = {.table = event_table_named(pmu)};

    return metric_find(&names, name, &row, &program, event, err, sizeof err);
}

static int64_t measure(const char *pmu, const char *name, const uint64_t *count)
{
    if (find(pmu, name))
        fail_msg("%s", err);
    struct metric_value v = metric_evaluate(&program, count, ~0u);
    assert_int_equal(v.trouble, METRIC_FINE);
    return v.millionths;
}

static void metrics_are_found_with_their_events(void **state)
{
    (void)state;
    assert_int_equal(measure("zen3", "ipc", (uint64_t[]){3000, 2000}), 1500000);
    assert_string_equal(row->unit, "instructions per cycle");
    assert_int_equal(event[0].config, 0xc0);
    assert_int_equal(event[1].config, 0x76);
    assert_int_equal(measure("skylake", "branch.mpki", (uint64_t[]){7, 2000}), 3500000);
    assert_int_equal(measure("model", "remote_pct", (uint64_t[]){30, 10, 50, 10}), 40 * METRIC_ONE);
}

static void a_row_that_a_pmu_lacks_events_for_gives_way_to_the_next(void **state)
{
    (void)state;
    assert_int_equal(find("skylake", "l1d.miss_pct"), 0);
    assert_string_equal(program.event[1], "l1d.access");
    assert_int_equal(find("model", "l1d.miss_pct"), 0);
    assert_string_equal(program.event[1], "load");
    assert_int_equal(find("icelake", "topdown.frontend"), 0);
    assert_string_equal(program.event[0], "PERF_METRICS:FRONTEND_BOUND");
    assert_int_equal(find("skylake", "topdown.frontend"), 0);
    assert_string_equal(program.event[0], "IDQ_UOPS_NOT_DELIVERED:CORE");
    assert_int_equal(find("zen4", "topdown.frontend"), 0);
    assert_string_equal(program.event[0], "DISPATCH_STALLS_1:FE_NO_OPS");
}

static void what_a_pmu_cannot_measure_is_said_with_what_it_lacks(void **state)
{
    (void)state;
    assert_int_equal(find("zen2", "llc.mpki"), -ENOTSUP);
    assert_string_equal(err,
                        "llc.mpki is not available on zen2: 'llc.miss' is not available on zen2");
    assert_int_equal(find("zen2", "topdown.backend"), -ENOTSUP);
    assert_string_equal(
        err, "topdown.backend is not available on zen2: 'STALL_BACKEND' is no event of zen2");
    assert_int_equal(find("zen2", "ipcc"), -ENOENT);
    assert_string_equal(err, "'ipcc' is no metric; nearest: ipc");
}

/* ---- Top-down ---- */

/* 1000 cycles with 4, 5 or 6 slots each: an eighth got nothing from the front end, half retired.
 * Further issued operations and 50 cycles of recovery are another eighth. */
static void intels_cores_without_perf_metrics_have_formulas(void **state)
{
    static const struct {
        const char *pmu;
        uint64_t slots;
    } cores[] = {
        {"skylake", 4000}, {"cascadelake", 4000}, {"icelake", 5000}, {"sapphirerapids", 6000}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cores); i++) {
        const struct event_pmu pmu = {.table = event_table_named(cores[i].pmu),
                                      .lacks = {.exclusions = 1u << EVENT_TOPDOWN}};
        uint64_t slots = cores[i].slots, recovery = 50 * slots / 1000;
        const struct counted counted[] = {{"cycles", 1000},
                                          {"ops", slots / 2},
                                          {"UOPS_ISSUED:ANY", slots / 2 + slots / 8 - recovery},
                                          {"INT_MISC:RECOVERY_CYCLES", 50},
                                          {"IDQ_UOPS_NOT_DELIVERED:CORE", slots / 8},
                                          {NULL, 0}};
        assert_shares(&pmu, "% of slots", counted, 50, 12.5, 12.5, 25);
    }
}

static void those_with_perf_metrics_measure_the_shares(void **state)
{
    static const char *const pmus[] = {"icelake", "icelake-sp", "sapphirerapids"};
    const struct counted counted[] = {{"TOPDOWN:SLOTS", 8000},
                                      {"PERF_METRICS:RETIRING", 3000},
                                      {"PERF_METRICS:BAD_SPECULATION", 1000},
                                      {"PERF_METRICS:FRONTEND_BOUND", 500},
                                      {"PERF_METRICS:BACKEND_BOUND", 3500},
                                      {NULL, 0}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(pmus); i++)
        assert_shares(&(struct event_pmu){.table = event_table_named(pmus[i])}, "% of slots",
                      counted, 37.5, 12.5, 6.25, 43.75);
}

static void the_simulated_machine_shares_out_cycles(void **state)
{
    const struct counted counted[] = {
        {"cycles", 1000},  {"COMPLETION", 600},  {"STALL:ICACHE", 10},  {"STALL:BRANCH", 50},
        {"STALL:TLB", 40}, {"STALL:OTHER", 100}, {"STALL:DCACHE", 200}, {NULL, 0}};

    (void)state;
    assert_shares(&(struct event_pmu){.table = event_table_named("model")}, "% of cycles", counted,
                  60, 5, 1, 34);
}

static void zens_know_what_retired_and_zen_4_why_the_rest_did_not(void **state)
{
    (void)state;
    assert_int_equal(measure("zen2", "topdown.retiring", (uint64_t[]){3000, 1000}),
                     50 * METRIC_ONE);
    assert_int_equal(measure("zen3", "topdown.retiring", (uint64_t[]){1500, 1000}),
                     25 * METRIC_ONE);
    assert_int_equal(measure("zen4", "topdown.retiring", (uint64_t[]){1500, 1000}),
                     25 * METRIC_ONE);
    assert_int_equal(measure("zen4", "topdown.bad_speculation", (uint64_t[]){2100, 1500, 1000}),
                     10 * METRIC_ONE);
}

static void metrics_are_named_and_described(void **state)
{
    (void)state;
    for (const struct metric *m = metrics; m->name; m++) {
        assert_true(m->unit && m->about && *m->name);
        if (metric_parse(m->formula, 4, &program, err, sizeof err))
            fail_msg("%s: %s", m->formula, err);
        for (const struct metric *other = m + 1; other->name; other++)
            if (!strcmp(m->name,
                        other->name)) /* Rows of one name are neighbours and say the same. */
                assert_string_equal((other - 1)->name, m->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_arithmetic_keeps_sixty_bits),
        cmocka_unit_test(rounding_goes_to_the_nearest_whole_number),
        cmocka_unit_test(operators_bind_as_everywhere),
        cmocka_unit_test(events_are_listed_once_in_the_order_of_the_formula),
        cmocka_unit_test(neither_large_nor_small_counts_are_lost),
        cmocka_unit_test(troubles_are_told_apart),
        cmocka_unit_test(wrong_formulas_are_refused_where_they_are_wrong),
        cmocka_unit_test(metrics_are_found_with_their_events),
        cmocka_unit_test(a_row_that_a_pmu_lacks_events_for_gives_way_to_the_next),
        cmocka_unit_test(what_a_pmu_cannot_measure_is_said_with_what_it_lacks),
        cmocka_unit_test(intels_cores_without_perf_metrics_have_formulas),
        cmocka_unit_test(those_with_perf_metrics_measure_the_shares),
        cmocka_unit_test(the_simulated_machine_shares_out_cycles),
        cmocka_unit_test(zens_know_what_retired_and_zen_4_why_the_rest_did_not),
        cmocka_unit_test(metrics_are_named_and_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
