/* Packing of events with weights, against the best selection of groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "hpm/policy/shares.h"
#include "test/host/double/group_oracle.h"
#include "test/host/double/expect_panic.h"

static struct shares_work work;
static struct group_plan plan;
static struct group_cause cause;
static uint8_t share[GROUP_MAX];

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static struct group_event on(uint32_t mask)
{
    return (struct group_event){.mask = mask, .fixed = GROUP_NIL};
}

static unsigned pack(const struct group_request *r, const uint8_t *weight)
{
    unsigned sum = 0;

    assert_int_equal(shares_pack(r, weight, &plan, share, &work, &cause), 0);
    const char *broken = group_check(r, &plan);
    if (broken)
        fail_msg("%s", broken);
    for (unsigned g = 0; g < plan.groups; g++)
        sum += share[g];
    return sum;
}

static bool is_in(unsigned group, unsigned event)
{
    for (unsigned c = 0; c < GROUP_COUNTERS_ALL; c++)
        if (plan.event[group][c] == event)
            return true;
    return false;
}

/* Returns the slices of a pass in which the event is counted. */
static unsigned slices_of(unsigned event)
{
    unsigned slices = 0;

    for (unsigned g = 0; g < plan.groups; g++)
        slices += is_in(g, event) ? share[g] : 0;
    return slices;
}

static void one_heavy_event_of_nine(void **state)
{
    struct group_event event[9];
    uint8_t weight[9];

    (void)state;
    for (unsigned e = 0; e < 9; e++) {
        event[e] = on(1);
        weight[e] = 1;
    }
    weight[5] = 4;
    assert_int_equal(
        pack(&(struct group_request){.events = 9, .counters = 1, .event = event}, weight), 12);
    assert_int_equal(plan.groups, 9);
    for (unsigned e = 0; e < 9; e++)
        assert_int_equal(slices_of(e), e == 5 ? 4 : 1);
}

static void heavy_events_are_together(void **state)
{
    struct group_event event[8];
    uint8_t weight[8];

    (void)state;
    for (unsigned e = 0; e < 8; e++) {
        event[e] = on(15);
        weight[e] = e % 2 ? 8 : 1;
    }
    assert_int_equal(
        pack(&(struct group_request){.events = 8, .counters = 4, .event = event}, weight), 9);
    assert_int_equal(plan.groups, 2);
}

static void weights_that_are_alike_are_none(void **state)
{
    struct group_event event[] = {on(1), on(1), on(1)};

    (void)state;
    struct group_request r = {.events = 3, .counters = 1, .event = event};
    assert_int_equal(pack(&r, (uint8_t[]){5, 5, 5}), 3);
    assert_int_equal(pack(&r, (uint8_t[]){2, 4, 6}), 6);
    assert_int_equal(slices_of(2), 3);
}

/* The two heavy ones fit into one group if the first may use counter 1 only. */
static void a_heavy_group_more_than_it_takes_may_be_best(void **state)
{
    struct group_event event[] = {on(1), on(3), on(2), on(2)};

    (void)state;
    struct group_request r = {.events = 4, .counters = 2, .event = event};
    assert_int_equal(pack(&r, (uint8_t[]){8, 8, 1, 1}), 10);
    assert_int_equal(pack(&r, (uint8_t[]){4, 4, 3, 3}), 8);
}

static void a_set_weighs_as_its_heaviest_event(void **state)
{
    struct group_event event[] = {on(3), on(3), on(3), on(3)};
    uint64_t set[] = {3, 6};

    (void)state;
    struct group_request r = {.events = 4, .counters = 2, .event = event, .sets = 2, .set = set};
    pack(&r, (uint8_t[]){1, 1, 5, 1});
    for (unsigned e = 0; e < 3; e++)
        assert_true(slices_of(e) >= 5);
}

static void weights_that_need_too_many_groups_are_refused(void **state)
{
    struct group_event event[64];
    uint64_t set[32];
    uint8_t weight[64];

    (void)state;
    for (unsigned e = 0; e < 64; e++) {
        event[e] = on(1);
        weight[e] = 1 + e % 8;
    }
    (void)set;
    struct group_request r = {.events = 64, .counters = 1, .event = event};
    assert_int_equal(pack(&r, weight), 8 * 36);
    r.groups_max = 63;
    assert_int_equal(shares_pack(&r, weight, &plan, share, &work, &cause), -ENOSPC);
    assert_int_equal(cause.why, GROUP_TOO_MANY);
}

static void draw_weights(const struct group_request *r, uint8_t *weight, uint32_t *seed)
{
    unsigned kinds = 1 + next_random(seed) % 4;

    for (unsigned e = 0; e < r->events; e++)
        weight[e] = (uint8_t)(kinds == 4 ? 1 + next_random(seed) % WEIGHT_MAX
                                         : 1 + next_random(seed) % kinds * 3);
}

/* Returns what the shares have been divided by. */
static unsigned divided_by(const struct group_request *r)
{
    unsigned common = 0;

    if (!work.levels)
        return 0;
    for (unsigned by = 1; by <= WEIGHT_MAX; by++) {
        bool divides = true;
        for (unsigned e = 0; e < r->events; e++)
            divides = divides && (r->pinned >> e & 1 || work.weight[e] % by == 0);
        common = divides ? by : common;
    }
    return common;
}

/* Checks that every event is seen for its weight. */
static void check_slices(const struct group_request *r, const uint8_t *weight, unsigned by)
{
    unsigned all = 0;

    for (unsigned g = 0; g < plan.groups; g++)
        all += share[g];
    for (unsigned e = 0; e < r->events; e++) {
        assert_true(slices_of(e) * by >= (r->pinned >> e & 1 ? 0 : weight[e]));
        if (r->pinned >> e & 1)
            assert_int_equal(slices_of(e), all);
    }
}

/* Every event gets the slices that its weight asks for, and the sum of shares is the least, mostly;
 * never a quarter more. */
static void random_requests_have_small_sums(void **state)
{
    unsigned weighed = 0, least = 0;
    uint32_t seed = 7;

    (void)state;
    for (unsigned round = 0; round < 5000; round++) {
        struct group_event event[ORACLE_EVENTS];
        uint64_t set[ORACLE_SETS];
        uint8_t weight[ORACLE_EVENTS];
        struct group_request r;
        oracle_draw(&r, event, set, &seed);
        draw_weights(&r, weight, &seed);
        int err = shares_pack(&r, weight, &plan, share, &work, &cause);
        assert_int_equal(!err, oracle_least_shares(&r, NULL) != 0);
        if (err)
            continue;
        unsigned by = divided_by(&r), sum = pack(&r, weight),
                 best = oracle_least_shares(&r, by ? work.weight : NULL);
        if (by)
            check_slices(&r, weight, by);
        sum *= MAX(by, 1u);
        if (sum < best || sum > best + best / 4)
            fail_msg("round %u: a sum of %u, %u would do", round, sum, best);
        weighed += by != 0;
        least += by && sum == best;
    }
    printf("%u of %u are the least\n", least, weighed);
    assert_in_range(weighed, 1500, 5000);
    assert_in_range(least, weighed * 98 / 100, weighed);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_heavy_event_of_nine),
        TEST(heavy_events_are_together),
        TEST(weights_that_are_alike_are_none),
        TEST(a_heavy_group_more_than_it_takes_may_be_best),
        TEST(a_set_weighs_as_its_heaviest_event),
        TEST(weights_that_need_too_many_groups_are_refused),
        TEST(random_requests_have_small_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
