/*
 * What a program does with memory, remembered from epoch to epoch: the misses it would have had
 * with each size, and the work done meanwhile.
 *
 * A program that waits for most of its accesses makes few: an epoch of them says next to nothing of
 * what it would do with more memory. So a number of accesses is remembered, or an amount of work,
 * and not a number of epochs. But where a program has come to do something else, and is starved
 * because of that, it would take long to forget what it did before: what an epoch contradicts is
 * forgotten at once, but for a few times as many accesses as that had.
 * Pages that are used all the time, `hot` ones, are in no curve, nor is a page's first use. Hot
 * pages stay in memory, and the others have the rest; how often they are used is known from how
 * many are used in a short time. What a program begins with, in one epoch or several, it is taken
 * to use again: all of it, before any of it.
 * Pure: nothing is locked; one caller at a time for each struct.
 */
#pragma once
#include "mm/policy/divide/plan.h"

struct demand {
    /* Misses with 0, spacing, 2 * spacing, ... pages, not rising, and the work from the first of
     * them to the last, in us. */
    uint64_t misses[DIVIDE_POINTS], work;
    uint32_t hot; /* pages, in the last epoch */
    /* Its own. */
    uint32_t hot_before;
    uint64_t begun; /* of what is remembered, pages used for the first time */
    uint64_t pages; /* that it had used by then */
    /* work, in us; waits are counted when they end, so that a time may have less than none */
    int64_t since;
};

struct demand_epoch {
    uint64_t (*misses)(const void *curve,
                       uint32_t pages); /* of pages used before, hot ones not; not rising */
    const void *curve;
    uint32_t spacing; /* pages, at least 1 */
    uint32_t hot;     /* pages used in the last soon_us; soon_us at least 1 */
    uint64_t soon_us;
    /* pages used for the first time, where that is most of what the program does; else 0 */
    uint64_t begins;
    uint64_t pages;          /* that it has used */
    uint32_t has;            /* pages it has had, or fewer */
    uint64_t accesses, work; /* more than these are half forgotten */
};

/* Adds us of time that has passed, of which the program waited waited_us for pages. */
void demand_passed(struct demand *d, uint64_t us, uint64_t waited_us);
/* Notes the number of hot pages before an epoch's end: those seen then may be fewer. */
void demand_hot(struct demand *d, uint32_t pages);
/* Remembers the accesses since the last one and the work since then. */
void demand_add(struct demand *d, const struct demand_epoch *e);
