/* The four shares of top-down, level 1, as a PMU's metrics compute them from counts. */
#pragma once
#include "test/host/double/expect_panic.h"
#include "hpm/events/metric.h"

struct counted {
    const char *event; /* as the formula names it; NULL ends the list */
    uint64_t count;
};

static inline uint64_t count_of(const struct counted *counted, const char *name)
{
    for (; counted->event; counted++)
        if (!strcmp(counted->event, name))
            return counted->count;
    fail_msg("no event counted %s", name);
    return 0;
}

static inline int64_t share_of(const struct event_pmu *pmu, const char *metric, const char *unit,
                               const struct counted *counted)
{
    const struct metric *row;
    struct metric_program program;
    struct event events[METRIC_EVENTS_MAX];
    uint64_t count[METRIC_EVENTS_MAX];
    char why[256];

    if (metric_find(pmu, metric, &row, &program, events, why, sizeof why))
        fail_msg("%s", why);
    assert_string_equal(row->unit, unit);
    for (unsigned e = 0; e < program.events; e++)
        count[e] = count_of(counted, program.event[e]);
    struct metric_value v = metric_evaluate(&program, count, ~0u);
    assert_int_equal(v.trouble, METRIC_FINE);
    return v.millionths;
}

/* Checks that the shares are these and add up to everything. */
static inline void assert_shares(const struct event_pmu *pmu, const char *unit,
                                 const struct counted *counted, double retiring,
                                 double bad_speculation, double frontend, double backend)
{
    int64_t r = share_of(pmu, "topdown.retiring", unit, counted);
    int64_t s = share_of(pmu, "topdown.bad_speculation", unit, counted);
    int64_t f = share_of(pmu, "topdown.frontend", unit, counted);
    int64_t b = share_of(pmu, "topdown.backend", unit, counted);

    assert_int_equal(r, retiring * METRIC_ONE);
    assert_int_equal(s, bad_speculation * METRIC_ONE);
    assert_int_equal(f, frontend * METRIC_ONE);
    assert_int_equal(b, backend * METRIC_ONE);
    assert_int_equal(r + s + f + b, 100 * METRIC_ONE);
}
