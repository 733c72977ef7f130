/* See fit.h. */
#include "hpm/events/fit.h"
#include "kernel/lib/fixed.h"

static uint64_t bit(unsigned n)
{
    return (uint64_t)1 << n;
}

static unsigned first_of(uint64_t set)
{
    return (unsigned)__builtin_ctzll(set);
}

static uint64_t floor_of(const struct fit_event *e)
{
    return e->exact ? e->count : MIN(e->at_least, e->count);
}

/* Raises the whole to what was counted of its parts. */
static void raise_whole(struct fit_event *event, const struct fit_set *set)
{
    struct fit_event *whole = &event[set->whole];
    uint64_t parts = 0;

    for (uint64_t left = set->parts; left; left &= left - 1)
        parts = fixed_add(parts, floor_of(&event[first_of(left)]));
    if (whole->exact)
        return;
    whole->at_least = MAX(whole->at_least, parts);
    whole->count = MAX(whole->count, parts);
}

/* Lowers the parts to the whole. If even their counted parts are too much, as readings are not of
 * one moment, all are lowered in proportion. */
static void lower_parts(struct fit_event *event, const struct fit_set *set)
{
    uint64_t whole = event[set->whole].count, least = 0, all = 0;

    for (uint64_t left = set->parts; left; left &= left - 1) {
        least = fixed_add(least, floor_of(&event[first_of(left)]));
        all = fixed_add(all, event[first_of(left)].count);
    }
    for (uint64_t left = all > whole ? set->parts : 0; left; left &= left - 1) {
        struct fit_event *part = &event[first_of(left)];
        uint64_t floor = floor_of(part);
        if (part->exact)
            continue;
        part->count = least > whole
                          ? fixed_muldiv(floor, whole, least)
                          : floor + fixed_muldiv(part->count - floor, whole - least, all - least);
    }
}

uint64_t fit_events(struct fit_event *event, const struct fit_set *set, unsigned sets)
{
    uint64_t before[FIT_EVENTS_MAX], named = 0, changed = 0;

    for (unsigned s = 0; s < sets; s++)
        named |= set[s].parts | bit(set[s].whole);
    for (uint64_t left = named; left; left &= left - 1)
        before[first_of(left)] = event[first_of(left)].count;
    for (unsigned s = sets; s-- > 0;)
        raise_whole(event, &set[s]);
    for (unsigned s = 0; s < sets; s++)
        lower_parts(event, &set[s]);
    for (uint64_t left = named; left; left &= left - 1)
        if (event[first_of(left)].count != before[first_of(left)])
            changed |= left & -left;
    return changed;
}

/* ---- Breakdowns ------------------------------------------------------------------------------ */

enum { CAUSES = 5, DATA_CACHE = 2, CYCLES = FIT_SERVED };
#define SOURCES (((uint64_t)1 << FIT_SOURCES) - 1) << FIT_DCACHE

uint64_t fit_figures(const struct fit_figures *f)
{
    static const struct fit_set by_cause[] = {
        {CYCLES, ((uint64_t)1 << CAUSES) - 1},
        {CYCLES, (uint64_t)3 << CAUSES},
        {DATA_CACHE, SOURCES},
    };
    static const struct fit_set by_source[] = {{CYCLES, SOURCES}, {CYCLES, (uint64_t)3 << CAUSES}};
    struct fit_event event[CYCLES + 1] = {[CYCLES] = {f->cycles, f->cycles, true}};

    for (unsigned i = 0; i < CYCLES; i++)
        event[i] = (struct fit_event){f->count[i], f->counted[i], f->seen[i] >= f->cycles};
    uint64_t changed = f->seen[DATA_CACHE] ? fit_events(event, by_cause, ARRAY_SIZE(by_cause))
                                           : fit_events(event, by_source, ARRAY_SIZE(by_source));
    for (unsigned i = 0; i < CYCLES; i++)
        f->count[i] = event[i].count;
    return changed;
}

enum { FAIR_PART = 4 };

uint64_t fit_since(const struct fit_reading *now, const struct fit_reading *before)
{
    uint64_t cycles = now->cycles - MIN(before->cycles, now->cycles);
    uint64_t counted = now->counted - MIN(before->counted, now->counted);
    uint64_t seen = MIN(now->seen - MIN(before->seen, now->seen), cycles);
    uint64_t difference = MAX(now->count - MIN(before->count, now->count), counted);

    if (!before->cycles || !seen ||
        (wide_t)FAIR_PART * seen * now->cycles < (wide_t)cycles * now->seen)
        return difference;
    return seen == cycles ? counted : fixed_muldiv(counted, cycles, seen);
}
