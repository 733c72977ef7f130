/*
 * Compares the clocks of two CPUs. One asks, the other answers with its clock; the answer must lie
 * between the times of asking and of hearing it. Pure; cpus.c does the asking.
 */
#pragma once
#include "kernel/lib/base.h"

struct sync_round {
    uint64_t asked, answered, heard; /* ticks: of the asking CPU, the other, the asking one */
};

/* The other clock minus the asking one's is in this range. low > high: the other clock runs at
 * another speed, or jumps. */
struct sync_bounds {
    int64_t low, high;
};

/* `n` is at least 1. */
struct sync_bounds sync_bounds(const struct sync_round *rounds, unsigned n);
static inline bool sync_agrees(struct sync_bounds b)
{
    return b.low <= 0 && b.high >= 0;
}
/* Returns the ticks that make the other clock agree when they are added to it. */
int64_t sync_correction(struct sync_bounds b);
