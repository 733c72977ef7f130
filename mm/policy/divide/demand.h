/*
 * Misses of a program by memory size, remembered from epoch to epoch, and the work done meanwhile.
 *
 * A program that waits for most of its accesses makes few: an epoch of them says next to nothing
 * about its use of more memory. So a number of accesses is remembered, or an amount of work, and
 * not a number of epochs. But where a program has come to do something else, and is starved because
 * of that, its past would be forgotten slowly: on an epoch that contradicts it the past is
 * forgotten at once, but for a few times the epoch's accesses.
 *
 * Pages that are used all the time, *hot* pages, are in no curve, nor is a page's first use. Hot
 * pages stay in memory, and the others have the rest; how often hot pages are used follows from the
 * number used in a short time. A program is taken to use again the pages that it begins with, in
 * one epoch or several: all of them, before any of them.
 *
 * Pure: nothing is locked; one caller at a time for each struct.
 */
#pragma once
#include "mm/policy/divide/plan.h"

struct demand {
    /* Misses with 0, spacing, 2 * spacing, ... pages, not rising, and the work meanwhile, in us. */
    uint64_t misses[DIVIDE_POINTS], work;
    uint32_t hot; /* pages, in the last epoch */
    /* The policy's own. */
    uint32_t hot_before;
    uint64_t begun; /* pages used for the first time, of the remembered past */
    uint64_t pages; /* pages that the program had used by then */
    /* work since the last demand_add(), in us; may be below 0, as waits are counted when they
     * end */
    int64_t since;
};

/* Amounts of memory of which demand_add() needs the misses, at most. */
enum { DEMAND_ASKS_MAX = 2 * DIVIDE_POINTS + 1 };

struct demand_epoch {
    /* [demand_asks()] of pages used before but not hot, with the numbers of pages asked about; they
     * do not rise with the pages. Read by demand_add() only. */
    const uint64_t *misses;
    uint32_t spacing; /* pages, at least 1 */
    uint32_t hot;     /* pages used in the last soon_us; soon_us at least 1 */
    uint64_t soon_us;
    /* pages used for the first time, if most accesses are first uses; else 0 */
    uint64_t begins;
    uint64_t pages;          /* pages that the program has used */
    uint32_t has;            /* pages that it had, or fewer */
    uint64_t accesses, work; /* a past of more than these is half forgotten */
};

/* Adds us of time that has passed, of which the program waited waited_us for pages. */
void demand_passed(struct demand *d, uint64_t us, uint64_t waited_us);
/* Notes the number of hot pages before an epoch's end: those seen then may be fewer. */
void demand_hot(struct demand *d, uint32_t pages);
/* Stores the numbers of pages in memory of which demand_add() needs the misses. Returns their
 * count. */
unsigned demand_asks(const struct demand *d, const struct demand_epoch *e,
                     uint32_t pages[DEMAND_ASKS_MAX]);
/* Adds the accesses since the last call, and the work since then. */
void demand_add(struct demand *d, const struct demand_epoch *e);
