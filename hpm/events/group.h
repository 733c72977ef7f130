/*
 * Which events are counted together ([A] 2.4). A PMU has few counters, an event may use only some
 * of them, and some events exclude each other. So events are packed into groups that take turns;
 * within a group every event has a counter of its own.
 *
 * - A *pinned* event is in every group, so it is never estimated.
 * - A *set* is a metric's events. At least one group has them all, for a ratio of counts from
 *   different times would be wrong.
 * - No group has two events of one *exclusion class*, such as those that need different values in
 *   one register.
 * - Counters left over count events again, those that are in the fewest groups first.
 *
 * Without sets and classes packing is one bipartite matching (events to the counters of all groups)
 * and always finds the fewest groups. Sets and classes make it a search that this matching prunes;
 * it is exhaustive up to an effort. Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "kernel/lib/base.h"

#define GROUP_EVENTS_MAX   64
#define GROUP_COUNTERS_MAX 16 /* programmable ones */
#define GROUP_FIXED_MAX    32
#define GROUP_SETS_MAX     32
#define GROUP_MAX          64
#define GROUP_NIL          0xff /* no event, no fixed counter, no set */

/* Counters of a group: programmable counter c is counter c, fixed counter f is counter
 * GROUP_FIXED(f). */
#define GROUP_COUNTERS_ALL (GROUP_COUNTERS_MAX + GROUP_FIXED_MAX)
#define GROUP_FIXED(f)     (GROUP_COUNTERS_MAX + (f))

/* What the hardware demands of an event. */
struct group_event {
    uint32_t mask;     /* bit c: programmable counter c can count it */
    uint8_t fixed;     /* the fixed counter that can count it, or GROUP_NIL */
    uint8_t exclusion; /* never in a group with another of this class; 0: none */
    /* Not 0: events of the class that need the same value of their common register do not exclude
     * each other. */
    uint64_t extra;
};

struct group_request {
    unsigned events;     /* numbered 0..events-1; at most GROUP_EVENTS_MAX */
    unsigned counters;   /* programmable ones; bits of masks beyond them are ignored */
    uint32_t fixed;      /* bit f: this PMU has fixed counter f */
    unsigned sets;       /* at most GROUP_SETS_MAX */
    unsigned groups_max; /* at most GROUP_MAX; 0: GROUP_MAX */
    uint64_t pinned;     /* bit e: event e */
    /* bit e: event e is not counted again by counters left over. */
    uint64_t once;
    const struct group_event *event; /* [events] */
    const uint64_t *set;             /* [sets], bit e: event e; sets may overlap */
    /* [events]: event e, if not pinned, and its sets are in one of the first within[e] groups, but
     * for counters left over; 0: in any. NULL: all in any. */
    const uint8_t *within;
};

struct group_plan {
    unsigned groups;
    /* No plan has fewer groups than this; equal to groups unless the effort ran out. */
    unsigned least;
    uint8_t event[GROUP_MAX][GROUP_COUNTERS_ALL]; /* what each counter counts, or GROUP_NIL */
};

/* Why a request cannot be met. Members of the cause that are not named here are 0 or GROUP_NIL. */
enum group_why {
    GROUP_POSSIBLE,
    /* Events, counters, sets, groups_max or pinned are beyond the limits, or there is no counter at
     * all. */
    GROUP_SIZES,
    /* set is empty or names an event that does not exist. */
    GROUP_BAD_SET,
    /* No counter of this PMU can count event. */
    GROUP_NO_COUNTER,
    /* event and other exclude each other, but set wants them in one group, or, without a set, one
     * is in every group. */
    GROUP_EXCLUDED,
    /* The events of crowd must be in one group and have fewer counters than there are events;
     * without any one of them they would fit. They come together for set, or for event beside the
     * pinned ones, or, with neither, are the pinned ones. */
    GROUP_CROWDED,
    /* More than groups_max groups would be needed. */
    GROUP_TOO_MANY,
};
struct group_cause {
    enum group_why why;
    uint8_t event, other, set;
    uint64_t crowd;
};

#define GROUP_ITEMS_MAX (GROUP_EVENTS_MAX + GROUP_SETS_MAX)

/* Memory that group_pack works in; nothing in it outlives the call. */
struct group_work {
    const struct group_request *request;
    struct group_plan *plan;
    unsigned groups, items;
    uint64_t spent; /* effort spent */
    /* By event: counters that can count it, and events that it excludes. */
    uint64_t counters[GROUP_EVENTS_MAX], rivals[GROUP_EVENTS_MAX];
    /* By item: its events, the events they exclude, its group, the groups it was tried in. */
    uint64_t item[GROUP_ITEMS_MAX], item_rivals[GROUP_ITEMS_MAX];
    uint8_t choice[GROUP_ITEMS_MAX];
    uint64_t tried[GROUP_ITEMS_MAX];
    uint8_t item_within[GROUP_ITEMS_MAX]; /* the item is in one of this number of first groups */
    uint64_t single;                      /* events that need no other one in their group */
    /* By event: as request.within; GROUP_MAX: in any. edges: bit g: to some events group g is not
     * as good as the one before it. */
    uint8_t within[GROUP_EVENTS_MAX];
    uint64_t edges;
    /* By group: events that must be in it, and counters that the augmenting path has not
     * reached. */
    uint64_t must[GROUP_MAX], unvisited[GROUP_MAX];
    /* By cell (see group.c): the cell before it on its path; and the cells to be looked at. */
    uint16_t from[GROUP_MAX * GROUP_COUNTERS_ALL], queue[GROUP_MAX * GROUP_COUNTERS_ALL];
};

/*
 * Packs events into the fewest groups that count every event and every set. cause, if not NULL,
 * says what stands in the way.
 * Returns 0, or
 * - -EINVAL: no number of counters could serve the request.
 * - -ENOSPC: more counters or groups could serve it.
 */
int group_pack(const struct group_request *request, struct group_plan *plan,
               struct group_work *work, struct group_cause *cause);
/* Returns what is wrong with the plan, or NULL. */
const char *group_check(const struct group_request *request, const struct group_plan *plan);
