/*
 * Faults to inject below any block device, for tests: which requests fail, are delayed, or never
 * come back. Pure: the fate of the nth request follows from the seed alone.
 */
#pragma once
#include "kernel/lib/base.h"

/* Of so many requests one meets it, on average; 0: none does. */
struct block_faults {
    uint64_t seed;
    uint64_t fail_reads, fail_writes, lose;
    uint64_t delay_us; /* each is delayed by up to so much */
};
struct block_fate {
    bool fail, lose;
    uint64_t delay_ns;
};

/* What happens to a device's request number serial (from 0). */
struct block_fate block_fate(const struct block_faults *f, uint64_t serial, bool write);
