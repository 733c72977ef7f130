/*
 * What somebody wants sampled, as a text:
 *
 *     cycles@100000, L1D_MISSES:u, time@1ms, entries@10, access.remote@100:u
 *
 * NAME, with :MODES and @PERIOD behind it, in either order, or not; separated by commas or blanks.
 * NAME    an event as event_parse takes it; time; entries (into the kernel: system calls, faults,
 * interrupts);
 *         access.WHAT: accesses served by l1, l2, l3, remote_l2, remote_l3, local_memory,
 *         remote_memory, or by one of remote (both remote caches), memory (both memories), any
 * MODES   u, k or both: in which the CPU was; both if there are none; of entries not k alone
 * PERIOD  one in so many events, entries or accesses: a number, which may end in k, M or G (10^3,
 * 10^6, 10^9);
 *         a time: a number that ends in ns, us, ms or s; if there is none the period is adapted
 *         (hpm/policy/period.h)
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
    char name[EVENT_TEXT_MAX]; /* as it was written, with modes, without period */
    struct event event;        /* of CRITERION_EVENT, its modes included */
    uint32_t sources;          /* of CRITERION_ACCESS: mask of 1 << enum hpm_source, not empty */
    uint8_t modes;             /* mask of enum event_modes */
    uint64_t period;           /* events, ns, entries or accesses; 0: adapted */
};

struct criteria {
    unsigned count; /* 1..CRITERIA_MAX */
    struct criterion criterion[CRITERIA_MAX];
};

/* What can be sampled here. */
struct criteria_caps {
    bool counters;                  /* are there any? */
    const struct event_pmu *events; /* NULL, or without a table: no events */
    uint32_t sources;     /* mask of 1 << enum hpm_source: records can be had of; 0: none */
    uint64_t access_min;  /* shortest period of records; 0: any */
    uint64_t time_min_ns; /* shortest period of time; 0: any */
};

/*
 * 0; or, with the word and what is accepted in its place in err, and out->count 0:
 * -ENODEV: it needs counters, and there are none; -EINVAL: malformed, or a period out of range;
 * -ENOENT: no such name; -ENOTSUP: a name that there is nothing for here; -ENOSPC: more than
 * CRITERIA_MAX. A group of sources means those of it that the PMU records, and is refused if there
 * are none.
 */
int criteria_parse(const char *text, const struct criteria_caps *caps, struct criteria *out,
                   char *err, size_t err_size);
