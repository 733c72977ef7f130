/* What was counted in the turns, scaled, and its variance; see mux.h. */
#include "hpm/mux.h"

/* A group has had its part of a unit when it was on for this fraction of its fair share. */
enum { FAIR_PART = 4 };

/* Of rates and weights in the variance; see the ranges in mux.h. */
#define RATE_BITS   8
#define RATE_MAX    ((1ull << 47) - 1)
#define WEIGHT_BITS 12
#define WEIGHT_MAX  (1ull << (WEIGHT_BITS + 14))

static uint64_t bit(unsigned n)
{
    return 1ull << n;
}

static uint64_t all_groups(const struct mux_rounds *r)
{
    return r->groups == 64 ? ~0ull : bit(r->groups) - 1;
}

void mux_add(struct mux_counts *c, const struct mux_plan *p, unsigned group, uint64_t length,
             const uint64_t count[GROUP_PLACES])
{
    ASSERT(group < p->rounds.groups);
    c->length += length;
    c->open_length += length;
    c->open_seen[group] += length;
    for (unsigned place = 0; place < GROUP_PLACES; place++) {
        unsigned e = p->groups->event[group][place];
        if (e != GROUP_NIL)
            c->event[e].open += count[place];
    }
}

/* Is seen a fair part of length for so many of a pass's slices? */
static bool fair(const struct mux_plan *p, uint64_t seen, uint64_t length, unsigned slots)
{
    return seen && seen >= fixed_muldiv(length, slots, FAIR_PART * p->rounds.slots);
}

uint64_t mux_unseen(const struct mux_counts *c, const struct mux_plan *p)
{
    uint64_t unseen = 0;

    for (unsigned g = 0; g < p->rounds.groups; g++)
        if (!fair(p, c->open_seen[g], c->open_length, p->rounds.share[g]))
            unseen |= bit(g);
    return unseen;
}

/* Of the open unit, the length in which the event was counted. */
static uint64_t open_seen(const struct mux_counts *c, const struct mux_plan *p, unsigned event)
{
    uint64_t seen = 0;

    for (uint64_t left = p->groups_with[event]; left; left &= left - 1)
        seen += c->open_seen[__builtin_ctzll(left)];
    return seen;
}

/* Adds count * length / seen, with its fraction. */
static void add_scaled(struct mux_count *e, uint64_t count, uint64_t length, uint64_t seen)
{
    uint64_t rest;
    wide_t whole = fixed_div_wide((wide_t)count * length, seen, &rest);
    uint64_t fraction = e->fraction + fixed_muldiv(rest, 1ull << 32, seen);
    wide_t total = whole + e->total + (fraction >> 32);

    e->fraction = (uint32_t)fraction;
    e->total = total > UINT64_MAX ? UINT64_MAX : (uint64_t)total;
}

/* The variance that the unit adds: half the squared difference of two successive rates is the variance of one, and the unit
 * has length / pass times the rate, known but for the part not seen: (length / pass)^2 (1 - seen / length). */
static wide_t unit_variance(const struct mux_rounds *r, uint64_t difference, uint64_t length, uint64_t seen)
{
    uint64_t all = MIN(fixed_muldiv(length, 1 << WEIGHT_BITS, r->pass), WEIGHT_MAX);
    uint64_t unseen = MIN(fixed_muldiv(length - seen, 1 << WEIGHT_BITS, r->pass), WEIGHT_MAX);
    wide_t product = fixed_mul_wide((wide_t)difference * difference / 2, all * unseen >> WEIGHT_BITS);

    return product == WIDE_MAX ? WIDE_MAX : product >> WEIGHT_BITS;
}

static void close_event(struct mux_counts *c, const struct mux_plan *p, unsigned event)
{
    struct mux_count *e = &c->event[event];
    uint64_t seen = open_seen(c, p, event), length = c->open_length;
    uint64_t rate = MIN(fixed_muldiv(e->open, p->rounds.pass << RATE_BITS, seen), RATE_MAX);

    add_scaled(e, e->open, length, seen);
    if (seen < length) {
        uint64_t difference = rate > e->rate ? rate - e->rate : e->rate - rate;
        if (rate == RATE_MAX || length >> 14 > p->rounds.pass)
            e->variance = WIDE_MAX;
        else if (c->units)
            e->variance = fixed_add_wide(e->variance, unit_variance(&p->rounds, difference, length, seen));
    }
    e->rate = rate;
    e->seen += seen;
    e->counted += e->open;
    e->open = 0;
}

bool mux_close(struct mux_counts *c, const struct mux_plan *p)
{
    if (c->open_length < p->rounds.pass - p->rounds.pass / 16 || mux_unseen(c, p))
        return false;
    for (unsigned e = 0; e < GROUP_EVENTS_MAX; e++)
        if (p->groups_with[e])
            close_event(c, p, e);
    c->units++;
    c->open_length = 0;
    memset(c->open_seen, 0, sizeof c->open_seen);
    return true;
}

const char *mux_check(const struct mux_counts *c, const struct mux_plan *p)
{
    uint64_t closed = c->length - c->open_length, open = 0;

    if (c->open_length > c->length)
        return "an open unit longer than everything";
    for (unsigned g = 0; g < GROUP_MAX; g++) {
        if (c->open_seen[g] && g >= p->rounds.groups)
            return "a group that there is not has counted";
        open += c->open_seen[g];
    }
    if (open != c->open_length)
        return "groups that do not add up to the open unit";
    if (!c->units != !closed)
        return "length in no closed unit";
    for (unsigned i = 0; i < GROUP_EVENTS_MAX; i++) {
        const struct mux_count *e = &c->event[i];
        if (!p->groups_with[i] && (e->open || e->counted || e->total || e->seen))
            return "counts of an event that is in no group";
        if (e->seen > closed || (p->groups_with[i] && c->units && !e->seen))
            return "an event seen for longer than there was, or never";
        if (e->total < e->counted)
            return "less in all than was counted";
        if (p->groups_with[i] == all_groups(&p->rounds) && (e->variance || e->total != e->counted))
            return "an event of every group that is not exact";
        if (c->units < 2 && e->variance && e->variance != WIDE_MAX)
            return "a variance of less than two units";
    }
    return NULL;
}

/* ---- Readings ---- */

static uint64_t open_estimate(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
                              uint64_t seen)
{
    const struct mux_count *e = &c->event[event];
    uint64_t closed = c->length - c->open_length;

    if (seen == c->open_length)
        return e->open;
    if (closed && !fair(p, seen, c->open_length, p->slots_with[event]))
        return fixed_add(e->open, fixed_muldiv(e->total, c->open_length - seen, closed));
    return seen ? fixed_muldiv(e->open, c->open_length, seen) : e->open;
}

void mux_read(const struct mux_counts *c, const struct mux_plan *p, unsigned event, struct mux_sum *out)
{
    const struct mux_count *e = &c->event[event];
    uint64_t seen = open_seen(c, p, event), open = open_estimate(c, p, event, seen);

    *out = (struct mux_sum){
        .length = c->length,
        .closed = c->length - c->open_length,
        .seen = e->seen + seen,
        .counted = e->counted + e->open,
        .count = fixed_add(e->total, open),
        .units = c->units,
        .pairs = c->units ? c->units - 1 : 0,
        .variance = e->variance,
    };
}

void mux_sum_add(struct mux_sum *sum, const struct mux_sum *part)
{
    sum->length += part->length;
    sum->closed += part->closed;
    sum->seen += part->seen;
    sum->counted += part->counted;
    sum->count = fixed_add(sum->count, part->count);
    sum->units += part->units;
    sum->pairs += part->pairs;
    sum->variance = fixed_add_wide(sum->variance, part->variance);
}

void mux_sum_sub(struct mux_sum *from, const struct mux_sum *earlier)
{
    from->length -= earlier->length;
    from->closed -= earlier->closed;
    from->seen -= earlier->seen;
    from->counted -= earlier->counted;
    /* The earlier estimate of its open unit may have been too high. */
    if (from->count != UINT64_MAX)
        from->count = MAX(from->count - MIN(earlier->count, from->count), from->counted);
    from->units -= earlier->units;
    from->pairs -= earlier->pairs;
    if (from->variance != WIDE_MAX)
        from->variance -= earlier->variance;
}
