/*
 * Estimates that must fit each other. Events that take turns are scaled one by one, each by what it
 * was seen, so that the parts of a whole may come to more than it, and a difference of two
 * estimates to anything. What is certain is what was really counted, and which events contain which
 * by definition.
 * Pure: no clock, lock, allocation or register. For the kernel and for programs.
 */
#pragma once
#include "kernel/lib/base.h"

#define FIT_EVENTS_MAX 64

struct fit_event {
    uint64_t count;    /* estimated */
    uint64_t at_least; /* really counted */
    bool exact;        /* counted all the time: count is left as it is */
};
/* Events (bit e) that are parts of another one, no two of which have anything in common. */
struct fit_set {
    uint8_t whole;
    uint64_t parts;
};
/*
 * Raises wholes to what was counted of their parts, and lowers parts, by what each has beyond what
 * was counted of it, until they come to no more than their whole. A set whose whole is a part in
 * another one comes after that. Returns the events (bit e) whose count was changed.
 */
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
    uint64_t *count;                /* each FIT_FIGURES long; estimated */
    const uint64_t *counted, *seen; /* really counted; in how many of the cycles */
};
/* Causes of stalls, and halves of the pipeline, have no more than all cycles; sources no more than
 * the stalls for data where those are counted. Returns the figures (bit f) that were changed. */
uint64_t fit_figures(const struct fit_figures *f);
/*
 * What a count came to between two readings. By what was counted there, scaled by what was seen of
 * those cycles, where that is a quarter of its usual part; else by the difference of the two
 * estimates, which may be that of one too high and the next too low.
 */
struct fit_reading {
    uint64_t cycles, count, counted, seen;
};
uint64_t fit_since(const struct fit_reading *now, const struct fit_reading *before);
