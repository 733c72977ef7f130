/*
 * Whose turn it is.  All groups have one turn in each round, in an order that is drawn anew for every round, so that a
 * program whose own period is the round's cannot always meet the same group ([A] 2.4).
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/group.h"

struct rotation {
    unsigned groups, position;
    uint64_t random; /* xorshift state, never 0 */
    uint8_t order[GROUP_MAX];
};

void rotation_init(struct rotation *r, unsigned groups, uint64_t seed);
unsigned rotation_now(const struct rotation *r);
unsigned rotation_next(struct rotation *r); /* moves on and returns the group */
