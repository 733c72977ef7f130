/*
 * Durations counted in log-linear buckets: 32 for each power of two, so that any percentile is
 * known within 1/32 of its value. Range: 0 to 2^44 - 1 ns (about five hours); longer ones count in
 * the last bucket. Recording takes a few instructions, touches one counter and uses no floating
 * point.
 */
#pragma once
#include <stdint.h>

enum {
    HISTOGRAM_SUB_BITS = 5,
    HISTOGRAM_TOP_BIT = 44,
    HISTOGRAM_BUCKETS = (HISTOGRAM_TOP_BIT - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS,
};

/* Empty when zeroed. */
struct histogram {
    uint64_t count;
    uint64_t max_ns;
    uint32_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_record(struct histogram *histogram, uint64_t duration_ns);

/* Adds all that `from` has recorded to `into`. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * Returns the duration that `permille` of 1000 recorded ones do not exceed: the upper bound of its
 * bucket, but no more than the longest recorded. 500: the median. 0 when empty.
 */
uint64_t histogram_permille_ns(const struct histogram *histogram, unsigned permille);
