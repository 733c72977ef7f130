/*
 * The counts of one thread or one CPU while groups of events take turns on the counters.
 *
 * Cycles and instructions have counters of their own and are summed as they come.  The other counts of a
 * *round* are kept apart by group, with the cycles each group was counting.  When every group has had a fair
 * part of the round, the round is closed: each event's count is scaled from the cycles it was seen in to the
 * round's cycles, so that a phase of the program is scaled by its own cycles only.  An event that is in every
 * group is exact.
 *
 * One CPU writes at a time (the one the thread runs on, interrupts off); readers anywhere copy and retry.
 * No clock, lock, allocation or register.
 */
#pragma once
#include "hpm/hpm.h"

struct context_plan {
    unsigned groups, counters;
    uint64_t round_cycles;                           /* a round is not closed before               */
    uint8_t event[HPM_GROUPS_MAX][HPM_COUNTERS_MAX]; /* number of the event, or CONTEXT_NO_EVENT    */
    uint16_t groups_with[HPM_EVENTS]; /* bit g set: event is in group g; 0: not counted at all */
};
#define CONTEXT_NO_EVENT 0xff

/* Row numbers of the events. */
#define EVENT_STALL(cause)   ((unsigned)(cause))
#define EVENT_DCACHE(source) (STALL_COUNT + (unsigned)(source))
#define EVENT_SERVED(source) (STALL_COUNT + SOURCE_COUNT + (unsigned)(source))
#define EVENT_LOADS          (STALL_COUNT + 2 * SOURCE_COUNT)
#define EVENT_STORES         (EVENT_LOADS + 1)
#define EVENT_MISS(miss)     (EVENT_STORES + 1 + (unsigned)(miss))

/* What the hardware counted between two latches, all while one group was on. */
struct context_delta {
    uint64_t cycles, instructions;
    uint64_t count[HPM_COUNTERS_MAX];
};

void context_add(struct hpm_context *c, const struct context_plan *plan, unsigned group,
                 const struct context_delta *d);
/* The few figures of hpm_read_remote, as in the breakdown; any CPU. */
void context_read_remote(const struct hpm_context *c, const struct context_plan *plan,
                         struct hpm_remote *out);
/* Consistent copy into a breakdown, the open round estimated; any CPU. */
void context_read(const struct hpm_context *c, const struct context_plan *plan, struct hpm_breakdown *out);
/* count * all / seen, without overflow as long as the result fits; seen must not be 0. */
uint64_t context_scale(uint64_t count, uint64_t all, uint64_t seen);
