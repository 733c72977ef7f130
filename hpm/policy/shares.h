/*
 * Weights of events: an event of weight w is to have w times the slices of a pass that an event of
 * weight 1 has at least. A group of events takes as many slices as its heaviest event asks for, its
 * *share*, so heavy events are packed together, and the fewer slices a pass has in all, the more of
 * the time each event is seen.
 *
 * Minimised is the sum of the shares. Packing the heaviest events into the fewest groups, and then
 * the next lighter ones into the counters left and the fewest groups more, is not always best: a
 * group more for the heavy may save two for the light. So from there on, one group more for a
 * weight is tried as long as it helps.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/events/group.h"

#define WEIGHT_MAX 8

/* Memory that shares_pack works in; nothing in it outlives the call. */
struct shares_work {
    struct group_work group;
    struct group_plan plan;
    struct group_request request; /* of the events in this order: pinned, then the heaviest first */
    uint8_t weight[GROUP_EVENTS_MAX], order[GROUP_EVENTS_MAX], within[GROUP_EVENTS_MAX];
    struct group_event event[GROUP_EVENTS_MAX];
    uint64_t set[GROUP_SETS_MAX], all_sets[GROUP_SETS_MAX];
    unsigned levels; /* 0: all weigh the same */
    /* By weight, the heaviest first. events: number of all events up to this weight; groups: these
     * are in the first groups of this number. */
    struct shares_level {
        uint8_t weight, events, groups;
    } level[WEIGHT_MAX];
};

/*
 * Packs as group_pack does, so that the sum of the groups' shares is small. weight: of each event,
 * 1..WEIGHT_MAX; events of a set weigh as its heaviest. Pinned events are in every group, whatever
 * they weigh. share: of each group, divided by what all have in common. r->within is ignored.
 * Returns as group_pack.
 */
int shares_pack(const struct group_request *r, const uint8_t *weight, struct group_plan *plan,
                uint8_t share[GROUP_MAX], struct shares_work *work, struct group_cause *cause);

#define DEVIATION_MAX ((1u << 20) - 1)
/*
 * Neyman's allocation (1934): slices in proportion to the standard deviations of what events count
 * in a slice make the sum of their counts' variances least. deviation: of each of n events, in one
 * unit, at most DEVIATION_MAX. counters: events that share a group. Writes weights 1..WEIGHT_MAX,
 * in proportion as far as whole numbers can be; the sum of variances that shares_variance expects
 * of such groups is at most that of equal weights.
 */
void shares_neyman(const uint32_t *deviation, unsigned n, unsigned counters, uint8_t *weight);
/* Returns the sum of variances of n events that have slices[i] of `all` slices, at most 512, in
 * squares of the deviations' unit and 2^-8: deviation^2 (all - slices) / slices. An event without
 * slices adds none. */
uint64_t shares_variance(const uint32_t *deviation, const uint16_t *slices, unsigned n,
                         unsigned all);
