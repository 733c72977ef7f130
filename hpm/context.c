/* Summing and scaling of counts; see context.h. */
#include "hpm/context.h"

/* A group has had its part of a round when it was on for this fraction of its fair share. */
enum { FAIR_PART = 4 };

uint64_t context_scale(uint64_t count, uint64_t all, uint64_t seen)
{
    uint64_t whole = count / seen * all, rest = count % seen;
    unsigned bits = log2_floor(all | 1) + log2_floor(rest | 1);
    unsigned shift = bits > 62 ? bits - 62 : 0; /* of rest and seen: the product stays below 2^64 */

    return seen >> shift ? whole + (rest >> shift) * all / (seen >> shift) : whole;
}

/* Cycles of the open round in which the event was counted, and its count. */
static uint64_t open_seen(const struct hpm_context *c, const struct context_plan *plan, unsigned event,
                          uint64_t *count)
{
    uint64_t seen = 0;

    *count = 0;
    for (unsigned g = 0; g < plan->groups; g++) {
        if (!(plan->groups_with[event] >> g & 1))
            continue;
        seen += c->open[g].cycles;
        for (unsigned i = 0; i < plan->counters; i++)
            if (plan->event[g][i] == event)
                *count += c->open[g].count[i];
    }
    return seen;
}

static bool round_complete(const struct hpm_context *c, const struct context_plan *plan)
{
    if (c->open_cycles < plan->round_cycles)
        return false;
    for (unsigned g = 0; g < plan->groups; g++)
        if (c->open[g].cycles < c->open_cycles / (FAIR_PART * plan->groups))
            return false;
    return true;
}

static void close_round(struct hpm_context *c, const struct context_plan *plan)
{
    uint64_t least = c->open_cycles;

    for (unsigned e = 0; e < HPM_EVENTS; e++) {
        if (!plan->groups_with[e])
            continue;
        uint64_t count, seen = open_seen(c, plan, e, &count);
        c->latest[e] = context_scale(count, c->open_cycles, seen);
        c->total[e] += c->latest[e];
        least = MIN(least, seen);
    }
    c->closed_cycles += c->open_cycles;
    c->latest_cycles = c->open_cycles;
    c->seen_cycles += least;
    c->open_cycles = 0;
    memset(c->open, 0, sizeof c->open);
}

void context_add(struct hpm_context *c, const struct context_plan *plan, unsigned group,
                 const struct context_delta *d)
{
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    c->cycles += d->cycles;
    c->instructions += d->instructions;
    c->open_cycles += d->cycles;
    c->open[group].cycles += d->cycles;
    for (unsigned i = 0; i < plan->counters; i++)
        c->open[group].count[i] += d->count[i];
    if (round_complete(c, plan))
        close_round(c, plan);
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELEASE);
}

/* What the event amounts to in the open round: by the round itself where it was seen long enough, else the cycles it was not
 * seen in go by the rate of the round before. */
static uint64_t open_estimate(const struct hpm_context *c, const struct context_plan *plan, unsigned event,
                              uint64_t *seen)
{
    uint64_t count;

    *seen = open_seen(c, plan, event, &count);
    if (*seen == c->open_cycles)
        return count;
    if (c->latest_cycles && *seen < c->open_cycles / (FAIR_PART * plan->groups))
        return count + context_scale(c->latest[event], c->open_cycles - *seen, c->latest_cycles);
    return *seen ? context_scale(count, c->open_cycles, *seen) : 0;
}

static uint32_t read_begin(const struct hpm_context *c)
{
    return __atomic_load_n(&c->sequence, __ATOMIC_ACQUIRE);
}

/* What was read since is of no use. */
static bool read_again(const struct hpm_context *c, uint32_t begin)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return (begin & 1) || begin != __atomic_load_n(&c->sequence, __ATOMIC_RELAXED);
}

static void copy_consistent(struct hpm_context *out, const struct hpm_context *c)
{
    uint32_t begin;

    do {
        begin = read_begin(c);
        memcpy(out, c, sizeof *out);
    } while (read_again(c, begin));
}

/* Where no event counts what the L1 served, it is the rest of the accesses. */
static uint64_t served_by_l1(const uint64_t *event)
{
    uint64_t accesses = event[EVENT_LOADS] + event[EVENT_STORES], misses = 0;

    for (unsigned i = SOURCE_L1 + 1; i < SOURCE_COUNT; i++)
        misses += event[EVENT_SERVED(i)];
    return accesses > misses ? accesses - misses : 0;
}

/* In place: a copy of everything would take the writer's cache ten times as many lines.  Halves of two states may give any
 * number, which is then thrown away, but nothing worse. */
static void read_remote(const struct hpm_context *c, const struct context_plan *plan, struct hpm_remote *out)
{
    static const enum hpm_source sources[] = {SOURCE_REMOTE_L2, SOURCE_REMOTE_L3};
    uint64_t seen;

    *out = (struct hpm_remote){.cycles = c->cycles};
    for (unsigned i = 0; i < ARRAY_SIZE(sources); i++) {
        unsigned stall = EVENT_DCACHE(sources[i]), served = EVENT_SERVED(sources[i]);
        if (plan->groups_with[stall])
            out->stall += c->total[stall] + open_estimate(c, plan, stall, &seen);
        if (plan->groups_with[served])
            out->served += c->total[served] + open_estimate(c, plan, served, &seen);
    }
}

void context_read_remote(const struct hpm_context *c, const struct context_plan *plan, struct hpm_remote *out)
{
    uint32_t begin;

    do {
        begin = read_begin(c);
        read_remote(c, plan, out);
    } while (read_again(c, begin));
}

void context_read(const struct hpm_context *from, const struct context_plan *plan, struct hpm_breakdown *out)
{
    struct hpm_context c;
    uint64_t event[HPM_EVENTS] = {0}, least, seen;

    copy_consistent(&c, from);
    memset(out, 0, sizeof *out);
    out->cycles = c.cycles;
    out->instructions = c.instructions;
    least = c.open_cycles;
    for (unsigned e = 0; e < HPM_EVENTS; e++) {
        if (!plan->groups_with[e])
            continue;
        event[e] = c.total[e] + open_estimate(&c, plan, e, &seen);
        least = MIN(least, seen);
    }
    for (unsigned i = 0; i < STALL_COUNT; i++)
        out->stall[i] = event[EVENT_STALL(i)];
    for (unsigned i = 0; i < SOURCE_COUNT; i++) {
        out->dcache[i] = event[EVENT_DCACHE(i)];
        out->served[i] = event[EVENT_SERVED(i)];
    }
    for (unsigned i = 0; i < MISS_COUNT; i++)
        out->missed[i] = event[EVENT_MISS(i)];
    if (!plan->groups_with[EVENT_SERVED(SOURCE_L1)])
        out->served[SOURCE_L1] = served_by_l1(event);
    out->seen_cycles = plan->groups ? c.seen_cycles + least : 0;
    out->seen_permille = out->cycles ? (uint32_t)context_scale(out->seen_cycles, 1000, out->cycles) : 0;
}
