/* What tests of multiplexing begin with: four groups, and random numbers that are the same in each
 * test. */
#pragma once
#include "hpm/policy/mux.h"

enum { GROUPS = 4, ROUND = 1200000 };

/* For cmocka: the random numbers begin anew. */
int mux_set_up(void **state);
/* A random number. */
uint64_t below(uint64_t limit);
/* Passes a round; share of each group, NULL: one and the same for all. */
struct mux_config config_of(unsigned passes, const uint8_t *share);
