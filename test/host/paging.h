/*
 * A memory that replaces by LRU and prefetches: runs a page trace, and counts.  A page that is being read is there at once ([Azimi 2007,
 * 4.6.5]: latency is a constant, bandwidth no bound).  Pages are first used when they are made, without being read.
 */
#pragma once
#include "mm/prefetch.h"
#include "test/host/traces.h"

struct paging_result {
    uint64_t accesses;
    uint64_t faults;                /* a thread waited for a page to be read */
    uint64_t fetched, used, wasted; /* prefetched                            */
    unsigned level;                 /* the policy's, at the end              */
};

/* check: every structure after every step.  Aborts where one is broken. */
struct paging_result paging_run(const struct prefetch_ops *ops, const struct trace *t, uint32_t frames,
                                bool check);
