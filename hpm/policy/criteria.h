/*
 * What is to be sampled, as a text:
 *
 *     cycles@100000, L1D_MISSES:u, time@1ms, entries@10, access.remote@100:u
 *
 * Criteria are separated by commas or blanks. Each is a NAME, optionally followed by :MODES and
 * @PERIOD in either order.
 *
 * NAME is one of
 * - an event, as event_parse takes it
 * - time
 * - entries: entries into the kernel (system calls, faults, interrupts)
 * - access.WHAT: accesses served by l1, l2, l3, remote_l2, remote_l3, local_memory or
 *   remote_memory, or by one of a group: remote (both remote caches), memory (both memories),
 *   beyond_l1 (all but the l1), any; or walk: accesses behind a page walk, whatever served them
 * - fetch.walk: translations of instructions behind a page walk
 * - the last two kinds with >=N behind them: those that took N cycles at least, walk included
 *
 * MODES are the CPU's modes that are sampled: u, k or both; both if there are none. Entries cannot
 * have k alone.
 *
 * PERIOD is the distance between samples
 * - in events, entries or accesses: a number, which may end in k, M or G (10^3, 10^6, 10^9)
 * - in time: a number that ends in ns, us, ms or s
 * Without it the period is adapted (hpm/policy/period.h).
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/events/event.h"

#define CRITERIA_MAX            8
#define CRITERION_PERIOD_MAX    ((uint64_t)1 << 32)
#define CRITERION_PERIOD_NS_MAX (3600 * NS_PER_S)

enum criterion_kind { CRITERION_EVENT, CRITERION_TIME, CRITERION_ENTRIES, CRITERION_ACCESS };

struct criterion {
    enum criterion_kind kind;
    char name[EVENT_TEXT_MAX]; /* as written, with modes, without period */
    struct event event;        /* of CRITERION_EVENT, with its modes */
    /* Of CRITERION_ACCESS: mask of 1 << enum hpm_source; accesses, and instructions, behind a page
     * walk; their latency at least, in cycles. One of the first three is set. */
    uint32_t sources;
    bool walks, fetches;
    uint32_t min_latency;
    uint8_t modes;   /* mask of enum event_modes */
    uint64_t period; /* events, ns, entries or accesses; 0: adapted */
};

struct criteria {
    unsigned count; /* 1..CRITERIA_MAX */
    struct criterion criterion[CRITERIA_MAX];
};

/* What this machine can sample. */
struct criteria_caps {
    bool counters;                  /* there are counters */
    const struct event_pmu *events; /* NULL, or without a table: no events can be sampled */
    /* mask of 1 << enum hpm_source: sources of which records can be taken; 0: none */
    uint32_t sources;
    bool walks, fetches;  /* page walks for data, and for instructions, are recorded */
    bool latency;         /* records tell latencies */
    uint64_t access_min;  /* shortest period of accesses; 0: any */
    uint64_t time_min_ns; /* shortest period of time; 0: any */
};

/*
 * Parses `text`. A group of sources means those that the PMU records, and is refused if it records
 * none of them.
 * Returns 0, or, with the word and what would be accepted there in `err` and out->count 0:
 * - -ENODEV: the criterion needs counters, and there are none.
 * - -EINVAL: malformed, or a period out of range.
 * - -ENOENT: there is no such name.
 * - -ENOTSUP: the name exists, but nothing on this machine provides it.
 * - -ENOSPC: more than CRITERIA_MAX criteria.
 */
int criteria_parse(const char *text, const struct criteria_caps *caps, struct criteria *out,
                   char *err, size_t err_size);
