/*
 * Do two CPUs' clocks agree? One asks, the other answers with its clock, and the answer must lie
 * between the asking and the hearing of it. Pure; cpus.c does it.
 */
#pragma once
#include "kernel/lib/base.h"

struct sync_round {
    uint64_t asked, answered, heard; /* ticks: ours, theirs, ours */
};

/* Theirs minus ours lies between the two. low > high: their clock runs at another speed, or
 * jumps. */
struct sync_bounds {
    int64_t low, high;
};

/* n at least 1. */
struct sync_bounds sync_bounds(const struct sync_round *rounds, unsigned n);
static inline bool sync_agrees(struct sync_bounds b)
{
    return b.low <= 0 && b.high >= 0;
}
/* What makes their clock ours when it is added to it. */
int64_t sync_correction(struct sync_bounds b);
