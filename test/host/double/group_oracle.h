/* The best packing of events into groups, by trying every selection of groups. */
#pragma once
#include "hpm/events/group.h"

enum { ORACLE_EVENTS = 7, ORACLE_SETS = 3, ORACLE_FIXED = 3 };

/* Returns the least sum of the groups' shares that counts all events and sets, a group's share
 * being the largest weight of its events that are not pinned; 0: it is impossible. weight: NULL:
 * all weigh 1, and it is the least number of groups. At most as many events, sets and fixed
 * counters as above. */
unsigned oracle_least_shares(const struct group_request *r, const uint8_t *weight);
/* Makes a request at random, of 3 to 7 events: masks, fixed counters, classes, pinned events and
 * sets. */
void oracle_draw(struct group_request *r, struct group_event *event, uint64_t *set, uint32_t *seed);
