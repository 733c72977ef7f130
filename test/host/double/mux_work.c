/* See mux_work.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/host/double/mux_work.h"

const struct group_plan *groups(void)
{
    static struct group_plan plan = {.groups = GROUPS, .least = GROUPS};

    memset(plan.event, GROUP_NIL, sizeof plan.event);
    for (unsigned g = 0; g < GROUPS; g++) {
        plan.event[g][3] = (uint8_t)g;
        plan.event[g][GROUP_FIXED(1)] = PINNED;
    }
    plan.event[0][0] = plan.event[2][1] = 4;
    return &plan;
}

struct mux_plan plan_of(unsigned passes, const uint8_t *share)
{
    struct mux_config c = config_of(passes, share);
    struct mux_plan p;

    assert_int_equal(mux_plan_init(&p, &c, groups()), 0);
    return p;
}

void assert_sound(const struct mux_counts *c, const struct mux_plan *p)
{
    const char *broken = mux_check(c, p);

    if (broken)
        fail_msg("%s", broken);
}

void count_by_counter(unsigned group, const uint64_t *by_event, uint64_t *by_counter)
{
    for (unsigned counter = 0; counter < GROUP_COUNTERS_ALL; counter++) {
        unsigned e = groups()->event[group][counter];
        by_counter[counter] = e == GROUP_NIL ? 12345 : by_event[e];
    }
}

void add_slice(struct mux_counts *c, const struct mux_plan *p, unsigned group, uint64_t length,
               uint64_t n)
{
    uint64_t by_event[EVENTS] = {n, n, n, n, n, n}, count[GROUP_COUNTERS_ALL];

    count_by_counter(group, by_event, count);
    mux_add(c, p, group, length, count);
}
