/* Counts of turns, scaled, and their variance; see mux.h. */
#include "hpm/policy/mux.h"

/* A group has had its part of a unit when it counted for this fraction of its fair share. */
enum { FAIR_PART = 4 };

/* Fixed point of rates, of weights in the variance, and of ratios of lengths, which are below 2^12;
 * see the ranges in mux.h. */
#define RATE_BITS   8
#define RATIO_BITS  40
#define RATE_MAX    ((1ull << 47) - 1)
#define WEIGHT_BITS 12
#define WEIGHT_MAX  (1ull << (WEIGHT_BITS + 14))

/* A unit that was counted as a whole needs no rate. */
#define RATE_NONE UINT64_MAX

static unsigned first_of(uint64_t events)
{
    return (unsigned)__builtin_ctzll(events);
}

/* Cuts the open unit. The event's count is exact if it was seen all the time; else the rest goes by
 * the mean so far, if there is one, and its variance grows in proportion. Before the first unit
 * there is no mean, and the unit stays a part of pools. */
static void cut_event(struct mux_count *e, const struct mux_open *open, uint64_t length)
{
    uint64_t count = e->units ? open->count : 0;

    if (e->units && open->seen < length) {
        uint64_t share = fixed_muldiv(length, 1 << WEIGHT_BITS, e->length);
        wide_t more = fixed_mul_wide(e->variance >> WEIGHT_BITS, share);
        count = fixed_add(count, fixed_muldiv(e->total, length - open->seen, e->length));
        e->variance = e->variance == WIDE_MAX ? WIDE_MAX : fixed_add_wide(e->variance, more);
    }
    e->total = fixed_add(e->total, count);
    e->counted += open->count;
    e->seen += open->seen;
    e->length += length;
}

/* Another plan counts from now on. */
static void adopt_plan(struct mux_counts *c, const struct mux_plan *p)
{
    ASSERT(p->generation > c->generation);
    for (uint64_t left = c->open_length ? c->events : 0; left; left &= left - 1)
        cut_event(&c->event[first_of(left)], &c->open[first_of(left)], c->open_length);
    memset(c->open, 0, sizeof c->open);
    c->open_length = 0;
    for (uint64_t left = p->events; left; left &= left - 1)
        if (p->born[first_of(left)] > c->generation)
            c->event[first_of(left)] = (struct mux_count){0};
    c->events = p->events;
    c->generation = p->generation;
}

void mux_add(struct mux_counts *c, const struct mux_plan *p, unsigned group, uint64_t length,
             const uint64_t *count)
{
    ASSERT(group < p->rounds.groups);
    if (c->generation != p->generation)
        adopt_plan(c, p);
    c->length += length;
    c->open_length += length;
    const struct mux_seat *seat = p->group[group].seat;
    for (unsigned n = p->group[group].seats; n; n--, seat++) {
        c->open[seat->event].count += count[seat->counter];
        c->open[seat->event].seen += length;
    }
}

/* ---- Closing --------------------------------------------------------------------------------- */

/* Returns whether `seen` is a fair part of `length` for an event with `slots` slices of a pass. */
static bool is_fair(const struct mux_plan *p, uint64_t seen, uint64_t length, unsigned slots)
{
    if (!(length >> 48)) /* the products fit: the factors are at most 2^10 and 2^8 */
        return seen && seen * (FAIR_PART * p->rounds.slots) >= length * slots;
    return seen && (wide_t)seen * (FAIR_PART * p->rounds.slots) >= (wide_t)length * slots;
}

/* In the plan's order, events of the same groups are neighbours and are checked once. */
static bool all_seen(const struct mux_counts *c, const struct mux_plan *p)
{
    uint64_t seen = 0;
    unsigned slots = 0;

    for (const uint8_t *at = p->order, *end = at + p->counted; at < end; at++) {
        if (c->open[*at].seen == seen && p->slots_with[*at] == slots)
            continue;
        seen = c->open[*at].seen;
        slots = p->slots_with[*at];
        if (!is_fair(p, seen, c->open_length, slots))
            return false;
    }
    return true;
}

/* A unit being closed. Figures that events seen for the same length share are computed once for
 * those in a row. */
struct closing {
    uint64_t length, pass;
    uint64_t all;         /* length / pass, in 2^-WEIGHT_BITS */
    uint64_t seen;        /* length for which scale and rate are valid */
    uint64_t scale, rate; /* length / seen and pass / seen, in 2^-RATIO_BITS */
};

static uint64_t parts_of(uint64_t length, uint64_t pass)
{
    return MIN(fixed_muldiv(length, 1 << WEIGHT_BITS, pass), WEIGHT_MAX);
}

static struct closing unit_of(uint64_t length, const struct mux_plan *p)
{
    return (struct closing){
        .length = length, .pass = p->rounds.pass, .all = parts_of(length, p->rounds.pass)};
}

static void set_seen(struct closing *unit, uint64_t seen)
{
    unit->seen = seen;
    /* Rounded up, so that a product that should be whole does not fall short of it. */
    unit->scale = fixed_muldiv(unit->length, 1ull << RATIO_BITS, seen) + (unit->length % seen != 0);
    unit->rate = fixed_muldiv(unit->pass, 1ull << RATIO_BITS, seen);
}

/* Adds the scaled count, with its fraction. */
static void add_scaled(uint64_t *total, uint32_t *fraction, uint64_t count, uint64_t scale)
{
    wide_t more = ((wide_t)count * scale >> (RATIO_BITS - 32)) + *fraction;
    wide_t sum = (more >> 32) + *total;

    *fraction = (uint32_t)more;
    *total = sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

static uint64_t rate_of(const struct closing *unit, uint64_t count)
{
    wide_t rate = (wide_t)count * unit->rate >> (RATIO_BITS - RATE_BITS);

    return rate > RATE_MAX ? RATE_MAX : (uint64_t)rate;
}

static bool is_beyond(const struct closing *unit, uint64_t rate)
{
    return rate == RATE_MAX || unit->length >> 14 > unit->pass;
}

/* Returns the variance that the unit adds. Half the squared difference of two successive rates is
 * the variance of one; the unit is length / pass times the rate, known except for the part not
 * seen: (length / pass)^2 (1 - seen / length). */
static wide_t variance_of(const struct closing *unit, uint64_t rate, uint64_t before)
{
    uint64_t difference = rate > before ? rate - before : before - rate;
    uint64_t weight = unit->all * parts_of(unit->length - unit->seen, unit->pass) >> WEIGHT_BITS;
    wide_t product = fixed_mul_wide((wide_t)difference * difference / 2, weight);

    return product == WIDE_MAX ? WIDE_MAX : product >> WEIGHT_BITS;
}

/* Adds a unit in which the event was counted for a part of the time. */
static void scale_event(struct mux_count *e, const struct closing *unit, uint64_t count, bool rough)
{
    uint64_t rate = rate_of(unit, count);

    add_scaled(&e->total, &e->fraction, count, unit->scale);
    if (!rough && is_beyond(unit, rate))
        e->variance = WIDE_MAX;
    else if (!rough && e->units && e->rate != RATE_NONE)
        e->variance = fixed_add_wide(e->variance, variance_of(unit, rate, e->rate));
    e->rate = rate;
}

/* What was cut before the first unit forms a pool, and that unit is the rest of its sum. */
static void settle_cut(struct mux_count *e, const struct closing *unit, uint64_t seen)
{
    struct mux_sum sum = {.length = e->length + unit->length,
                          .seen = e->seen + seen,
                          .count = e->total,
                          .pool = {e->length, e->seen, e->counted}};

    mux_sum_settle(&sum);
    e->total = sum.count;
}

static void close_event(struct mux_count *e, struct closing *unit, struct mux_open *open,
                        bool rough)
{
    if (open->seen < unit->length) {
        if (open->seen != unit->seen)
            set_seen(unit, open->seen);
        scale_event(e, unit, open->count, rough);
    } else {
        e->total = fixed_add(e->total, open->count);
        e->rate = RATE_NONE;
    }
    if (!e->units && e->length)
        settle_cut(e, unit, open->seen);
    e->length += unit->length;
    e->seen += open->seen;
    e->counted += open->count;
    e->units++;
    *open = (struct mux_open){0};
}

bool mux_close(struct mux_counts *c, const struct mux_plan *p)
{
    if (c->open_length < p->rounds.pass - p->rounds.pass / 16 || !all_seen(c, p))
        return false;
    struct closing unit = unit_of(c->open_length, p);
    for (const uint8_t *at = p->order, *end = at + p->counted; at < end; at++)
        close_event(&c->event[*at], &unit, &c->open[*at], p->rough >> *at & 1);
    c->open_length = 0;
    return true;
}

static const char *check_event(const struct mux_counts *c, const struct mux_plan *p, unsigned event)
{
    const struct mux_count *e = &c->event[event];
    const struct mux_open *open = &c->open[event];

    if (open->seen > c->open_length || (open->count && !open->seen))
        return "an event counted for longer than the open unit, or never";
    if (p->slots_with[event] == p->rounds.slots && open->seen < c->open_length)
        return "an event of every group that was not always seen";
    if (e->length > c->length - c->open_length)
        return "closed units longer than everything";
    if (e->units && !e->length)
        return "length in no closed unit";
    if (e->seen > e->length || (e->units && !e->seen))
        return "an event seen for longer than there was, or never";
    if (e->units && e->total < e->counted)
        return "less in all than was counted";
    if (!e->units && e->total)
        return "a total before the first unit";
    if (e->units && e->seen == e->length && (e->variance || e->total != e->counted))
        return "an event seen all the time that is not exact";
    if (e->units < 2 && e->variance && e->variance != WIDE_MAX)
        return "a variance of less than two units";
    return NULL;
}

const char *mux_check(const struct mux_counts *c, const struct mux_plan *p)
{
    if (c->open_length > c->length)
        return "an open unit longer than everything";
    if (c->generation != p->generation)
        return c->generation > p->generation ? "counts of a later plan" : NULL;
    for (unsigned e = 0; e < GROUP_EVENTS_MAX; e++) {
        const char *wrong = p->events >> e & 1 ? check_event(c, p, e)
                            : c->open[e].count || c->open[e].seen
                                ? "counts of an event that is in no group"
                                : NULL;
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* ---- Readings -------------------------------------------------------------------------------- */

static uint64_t open_estimate(const struct mux_counts *c, const struct mux_plan *p, unsigned event)
{
    const struct mux_count *e = &c->event[event];
    const struct mux_open *open = &c->open[event];

    if (open->seen == c->open_length)
        return open->count;
    if (e->length && !is_fair(p, open->seen, c->open_length, p->slots_with[event])) {
        uint64_t unseen = c->open_length - open->seen;
        uint64_t rest = e->units && e->rate != RATE_NONE
                            ? fixed_muldiv(e->rate, unseen, p->rounds.pass << RATE_BITS)
                            : fixed_muldiv(e->total, unseen, e->length);
        return fixed_add(open->count, rest);
    }
    return open->seen ? fixed_muldiv(open->count, c->open_length, open->seen) : 0;
}

void mux_part(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
              struct mux_sum *out)
{
    const struct mux_count *e = &c->event[event];

    *out = (struct mux_sum){0};
    if (c->generation < p->born[event])
        return;
    *out = (struct mux_sum){
        .length = e->length + c->open_length,
        .seen = e->seen + c->open[event].seen,
        .counted = e->counted + c->open[event].count,
    };
    if (!e->units) {
        out->pool = (struct mux_pool){out->length, out->seen, out->counted};
        return;
    }
    out->closed = e->length;
    out->count = fixed_add(e->total, open_estimate(c, p, event));
    out->units = e->units;
    out->pairs = p->rough >> event & 1 ? 0 : e->units - 1;
    out->variance = e->variance;
}

void mux_ended(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
               struct mux_sum *out)
{
    const struct mux_count *e = &c->event[event];
    const struct mux_open *open = &c->open[event];

    mux_part(c, p, event, out);
    if (!out->units)
        return;
    out->count = e->total;
    out->pool = (struct mux_pool){c->open_length, open->seen, open->count};
    out->rated = e->rate != RATE_NONE && c->generation == p->generation;
    out->rate = out->rated ? e->rate : 0;
}

void mux_read(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
              struct mux_sum *out)
{
    mux_part(c, p, event, out);
    mux_sum_settle(out);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

void mux_sum_add(struct mux_sum *sum, const struct mux_sum *part)
{
    sum->length += part->length;
    sum->closed += part->closed;
    sum->seen += part->seen;
    sum->counted += part->counted;
    sum->count = fixed_add(sum->count, part->count);
    sum->units += part->units;
    sum->pairs += part->pairs;
    sum->pool.length += part->pool.length;
    sum->pool.seen += part->pool.seen;
    sum->pool.counted += part->pool.counted;
    sum->variance = fixed_add_wide(sum->variance, part->variance);
}

/* Adds a unit of `rate` behind the latest one. */
static void follow_unit(struct mux_sum *s, const struct closing *unit, uint64_t rate, bool rough)
{
    if (!rough && is_beyond(unit, rate))
        s->variance = WIDE_MAX;
    else if (!rough && s->rated)
        s->variance = fixed_add_wide(s->variance, variance_of(unit, rate, s->rate));
    s->pairs += !rough && s->rated;
    s->rate = rate;
    s->rated = 1;
}

void mux_sum_keep(struct mux_sum *sum, const struct mux_sum *part, const struct mux_plan *p,
                  unsigned event)
{
    mux_sum_add(sum, part);
    if (!part->rated)
        return;
    if (part->units == 1) {
        struct closing unit = unit_of(part->closed, p);
        unit.seen = part->seen - part->pool.seen;
        follow_unit(sum, &unit, part->rate, p->rough >> event & 1);
    }
    sum->rate = part->rate;
    sum->rated = 1;
}

static void scale_pool(struct mux_sum *s, struct closing *unit, bool rough)
{
    set_seen(unit, s->pool.seen);
    add_scaled(&s->count, &s->fraction, s->pool.counted, unit->scale);
    follow_unit(s, unit, rate_of(unit, s->pool.counted), rough);
}

bool mux_sum_close(struct mux_sum *s, const struct mux_plan *p, unsigned event)
{
    if (s->pool.length < p->pool || !is_fair(p, s->pool.seen, s->pool.length, p->slots_with[event]))
        return false;
    struct closing unit = unit_of(s->pool.length, p);
    if (s->pool.seen < s->pool.length) {
        scale_pool(s, &unit, p->rough >> event & 1);
    } else {
        s->count = fixed_add(s->count, s->pool.counted);
        s->rated = 0;
    }
    s->closed += s->pool.length;
    s->units++;
    s->pool = (struct mux_pool){0};
    return true;
}

static uint64_t pool_estimate(const struct mux_sum *s)
{
    const struct mux_pool *pool = &s->pool;
    uint64_t rest = s->length - pool->length, rest_seen = s->seen - pool->seen;

    if (pool->seen == pool->length)
        return pool->counted;
    if (rest && rest_seen &&
        (wide_t)FAIR_PART * pool->seen * rest < (wide_t)pool->length * rest_seen)
        return fixed_add(pool->counted, fixed_muldiv(s->count, pool->length - pool->seen, rest));
    return pool->seen ? fixed_muldiv(pool->counted, pool->length, pool->seen) : 0;
}

void mux_sum_settle(struct mux_sum *s)
{
    s->count = fixed_add(s->count, pool_estimate(s));
    s->pool = (struct mux_pool){0};
}

/* With few units the open unit at either end weighs much, and an error in the earlier estimate of
 * it would be made good in the difference. So the difference is scaled by itself, if what was seen
 * in it is a fair part of all that was seen. */
static bool goes_by_itself(const struct mux_sum *s, uint64_t all_seen, uint64_t all)
{
    return s->units < MUX_FEW_UNITS && s->seen && s->seen < s->length &&
           (wide_t)FAIR_PART * s->seen * all >= (wide_t)s->length * all_seen;
}

void mux_sum_sub(struct mux_sum *from, const struct mux_sum *earlier)
{
    uint64_t all_seen = from->seen, all = from->length;
    struct mux_sum before = *earlier;

    mux_sum_settle(from);
    mux_sum_settle(&before);
    from->length -= earlier->length;
    from->closed -= earlier->closed;
    from->seen -= earlier->seen;
    from->counted -= earlier->counted;
    /* The earlier estimate of its open unit may have been too high. */
    if (from->count != UINT64_MAX)
        from->count = MAX(from->count - MIN(before.count, from->count), from->counted);
    from->units -= earlier->units;
    from->pairs -= earlier->pairs;
    if (from->count != UINT64_MAX && goes_by_itself(from, all_seen, all))
        from->count = fixed_muldiv(from->counted, from->length, from->seen);
    if (from->variance != WIDE_MAX)
        from->variance -= earlier->variance;
}
