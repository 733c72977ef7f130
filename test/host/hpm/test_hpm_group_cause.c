/* Requests that cannot be met: the named cause is one, and names nothing that is not part of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "hpm/events/group.h"

static struct group_work work;
static struct group_plan plan;

static struct group_event on(uint32_t mask)
{
    return (struct group_event){.mask = mask, .fixed = GROUP_NIL};
}

static struct group_cause assert_refused(const struct group_request *r, int expected,
                                         enum group_why why)
{
    struct group_cause cause;

    assert_int_equal(group_pack(r, &plan, &work, &cause), expected);
    assert_int_equal(cause.why, why);
    assert_int_equal(plan.groups, 0);
    for (unsigned p = 0; p < GROUP_COUNTERS_ALL; p++)
        assert_int_equal(plan.event[0][p], GROUP_NIL);
    return cause;
}

static void sizes_beyond_the_limits_are_refused(void **state)
{
    struct group_event event[GROUP_EVENTS_MAX + 1];
    uint64_t set[GROUP_SETS_MAX + 1];
    struct group_request good = {.events = 2, .counters = 2, .event = event, .set = set}, r;

    (void)state;
    for (unsigned e = 0; e < ARRAY_SIZE(event); e++)
        event[e] = on(3);
    for (unsigned s = 0; s < ARRAY_SIZE(set); s++)
        set[s] = 3;
    assert_int_equal(group_pack(&good, &plan, &work, NULL), 0);
    r = good;
    r.events = GROUP_EVENTS_MAX + 1;
    assert_refused(&r, -EINVAL, GROUP_SIZES);
    r = good;
    r.counters = 0;
    assert_refused(&r, -EINVAL, GROUP_SIZES);
    r = good;
    r.counters = GROUP_COUNTERS_MAX + 1;
    assert_refused(&r, -EINVAL, GROUP_SIZES);
    r = good;
    r.sets = GROUP_SETS_MAX + 1;
    assert_refused(&r, -EINVAL, GROUP_SIZES);
    r = good;
    r.groups_max = GROUP_MAX + 1;
    assert_refused(&r, -EINVAL, GROUP_SIZES);
    r = good;
    r.pinned = 4;
    assert_refused(&r, -EINVAL, GROUP_SIZES);
}

static void a_set_of_nothing_or_of_unknown_events_is_named(void **state)
{
    struct group_event event[] = {on(3), on(3)};
    uint64_t set[] = {3, 0};
    struct group_request r = {.events = 2, .counters = 2, .sets = 2, .event = event, .set = set};

    (void)state;
    assert_int_equal(assert_refused(&r, -EINVAL, GROUP_BAD_SET).set, 1);
    set[1] = 5;
    assert_int_equal(assert_refused(&r, -EINVAL, GROUP_BAD_SET).set, 1);
}

static void an_event_no_counter_can_count_is_named(void **state)
{
    struct group_event event[] = {on(3), {.mask = 0x10, .fixed = 2}};
    struct group_request r = {.events = 2, .counters = 4, .fixed = 3, .event = event};

    (void)state;
    assert_int_equal(assert_refused(&r, -EINVAL, GROUP_NO_COUNTER).event, 1);
    r.fixed = 4;
    assert_int_equal(group_pack(&r, &plan, &work, NULL), 0);
    r = (struct group_request){.events = 2, .counters = 5, .fixed = 3, .event = event};
    assert_int_equal(group_pack(&r, &plan, &work, NULL), 0);
}

static void two_events_that_exclude_each_other_are_named(void **state)
{
    struct group_event event[] = {on(7), on(7), on(7), on(7)};
    uint64_t set[] = {6, 9};
    struct group_request r = {.events = 4, .counters = 3, .event = event, .set = set};
    struct group_cause cause;

    (void)state;
    event[0].exclusion = event[3].exclusion = 7;
    r.pinned = 9; /* both in every group */
    cause = assert_refused(&r, -EINVAL, GROUP_EXCLUDED);
    assert_int_equal(cause.event | cause.other << 8 | cause.set << 16,
                     0 | 3 << 8 | GROUP_NIL << 16);
    r.pinned = 8; /* one in every group, so the other in none */
    cause = assert_refused(&r, -EINVAL, GROUP_EXCLUDED);
    assert_int_equal(cause.event | cause.other << 8 | cause.set << 16,
                     0 | 3 << 8 | GROUP_NIL << 16);
    r.pinned = 0;
    assert_int_equal(group_pack(&r, &plan, &work, NULL), 0);
    r.sets = 2; /* the second wants both */
    cause = assert_refused(&r, -EINVAL, GROUP_EXCLUDED);
    assert_int_equal(cause.event | cause.other << 8 | cause.set << 16, 0 | 3 << 8 | 1 << 16);
}

static void events_with_too_few_counters_between_them_are_named(void **state)
{
    struct group_event event[] = {on(1), on(6), on(1), on(7), on(2)};
    uint64_t set[] = {0x1a, 0x15};
    struct group_request r = {.events = 5, .counters = 3, .event = event, .set = set};
    struct group_cause cause;

    (void)state;
    r.pinned = 5; /* two events for counter 0 */
    cause = assert_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(cause.crowd, 5);
    assert_int_equal(cause.event, GROUP_NIL);
    r.pinned = 1;
    cause = assert_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(cause.crowd, 5);
    assert_int_equal(cause.event, 2);
    r.pinned = 0;
    r.sets = 2;
    cause = assert_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(cause.crowd, 5);
    assert_int_equal(cause.set, 1);
    set[1] = 0x1b; /* four events for three counters */
    cause = assert_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(cause.crowd, 0x1b);
}

static void more_groups_than_allowed_are_refused(void **state)
{
    struct group_event event[] = {on(1), on(1), on(1)};
    struct group_request r = {.events = 3, .counters = 1, .event = event, .groups_max = 2};

    (void)state;
    assert_refused(&r, -ENOSPC, GROUP_TOO_MANY);
    r.groups_max = 3;
    assert_int_equal(group_pack(&r, &plan, &work, NULL), 0);
    assert_int_equal(plan.groups, 3);
}

/* Returns whether the events of `left` fit on different counters, by trying everything. */
static bool seatable(const struct group_event *event, uint64_t left, uint32_t free)
{
    if (!left)
        return true;
    for (uint32_t may = event[__builtin_ctzll(left)].mask & free; may; may &= may - 1)
        if (seatable(event, left & (left - 1), free & ~(may & -may)))
            return true;
    return false;
}

static void a_crowd_is_too_large_by_exactly_one(void **state)
{
    uint32_t seed = 5;
    unsigned crowds = 0;

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        struct group_event event[6];
        struct group_request r = {.events = 6, .counters = 5, .event = event, .pinned = 0x1f};
        struct group_cause cause;
        for (unsigned e = 0; e < 6; e++) {
            seed = seed * 1664525 + 1013904223;
            event[e] = on((seed >> 10 & seed >> 20 & 31) | 1u << (seed >> 27) % 5);
        }
        int err = group_pack(&r, &plan, &work, &cause);
        assert_int_equal(err == 0, seatable(event, 0x3f, 0x1f));
        if (!err)
            continue;
        crowds++;
        assert_int_equal(cause.why, GROUP_CROWDED);
        assert_false(seatable(event, cause.crowd, 0x1f));
        for (uint64_t left = cause.crowd; left; left &= left - 1)
            assert_true(seatable(event, cause.crowd & ~(left & -left), 0x1f));
    }
    assert_true(crowds > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_beyond_the_limits_are_refused),
        cmocka_unit_test(a_set_of_nothing_or_of_unknown_events_is_named),
        cmocka_unit_test(an_event_no_counter_can_count_is_named),
        cmocka_unit_test(two_events_that_exclude_each_other_are_named),
        cmocka_unit_test(events_with_too_few_counters_between_them_are_named),
        cmocka_unit_test(more_groups_than_allowed_are_refused),
        cmocka_unit_test(a_crowd_is_too_large_by_exactly_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
