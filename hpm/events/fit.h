/* Makes estimates fit each other. Events that take turns are scaled one by one, by the time each
 * was counted, so parts may add up to more than their whole, and a difference of two estimates may
 * be anything. Certain are only the increments that were really counted, and which events contain
 * others by definition. Pure: no clock, lock, allocation or register. For the kernel and for
 * programs. */
#pragma once
#include "kernel/lib/base.h"

#define FIT_EVENTS_MAX 64

struct fit_event {
    uint64_t count;    /* estimated */
    uint64_t at_least; /* really counted */
    bool exact;        /* counted all the time: count is not changed */
};
/* Events (bit e) that are parts of event `whole`. No two of them overlap. */
struct fit_set {
    uint8_t whole;
    uint64_t parts;
};
/* Fits the events of these sets: raises wholes to what was counted of their parts, and lowers
 * parts, in proportion to the estimated rest of each, until they add up to their whole at most. A
 * set with a whole that is a part of another set stands behind that set. Returns the events (bit e)
 * with changed counts. */
uint64_t fit_events(struct fit_event *event, const struct fit_set *set, unsigned sets);

/* The figures of a breakdown, in the order of struct hpm_breakdown and struct sys_breakdown. */
enum { FIT_STALLS = 7, FIT_SOURCES = 7, FIT_MISSES = 8 };
enum {
    FIT_STALL,
    FIT_DCACHE = FIT_STALL + FIT_STALLS,
    FIT_SERVED = FIT_DCACHE + FIT_SOURCES,
    FIT_MISSED = FIT_SERVED + FIT_SOURCES,
    FIT_FIGURES = FIT_MISSED + FIT_MISSES
};
struct fit_figures {
    uint64_t cycles;
    uint64_t *count; /* [FIT_FIGURES]; estimated */
    /* [FIT_FIGURES]; really counted, and the cycles in which it was counted */
    const uint64_t *counted, *seen;
};
/* Fits the figures of a breakdown: causes of stalls, and halves of the pipeline, to the cycles;
 * sources to the stalls for data, if these are counted, else to the cycles. Returns the figures
 * (bit f) that were changed. */
uint64_t fit_figures(const struct fit_figures *f);
/* Returns a count's increase between two readings. It is the part counted in between, scaled by the
 * part of the cycles in which it was counted, if that is at least a quarter of its usual part. Else
 * it is the difference of the two estimates, of which one may be too high and the other too low. */
struct fit_reading {
    uint64_t cycles, count, counted, seen;
};
uint64_t fit_since(const struct fit_reading *now, const struct fit_reading *before);
