/*
 * Which events are counted together.  A PMU has few counters and each event may use only some of them, so the
 * events that are wanted are packed into groups that take turns; within a group every event has a counter of
 * its own. Pinned events are in every group and so are never estimated.
 *
 * Packing is one bipartite matching: the items are the events, a pinned event once per group; the places are
 * the counters of every group.  It finds the least number of groups there is. Pure: no clock, lock,
 * allocation or register.
 */
#pragma once
#include "kernel/base.h"

#define GROUP_EVENTS_MAX   32
#define GROUP_COUNTERS_MAX 8
#define GROUP_MAX          12
#define GROUP_NO_EVENT     0xff

struct group_request {
    unsigned events;      /* numbered 0..events-1; at most GROUP_EVENTS_MAX                 */
    unsigned counters;    /* at most GROUP_COUNTERS_MAX                                      */
    const uint32_t *mask; /* per event: bit c set, counter c can count it                    */
    uint32_t pinned;      /* bit e set: event e belongs to every group                       */
};

struct group_plan {
    unsigned groups;
    uint8_t event[GROUP_MAX][GROUP_COUNTERS_MAX]; /* what each counter counts, or GROUP_NO_EVENT */
};

/*
 * Fewest groups that count every event at least once; counters left over count events again, those seen least
 * first. 0; -EINVAL: sizes beyond the limits above, or an event no counter can count; -ENOSPC: no plan with
 * GROUP_MAX groups.
 */
int group_pack(const struct group_request *request, struct group_plan *plan);
/* What is wrong with the plan, or NULL. */
const char *group_check(const struct group_request *request, const struct group_plan *plan);
