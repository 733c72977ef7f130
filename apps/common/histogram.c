/*
 * Log-linear buckets. Values below 2^(SUB_BITS+1) have buckets of width 1. Above, the position of
 * the top bit selects the power of two, and the SUB_BITS below it the bucket. Bounds increase
 * without gaps.
 */
#include "apps/common/histogram.h"

enum { SUB_COUNT = 1 << HISTOGRAM_SUB_BITS };

static unsigned bucket_of(uint64_t value)
{
    unsigned top, shift;

    if (value < SUB_COUNT)
        return (unsigned)value;
    if (value >> HISTOGRAM_TOP_BIT)
        return HISTOGRAM_BUCKETS - 1;
    top = 63 - (unsigned)__builtin_clzll(value);
    shift = top - HISTOGRAM_SUB_BITS;
    return ((shift + 1) << HISTOGRAM_SUB_BITS) + (unsigned)((value >> shift) & (SUB_COUNT - 1));
}

static uint64_t upper_bound_of(unsigned bucket)
{
    unsigned shift;

    if (bucket < SUB_COUNT)
        return bucket;
    shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
    return ((((uint64_t)bucket & (SUB_COUNT - 1)) + SUB_COUNT + 1) << shift) - 1;
}

void histogram_record(struct histogram *histogram, uint64_t duration_ns)
{
    histogram->bucket[bucket_of(duration_ns)]++;
    histogram->count++;
    if (duration_ns > histogram->max_ns)
        histogram->max_ns = duration_ns;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
    into->count += from->count;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
}

uint64_t histogram_permille_ns(const struct histogram *histogram, unsigned permille)
{
    uint64_t wanted = (histogram->count * permille + 999) / 1000;
    uint64_t seen = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->bucket[i];
        if (seen >= wanted && seen > 0) {
            uint64_t bound = upper_bound_of(i);
            return bound < histogram->max_ns ? bound : histogram->max_ns;
        }
    }
    return histogram->max_ns;
}
