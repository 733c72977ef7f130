/* Plans of four groups and work that is counted by them. */
#pragma once
#include "test/host/double/mux_config.h"

enum { EVENTS = 6, PINNED = 5 };

/* Event g in group g, event 4 in groups 0 and 2, event PINNED in all. */
const struct group_plan *groups(void);
/* Returns a plan of these groups, with config_of. */
struct mux_plan plan_of(unsigned passes, const uint8_t *share);
void assert_sound(const struct mux_counts *c, const struct mux_plan *p);
/* Writes the counts by event to the counters of the group. */
void count_by_counter(unsigned group, const uint64_t *by_event, uint64_t *by_counter);
/* Adds a slice of a group in which each of its events happened n times. */
void add_slice(struct mux_counts *c, const struct mux_plan *p, unsigned group, uint64_t length,
               uint64_t n);
