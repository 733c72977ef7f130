/* The start of tests of multiplexing: four groups, and random numbers that are the same in each
 * test. */
#pragma once
#include "hpm/policy/mux.h"

enum { GROUPS = 4, ROUND = 1200000 };

/* Restarts the random numbers. For cmocka. */
int mux_set_up(void **state);
/* Returns a random number below `limit`. */
uint64_t below(uint64_t limit);
/* Returns a config with `passes` passes a round; share: of each group, NULL: 1 for all. */
struct mux_config config_of(unsigned passes, const uint8_t *share);
