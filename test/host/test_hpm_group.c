/* Packing of events into counter groups, against trying every arrangement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "hpm/group.h"

/* Oracle: are the events from e on, and the pinned ones in every group, placeable?  Tries everything. */
struct search {
    const struct group_request *r;
    unsigned groups;
    bool taken[4][4];
};

static bool place_rest(struct search *s, unsigned e, unsigned group);

static bool place_in(struct search *s, unsigned e, unsigned group, unsigned next_e, unsigned next_group)
{
    for (unsigned c = 0; c < s->r->counters; c++) {
        if (s->taken[group][c] || !(s->r->mask[e] >> c & 1))
            continue;
        s->taken[group][c] = true;
        bool done = place_rest(s, next_e, next_group);
        s->taken[group][c] = false;
        if (done)
            return true;
    }
    return false;
}

static bool place_rest(struct search *s, unsigned e, unsigned group)
{
    if (e == s->r->events)
        return true;
    if (s->r->pinned >> e & 1) {
        bool last = group + 1 == s->groups;
        return place_in(s, e, group, last ? e + 1 : e, last ? 0 : group + 1);
    }
    for (unsigned g = 0; g < s->groups; g++)
        if (place_in(s, e, g, e + 1, 0))
            return true;
    return false;
}

static unsigned fewest_groups(const struct group_request *r, unsigned limit)
{
    for (unsigned groups = 1; groups <= limit; groups++) {
        struct search s = {.r = r, .groups = groups};
        if (place_rest(&s, 0, 0))
            return groups;
    }
    return 0;
}

static void assert_optimal(const struct group_request *r)
{
    struct group_plan plan;
    bool hopeless = (unsigned)__builtin_popcount(r->pinned) > r->counters;
    unsigned expected = hopeless ? 0 : fewest_groups(r, 4);
    int err = group_pack(r, &plan);

    if (!expected) {
        if (!err)
            assert_true(plan.groups > 4);
        return;
    }
    assert_int_equal(err, 0);
    const char *broken = group_check(r, &plan);
    if (broken)
        fail_msg("%s", broken);
    assert_int_equal(plan.groups, expected);
}

/* Every choice of masks and pinned events for up to four events on two or three counters; of the largest set,
 * a seventh. */
static void packs_as_few_groups_as_trying_everything_finds(void **state)
{
    (void)state;
    for (unsigned counters = 2; counters <= 3; counters++)
        for (unsigned events = 1; events <= 4; events++) {
            unsigned kinds = (1u << counters) - 1, combinations = 1;
            for (unsigned e = 0; e < events; e++)
                combinations *= kinds;
            for (unsigned choice = 0; choice<combinations; choice += combinations> 1000 ? 7 : 1) {
                uint32_t mask[4];
                for (unsigned e = 0, rest = choice; e < events; e++, rest /= kinds)
                    mask[e] = rest % kinds + 1;
                for (uint32_t pinned = 0; pinned < 1u << events; pinned++)
                    assert_optimal(&(struct group_request){
                        .events = events, .counters = counters, .mask = mask, .pinned = pinned});
            }
        }
}

static void random_larger_requests_are_packed_as_well_as_trying_everything(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 500; round++) {
        uint32_t mask[6];
        seed = seed * 1664525 + 1013904223;
        unsigned events = 5 + (seed >> 20) % 2, counters = 3 + (seed >> 24) % 2;
        for (unsigned e = 0; e < events; e++) {
            seed = seed * 1664525 + 1013904223;
            mask[e] = (seed >> 16) % ((1u << counters) - 1) + 1;
        }
        assert_optimal(&(struct group_request){
            .events = events, .counters = counters, .mask = mask, .pinned = seed >> 8 & 1});
    }
}

static void a_pinned_event_may_change_its_counter_between_groups(void **state)
{
    uint32_t mask[] = {3, 1, 2};
    struct group_request r = {.events = 3, .counters = 2, .mask = mask, .pinned = 1};
    struct group_plan plan;

    (void)state;
    assert_int_equal(group_pack(&r, &plan), 0);
    assert_int_equal(plan.groups, 2);
    assert_null(group_check(&r, &plan));
}

static void a_counter_left_over_counts_something_again(void **state)
{
    uint32_t mask[] = {3, 3, 3};
    struct group_request r = {.events = 3, .counters = 2, .mask = mask};
    struct group_plan plan;

    (void)state;
    assert_int_equal(group_pack(&r, &plan), 0);
    assert_int_equal(plan.groups, 2);
    for (unsigned g = 0; g < 2; g++)
        for (unsigned c = 0; c < 2; c++)
            assert_int_not_equal(plan.event[g][c], GROUP_NO_EVENT);
}

static void impossible_requests_are_refused(void **state)
{
    uint32_t mask[GROUP_EVENTS_MAX + 1];
    struct group_plan plan;
    struct group_request r = {.events = 1, .counters = 2, .mask = mask};

    (void)state;
    memset(mask, 0xff, sizeof mask);
    mask[0] = 4; /* only on a counter that is not there */
    assert_int_equal(group_pack(&r, &plan), -EINVAL);
    mask[0] = 1;
    r.counters = 0;
    assert_int_equal(group_pack(&r, &plan), -EINVAL);
    r.counters = GROUP_COUNTERS_MAX + 1;
    assert_int_equal(group_pack(&r, &plan), -EINVAL);
    r.counters = 2;
    r.events = GROUP_EVENTS_MAX + 1;
    assert_int_equal(group_pack(&r, &plan), -EINVAL);
    r.events = 1;
    r.pinned = 2;
    assert_int_equal(group_pack(&r, &plan), -EINVAL);
    r = (struct group_request){.events = GROUP_MAX + 1, .counters = 1, .mask = mask};
    assert_int_equal(group_pack(&r, &plan), -ENOSPC);
    r = (struct group_request){.events = 2, .counters = 1, .mask = mask, .pinned = 3};
    assert_int_equal(group_pack(&r, &plan), -ENOSPC);
}

static void no_events_need_no_group(void **state)
{
    struct group_request r = {.counters = 4};
    struct group_plan plan;

    (void)state;
    assert_int_equal(group_pack(&r, &plan), 0);
    assert_int_equal(plan.groups, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_as_few_groups_as_trying_everything_finds),
        cmocka_unit_test(random_larger_requests_are_packed_as_well_as_trying_everything),
        cmocka_unit_test(a_pinned_event_may_change_its_counter_between_groups),
        cmocka_unit_test(a_counter_left_over_counts_something_again),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(no_events_need_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
