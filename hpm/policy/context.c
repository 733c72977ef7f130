/* See context.h. */
#include "hpm/policy/context.h"

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_begin(struct hpm_context *c)
{
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void write_end(struct hpm_context *c)
{
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELEASE);
}

void context_add(struct hpm_context *c, const struct mux_plan *plan, unsigned group,
                 uint64_t cycles, uint64_t length, const uint64_t *count)
{
    write_begin(c);
    c->cycles += cycles;
    mux_add(&c->counts, plan, group, length, count);
    write_end(c);
}

void context_end_slice(struct hpm_context *c, const struct mux_plan *plan)
{
    if (c->counts.open_length < plan->rounds.round - plan->rounds.pass / 2)
        return;
    write_begin(c);
    mux_close(&c->counts, plan);
    write_end(c);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static uint32_t read_begin(const struct hpm_context *c)
{
    return __atomic_load_n(&c->sequence, __ATOMIC_ACQUIRE);
}

/* Returns whether the context was written since read_begin, so that what was read is invalid. */
static bool read_again(const struct hpm_context *c, uint32_t begin)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return (begin & 1) || begin != __atomic_load_n(&c->sequence, __ATOMIC_RELAXED);
}

/* Reads in place: a copy of the context would take ten times as many of the writer's cache lines. A
 * mixture of two states gives a wrong number, which is then dropped, but nothing worse. */
static void read_remote(const struct hpm_context *c, const struct mux_plan *plan,
                        const struct context_figures *figures, struct hpm_remote *out)
{
    static const enum hpm_source sources[] = {SOURCE_REMOTE_L2, SOURCE_REMOTE_L3};
    struct mux_sum sum;

    *out = (struct hpm_remote){.cycles = c->cycles};
    for (unsigned i = 0; i < ARRAY_SIZE(sources); i++) {
        unsigned stall = figures->event[EVENT_DCACHE(sources[i])];
        unsigned served = figures->event[EVENT_SERVED(sources[i])];
        if (stall != GROUP_NIL) {
            mux_read(&c->counts, plan, stall, &sum);
            out->stall += sum.count;
        }
        if (served != GROUP_NIL) {
            mux_read(&c->counts, plan, served, &sum);
            out->served += sum.count;
        }
    }
    if (figures->remote_latency)
        out->stall = MIN(out->served * figures->remote_latency, out->cycles);
}

void context_read_remote(const struct hpm_context *c, const struct mux_plan *plan,
                         const struct context_figures *figures, struct hpm_remote *out)
{
    uint32_t begin;

    do {
        begin = read_begin(c);
        read_remote(c, plan, figures, out);
    } while (read_again(c, begin));
}

/* Returns the accesses that no other source served, for PMUs that do not count those of the L1. */
static uint64_t served_by_l1(const uint64_t *event)
{
    uint64_t accesses = event[EVENT_LOADS] + event[EVENT_STORES], misses = 0;

    for (unsigned i = SOURCE_L1 + 1; i < SOURCE_COUNT; i++)
        misses += event[EVENT_SERVED(i)];
    return accesses > misses ? accesses - misses : 0;
}

static void set_figures(struct hpm_breakdown *out, const struct context_figures *figures,
                        const uint64_t *event)
{
    for (unsigned i = 0; i < STALL_COUNT; i++)
        out->stall[i] = event[EVENT_STALL(i)];
    for (unsigned i = 0; i < SOURCE_COUNT; i++) {
        out->dcache[i] = event[EVENT_DCACHE(i)];
        out->served[i] = event[EVENT_SERVED(i)];
    }
    for (unsigned i = 0; i < MISS_COUNT; i++)
        out->missed[i] = event[EVENT_MISS(i)];
    if (figures->event[EVENT_SERVED(SOURCE_L1)] == GROUP_NIL)
        out->served[SOURCE_L1] = served_by_l1(event);
    hpm_breakdown_fit(out);
}

/* Returns the number of the event's figure in a breakdown; FIT_FIGURES: loads and stores, which are
 * none. */
static unsigned figure_of(unsigned event)
{
    if (event < EVENT_LOADS)
        return event;
    return event < EVENT_MISS(0) ? FIT_FIGURES : FIT_MISSED + event - EVENT_MISS(0);
}

/* Enters `sum`, the logical count of figure event `event`. */
static void take_sum(uint64_t *count, unsigned event, const struct mux_sum *sum,
                     struct hpm_breakdown *out)
{
    uint64_t seen =
        sum->length ? fixed_muldiv(MIN(sum->seen, sum->length), out->cycles, sum->length) : 0;

    count[event] = sum->count;
    if (sum->seen < sum->length)
        out->seen_cycles = MIN(out->seen_cycles, seen);
    if (figure_of(event) == FIT_FIGURES)
        return;
    out->figure_counted[figure_of(event)] = sum->counted;
    out->figure_seen[figure_of(event)] = seen;
}

void context_read(const struct hpm_context *c, const struct mux_plan *plan,
                  const struct context_figures *figures, struct hpm_breakdown *out)
{
    uint64_t event[HPM_EVENTS];
    struct mux_sum sum;
    uint32_t begin;

    do {
        begin = read_begin(c);
        memset(event, 0, sizeof event);
        *out = (struct hpm_breakdown){.cycles = c->cycles, .seen_cycles = c->cycles};
        if (figures->instructions != GROUP_NIL) {
            mux_read(&c->counts, plan, figures->instructions, &sum);
            out->instructions = sum.count;
        }
        for (unsigned i = 0; i < HPM_EVENTS; i++)
            if (figures->event[i] != GROUP_NIL) {
                mux_read(&c->counts, plan, figures->event[i], &sum);
                take_sum(event, i, &sum, out);
            }
    } while (read_again(c, begin));
    set_figures(out, figures, event);
}

void context_count(const struct hpm_context *c, const struct mux_plan *plan, unsigned i,
                   struct mux_sum *out)
{
    uint32_t begin;

    do {
        begin = read_begin(c);
        mux_read(&c->counts, plan, i, out);
    } while (read_again(c, begin));
}

/* Drops sums of logical counts that were born again since; they belong to other events. */
static void follow_plan(struct hpm_sums *sum, const struct mux_plan *plan)
{
    if (sum->generation == plan->generation)
        return;
    for (uint64_t left = sum->held; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        if (plan->born[i] > sum->generation)
            sum->held &= ~(left & -left);
        sum->count[i].rated = 0; /* passes may have another length now */
    }
    sum->generation = plan->generation;
}

static void add_part(struct hpm_sums *sum, unsigned i, const struct mux_sum *part,
                     const struct mux_plan *plan, bool kept)
{
    if (!(sum->held >> i & 1))
        sum->count[i] = *part;
    else if (kept)
        mux_sum_keep(&sum->count[i], part, plan, i);
    else
        mux_sum_add(&sum->count[i], part);
    sum->held |= (uint64_t)1 << i;
    if (kept && plan->events >> i & 1)
        mux_sum_close(&sum->count[i], plan, i);
}

void context_sum(const struct hpm_context *c, const struct mux_plan *plan, uint64_t counts,
                 bool kept, struct hpm_sums *sum, struct mux_sum part[GROUP_EVENTS_MAX])
{
    uint64_t cycles;
    uint32_t begin;

    follow_plan(sum, plan);
    do {
        begin = read_begin(c);
        cycles = c->cycles;
        for (uint64_t left = counts; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctzll(left);
            if (kept)
                mux_ended(&c->counts, plan, i, &part[i]);
            else
                mux_part(&c->counts, plan, i, &part[i]);
        }
    } while (read_again(c, begin));
    sum->cycles += cycles;
    for (uint64_t left = counts; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        add_part(sum, i, &part[i], plan, kept);
    }
}

void sums_add_past(const struct hpm_sums *past, const struct mux_plan *plan, bool kept,
                   struct hpm_sums *sum)
{
    follow_plan(sum, plan);
    sum->cycles += past->cycles;
    for (uint64_t left = past->held; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        struct mux_sum part = past->count[i];
        if (plan->born[i] > past->generation)
            continue;
        if (past->generation != plan->generation)
            part.rated = 0;
        add_part(sum, i, &part, plan, kept);
    }
}

void sums_read(const struct hpm_sums *sums, const struct mux_plan *plan,
               const struct context_figures *figures, struct hpm_breakdown *out)
{
    uint64_t event[HPM_EVENTS] = {0};

    *out = (struct hpm_breakdown){.cycles = sums->cycles, .seen_cycles = sums->cycles};
    if (figures->instructions != GROUP_NIL)
        out->instructions = hpm_sums_count(sums, figures->instructions).count;
    for (unsigned i = 0; i < HPM_EVENTS; i++) {
        unsigned e = figures->event[i];
        if (e == GROUP_NIL || plan->born[e] > sums->generation || !(sums->held >> e & 1))
            continue;
        struct mux_sum sum = hpm_sums_count(sums, e);
        take_sum(event, i, &sum, out);
    }
    set_figures(out, figures, event);
}
