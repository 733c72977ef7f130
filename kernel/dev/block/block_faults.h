/*
 * Injects faults below any block device, for tests: requests fail, are delayed, or never come back.
 * Pure: the fate of the nth request follows from the seed alone.
 */
#pragma once
#include "kernel/lib/base.h"

/* A fault meets one in n requests on average; 0: none. */
struct block_faults {
    uint64_t seed;
    uint64_t fail_reads, fail_writes, lose;
    uint64_t delay_us; /* each request is delayed by up to this time */
};
struct block_fate {
    bool fail, lose;
    uint64_t delay_ns;
};

/* Returns the fate of a device's request number `serial` (from 0). */
struct block_fate block_fate(const struct block_faults *f, uint64_t serial, bool write);
