/* Automatic weights of a session's events: from the variances that their counts, over the whole
 * machine, have had since the weights were looked at last. */
#include "hpm/count.h"
#include "hpm/internal.h"
#include "hpm/wanted.h"
#include "kernel/mem/mem.h"

#define UNITS 100 /* rounds on all CPUs together between two looks */

/* Returns the standard deviation of what the event counts in a slice, as a part of its count, by
 * its share of slices and what was counted since the last look; in 2^-20. */
static uint32_t deviation_of(const struct hpm_session *s, unsigned e, const struct mux_sum *sum)
{
    const struct mux_plan *plan = &hpm_state.plan->mux;
    unsigned slices = plan->slots_with[s->count[e]], others = plan->rounds.slots - slices;
    uint64_t count = sum->count - s->weighed.count[e], rest;
    wide_t variance = sum->variance - s->weighed.variance[e];

    if (!count || !others || sum->variance == WIDE_MAX || variance >> 112)
        return 0;
    uint64_t deviation =
        fixed_isqrt_wide(fixed_div_wide(variance * slices, others, &rest)); /* 2^-8 */
    return (uint32_t)MIN(fixed_muldiv(deviation, 1 << 12, count), (uint64_t)DEVIATION_MAX);
}

static void remember(struct hpm_session *s, const struct hpm_sums *sums, uint64_t units)
{
    s->weighed.units = units;
    for (unsigned e = 0; e < s->request.events; e++) {
        s->weighed.count[e] = sums->count[s->count[e]].count;
        s->weighed.variance[e] = sums->count[s->count[e]].variance;
    }
}

static void weigh(struct hpm_session *s, const struct hpm_sums *sums)
{
    uint32_t deviation[GROUP_EVENTS_MAX] = {0}, of[GROUP_EVENTS_MAX] = {0};
    uint8_t weight[GROUP_EVENTS_MAX], found[GROUP_EVENTS_MAX], event[GROUP_EVENTS_MAX];
    unsigned n = 0;
    bool differ = false;

    for (uint64_t left = s->request.automatic; left; left &= left - 1) {
        unsigned e = (unsigned)__builtin_ctzll(left);
        deviation[e] = deviation_of(s, e, &sums->count[s->count[e]]);
        of[n] = deviation[e];
        event[n++] = (uint8_t)e;
    }
    shares_neyman(of, n, hpm_state.pmu.counters, found);
    memcpy(weight, s->request.weight, sizeof weight);
    for (unsigned i = 0; i < n; i++) {
        differ |= found[i] != MAX(weight[event[i]], 1);
        weight[event[i]] = found[i];
    }
    if (differ)
        wanted_reweigh(s, weight, deviation);
}

void hpm_session_weigh(struct hpm_session *s)
{
    struct hpm_sums *sums = s->request.automatic ? kmalloc(sizeof(*sums)) : NULL;
    uint64_t units = 0;

    if (!sums)
        return; /* at the next reading */
    hpm_sum_machine(hpm_session_counts(s), sums);
    for (uint64_t left = s->request.automatic & ~s->request.pinned; left; left &= left - 1)
        units = MAX(units, sums->count[s->count[__builtin_ctzll(left)]].units);
    if (units - s->weighed.units >= UNITS) {
        weigh(s, sums);
        remember(s, sums, units);
    }
    kfree(sums);
}
