/*
 * What the machine counts at a time: all events that were asked for, as *logical counts* with
 * stable numbers, packed into groups that take turns (hpm/events/group.h, hpm/policy/mux.h).
 *
 * Whenever more or less is asked for, a new plan is made. A logical count keeps its number from
 * birth to death; later the same number may be reused by another count with a later birth. Logical
 * counts of the same event share its counter. Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/events/event.h"
#include "hpm/policy/breakdown.h"
#include "hpm/policy/shares.h"

/* Counters of a group, as in group.h: those of cycles and of instructions, then the other fixed
 * counters. */
#define PLAN_CYCLES       GROUP_FIXED(0)
#define PLAN_INSTRUCTIONS GROUP_FIXED(1)
#define PLAN_FIXED(n)     GROUP_FIXED(2 + (n))
#define PLAN_COUNTERS_ALL PLAN_FIXED(HPM_FIXED_MAX)

struct plan_request {
    unsigned counters; /* programmable ones, at most HPM_COUNTERS_MAX */
    /* Bit f: there is fixed counter f, in the numbering of events; at most HPM_FIXED_MAX of
     * them. */
    uint32_t fixed;
    uint32_t generation; /* later than that of the plan before */
    enum mux_unit unit;  /* unit of slice and round: cycles or instructions */
    uint64_t slice;      /* length of a group's turn */
    uint64_t round;      /* wanted length of a round; it is rounded up to whole passes */
    unsigned cpus;       /* CPUs that may take turns of their own for threads of one sum, from 1 */
    struct event always[2]; /* what PLAN_CYCLES and PLAN_INSTRUCTIONS count; no modes: nothing */
    /* Bit i: logical count i exists. Members of other counts do not matter. */
    uint64_t wanted;
    uint64_t pinned; /* bit i: to be counted all the time */
    uint64_t rough;  /* bit i: no interval of its count will be asked for */
    struct event event[GROUP_EVENTS_MAX];
    uint32_t born[GROUP_EVENTS_MAX]; /* generation of its birth */
    uint64_t sampled;                /* bit i: needs a counter of its own that can be armed */
    uint8_t slot[GROUP_EVENTS_MAX];  /* for the profile slot of this number, see hpm/slot.h */
    /* Weight of logical count i, up to WEIGHT_MAX; 0: 1. A count weighs as the heaviest of the same
     * event. */
    uint8_t weight[GROUP_EVENTS_MAX];
    unsigned sets;
    uint64_t set[GROUP_SETS_MAX]; /* logical counts that must be counted at the same time */
    /* Bit s: set s is tied: its counts, which are of no other tied set, are counted in exactly the
     * same slices: those of one group, or, if all of them are pinned, all. */
    uint32_t tied;
};

/* What the counters do during a group's turn. */
struct hpm_programme {
    uint64_t image;                 /* made of the events by the PMU's driver, see pmu.h */
    uint8_t arms;                   /* bit c: counter c is to be armed */
    uint8_t slot[HPM_COUNTERS_MAX]; /* profile slot that counter c is armed for */
    /* By programmable counter and, from HPM_COUNTERS_MAX on, by the rank of the fixed counter;
     * NULL: nothing. */
    const struct event *event[HPM_COUNTERS_ALL];
};

struct hpm_plan {
    struct mux_plan mux;
    struct event event[GROUP_EVENTS_MAX];
    /* By group. The caller fills in the images. */
    struct hpm_programme programme[GROUP_MAX];
};

/* What is packed: each event once, in the order of its first logical count, tied ones behind the
 * others, except sampled events, which are packed by themselves. */
struct plan_packing {
    unsigned events;
    uint64_t tied;                      /* logical counts of tied sets */
    uint8_t first[GROUP_EVENTS_MAX];    /* first logical count of an event */
    uint8_t event_of[GROUP_EVENTS_MAX]; /* event of a logical count */
    struct event event[GROUP_EVENTS_MAX];
    struct group_event demand[GROUP_EVENTS_MAX];
    uint64_t set[GROUP_SETS_MAX];
    uint8_t weight[GROUP_EVENTS_MAX]; /* of an event */
};

/* Memory that plan_make works in; nothing in it outlives the call. */
struct plan_work {
    struct plan_packing packing;
    struct shares_work shares;
    struct group_plan groups;
    uint8_t share[GROUP_MAX];
};

/*
 * Makes the plan that meets request `r`. Returns 0, or
 * - -EINVAL, -ENOSPC: as group_pack; `cause` names logical counts and the request's sets.
 * - -ERANGE: rounds would be too long or too short (mux_rounds_init).
 */
int plan_make(struct hpm_plan *out, const struct plan_request *r, struct plan_work *work,
              struct group_cause *cause);
