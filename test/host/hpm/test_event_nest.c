/* Which of a session's events contain others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "hpm/events/nest.h"
#include "test/host/double/expect_panic.h"

static struct event_pmu pmu;
static struct event event[32];
static struct fit_set set[EVENT_NESTS_MAX];

static unsigned nests_of(const char *table, unsigned counters, const char *const *names, unsigned n)
{
    char why[160];

    pmu =
        (struct event_pmu){.table = event_table_named(table), .counters = counters, .fixed = 0x3f};
    assert_non_null(pmu.table);
    for (unsigned i = 0; i < n; i++)
        if (event_parse(&pmu, names[i], &event[i], why, sizeof why))
            fail_msg("%s: %s", names[i], why);
    return event_nests(&pmu, event, n, set);
}

#define NESTS(table, counters, ...)                            \
    ({                                                         \
        static const char *const names_[] = {__VA_ARGS__};     \
        nests_of(table, counters, names_, ARRAY_SIZE(names_)); \
    })

static void wholes_stand_before_their_parts(void **state)
{
    (void)state;
    unsigned n = NESTS("model", 4, "DCACHE:LOCAL_L2", "STALL:DCACHE", "cycles", "STALL:TLB",
                       "LOADS", "DCACHE:REMOTE_L3");
    assert_int_equal(n, 2);
    assert_int_equal(set[0].whole, 2);
    assert_int_equal(set[0].parts, 1 << 1 | 1 << 3);
    assert_int_equal(set[1].whole, 1);
    assert_int_equal(set[1].parts, 1 << 0 | 1 << 5);
}

static void an_event_has_no_more_in_one_mode_than_in_both(void **state)
{
    (void)state;
    unsigned n =
        NESTS("model", 4, "LOADS:u", "LOADS", "STALL:DCACHE:u", "STALL:DCACHE", "DCACHE:LOCAL_L2:u",
              "LOADS:k", "STORES:u", "DCACHE:LOCAL_L2", "DCACHE:LOCAL_L3:k");
    assert_int_equal(n, 5);
    /* If a part is not counted in both modes, its counts in single modes stand for it. */
    assert_int_equal(set[0].whole, 3);
    assert_int_equal(set[0].parts, 1 << 7 | 1 << 8);
    assert_int_equal(set[1].whole, 1);
    assert_int_equal(set[1].parts, 1 << 0 | 1 << 5);
    assert_int_equal(set[2].whole, 3);
    assert_int_equal(set[2].parts, 1 << 2);
    assert_int_equal(set[3].whole, 7);
    assert_int_equal(set[3].parts, 1 << 4);
    assert_int_equal(set[4].whole, 2);
    assert_int_equal(set[4].parts, 1 << 4);
}

static void of_other_pmus_only_what_all_vendors_say_is_known(void **state)
{
    (void)state;
    assert_int_equal(
        NESTS("pmuv3", 6, "cycles", "stall.frontend", "stall.backend", "l1d.access", "l1d.miss"),
        2);
    assert_true(set[0].whole == 0 && set[0].parts == 1 << 1);
    assert_true(set[1].whole == 0 && set[1].parts == 1 << 2);
    assert_int_equal(NESTS("pmuv3", 6, "l1d.access", "l1d.miss", "instructions"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wholes_stand_before_their_parts),
        cmocka_unit_test(an_event_has_no_more_in_one_mode_than_in_both),
        cmocka_unit_test(of_other_pmus_only_what_all_vendors_say_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
