/*
 * A memory that replaces by LRU and prefetches: runs a page trace, and counts. A read takes a
 * constant time and any number are under way ([Azimi 2007, 4.6.5]); time is in accesses, which take
 * one each. Pages are made at their first use, without being read.
 */
#pragma once
#include "mm/policy/prefetch/prefetch.h"
#include "test/host/double/traces.h"

struct paging_result {
    uint64_t accesses;
    uint64_t faults;                /* a thread waited for a page to be read */
    uint64_t fetched, used, wasted; /* prefetched */
    /* time, for faults and for prefetched pages that were under way */
    uint64_t waited;
    uint64_t late;  /* ... used while they were */
    unsigned level; /* the policy's, at the end */
};

/* latency: of a read; check: every structure after every step. Aborts where one is broken. */
struct paging_result paging_run(const struct prefetch_ops *ops, const struct trace *t,
                                uint32_t frames, unsigned latency, bool check);
