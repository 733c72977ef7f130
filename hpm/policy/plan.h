/*
 * What the machine counts at a time: all that anybody asked for, as *logical counts* with numbers
 * that stay, packed into groups that take turns (hpm/events/group.h, hpm/policy/mux.h).
 *
 * A plan is made anew whenever somebody asks for more or wants no more. A logical count keeps its
 * number from birth to death; the same number may later be another one, with a later birth. Counts
 * of the same event share its place on the counters. Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/events/event.h"
#include "hpm/policy/breakdown.h"

/* Places of cycles and of instructions, which have counters of their own; of other fixed
 * counters. */
#define PLAN_CYCLES       GROUP_FIXED(0)
#define PLAN_INSTRUCTIONS GROUP_FIXED(1)
#define PLAN_FIXED(n)     GROUP_FIXED(2 + (n))
#define PLAN_COUNTERS_ALL PLAN_FIXED(HPM_FIXED_MAX)

struct plan_request {
    unsigned counters; /* programmable ones, at most HPM_COUNTERS_MAX */
    /* bit f: there is fixed counter f, as events number them; at most HPM_FIXED_MAX */
    uint32_t fixed;
    uint32_t generation;    /* later than that of the plan before */
    enum mux_unit unit;     /* cycles or instructions, of the next two */
    uint64_t slice;         /* that a group counts at a time */
    uint64_t round;         /* a round has as many passes as it takes for that */
    unsigned cpus;          /* that may take turns of their own for threads of one sum, from 1 */
    struct event always[2]; /* what counts at PLAN_CYCLES, PLAN_INSTRUCTIONS; no modes: nothing */
    /* bit i: there is a logical count i; what follows of others does not matter */
    uint64_t wanted;
    uint64_t pinned; /* bit i: it is to be counted all the time */
    uint64_t rough;  /* bit i: nobody asks how sure its count is */
    struct event event[GROUP_EVENTS_MAX];
    uint32_t born[GROUP_EVENTS_MAX]; /* generation */
    uint64_t sampled; /* bit i: it is to have a counter that can be armed, its own ... */
    uint8_t slot[GROUP_EVENTS_MAX]; /* ... for this criterion of sampling, see profile.c */
    unsigned sets;
    uint64_t set[GROUP_SETS_MAX]; /* logical counts to be counted at the same time */
};

/* What the counters do during a group's turn. */
struct hpm_programme {
    uint64_t image;                 /* what the PMU's driver makes of the events, see pmu.h */
    uint8_t arms;                   /* bit c: counter c is to be armed ... */
    uint8_t slot[HPM_COUNTERS_MAX]; /* ... for this criterion */
    /* By programmable counter and, from HPM_COUNTERS_MAX on, by the rank of the fixed one; NULL:
     * nothing. */
    const struct event *event[HPM_COUNTERS_ALL];
};

struct hpm_plan {
    struct mux_plan mux;
    struct event event[GROUP_EVENTS_MAX];
    /* of each group, whose images are the caller's to fill in */
    struct hpm_programme programme[GROUP_MAX];
};

/* What is packed: each event once, in the order of the first logical count of it; but what is
 * sampled by itself. */
struct plan_packing {
    unsigned events;
    uint8_t first[GROUP_EVENTS_MAX];    /* logical count, by event */
    uint8_t event_of[GROUP_EVENTS_MAX]; /* by logical count */
    struct event event[GROUP_EVENTS_MAX];
    struct group_event demand[GROUP_EVENTS_MAX];
    uint64_t set[GROUP_SETS_MAX];
};

/* Memory that plan_make works in; nothing in it outlives the call. */
struct plan_work {
    struct plan_packing packing;
    struct group_work group;
    struct group_plan groups;
};

/* 0; -EINVAL, -ENOSPC: as group_pack, cause naming logical counts and the request's sets. -ERANGE:
 * rounds would be too long or too short (mux_rounds_init). */
int plan_make(struct hpm_plan *out, const struct plan_request *r, struct plan_work *work,
              struct group_cause *cause);
