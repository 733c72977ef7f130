/*
 * What can be counted, by name: `l1d.miss`, `L2_RQSTS:MISS`, `r412e`, each with modes: `cycles:u`.
 *
 * Events are data. Every PMU has a table of its vendor's names (printed by tools/events/ from
 * libpfm4's when the kernel is built); a few generic names lead to different events on different
 * PMUs. Which table belongs to a processor is a table too. Everything here is pure and knows no
 * hardware: nothing is counted by it.
 */
#pragma once
#include "kernel/lib/base.h"

struct event_table; /* hpm/events/table.h: only those who make or read tables look inside */

/* Are vendors' events in the tables? Without libpfm4's, from which they are made, only PMUs that
 * need no vendor's table have one. */
extern const bool event_vendors;
#define EVENT_NO_VENDORS "vendors' names of events are not in this kernel (built without libpfm4)"

#define EVENT_TEXT_MAX 160  /* longest name that is accepted, with its parts and modes, and a NUL */
#define EVENT_NO_FIXED 0xff /* no fixed counter counts it */
enum event_modes { EVENT_USER = 1, EVENT_KERNEL = 2 };

/*
 * An event, ready to be programmed. It may be counted by one of `counters`, or by the fixed
 * counter. How many counters a CPU really has is for the PMU's driver to find out: it takes away
 * from the mask those that are not there.
 *
 * Fixed counters. Intel: as IA32_FIXED_CTR numbers them; 16 and up are the fields of PERF_METRICS,
 * which are fractions of fixed counter 3, so whoever counts one runs that counter too (SDM volume
 * 3, "Performance Metrics"). Arm: 0 is PMCCNTR_EL0. Simulated machine: the number of the counter,
 * 4 and 5.
 *
 * Events of one exclusion class other than 0 may share a group only when their `extra` is the same:
 * it is the value of one register that all of them use (struct group_event of hpm/events/group.h
 * has the same four fields).
 */
struct event {
    /* as the counter's selector has it, without modes, interrupt and enable bits */
    uint64_t config;
    uint64_t extra;    /* value of the exclusion class's register */
    uint32_t counters; /* bit c: programmable counter c can count it */
    uint8_t fixed;     /* the fixed counter that counts nothing else, or EVENT_NO_FIXED */
    uint8_t exclusion; /* enum event_exclusion */
    uint8_t modes;     /* mask of enum event_modes */
    bool precise;      /* the PMU can record where it happened (Intel: PEBS) */
    /* more than 15 in a cycle are lost unless the next counter is merged (AMD) */
    bool wide;
};

enum event_exclusion {
    EVENT_SHARES_NOTHING,
    EVENT_OFFCORE_0, /* Intel MSR_OFFCORE_RSP_0, 0x1a6 */
    EVENT_OFFCORE_1, /* Intel MSR_OFFCORE_RSP_1, 0x1a7 */
    EVENT_FRONTEND,  /* Intel MSR_PEBS_FRONTEND, 0x3f7 */
    EVENT_LATENCY,   /* Intel MSR_PEBS_LD_LAT, 0x3f6 */
    /* Intel fixed counter 3 and PERF_METRICS count in the same modes, which are the extra */
    EVENT_TOPDOWN,
};

/* ---- Which table ----------------------------------------------------------------------------- */

/* What a processor says of itself, in one form for all. */
struct event_identity {
    uint32_t vendor;        /* x86: EBX of CPUID leaf 0; Arm: implementer */
    uint32_t family, model; /* Arm: architecture, part number */
    uint32_t stepping;      /* Arm: variant << 4 | revision */
};
/* CPUID leaf 0, EBX, and leaf 1, EAX. */
struct event_identity event_identity_x86(uint32_t leaf0_ebx, uint32_t leaf1_eax);
struct event_identity event_identity_arm(uint32_t midr);
/* The table of that processor's PMU, or NULL: none is known. */
const struct event_table *event_table_for(const struct event_identity *id);
/* By name ("skylake", "neoverse-n1", "model"), or NULL. */
const struct event_table *event_table_named(const char *name);
const char *event_table_name(const struct event_table *table);

#define EVENT_LACKS_MAX 16
/* A PMU as it was found. */
struct event_pmu {
    const struct event_table *table;
    unsigned counters; /* programmable ones */
    uint32_t fixed;    /* bit f: it has fixed counter f */
    /* Arm's common events are there if the CPU says so, whatever the table lists: PMCEID0 and
     * PMCEID1. Bit n of present[k]: event 0x4000 * k + n is counted. */
    bool says;
    uint64_t present[2];
    /* What the table lists and this CPU lacks. */
    struct event_lacks {
        uint32_t counters; /* bit c: programmable counter c counts none of them */
        /* bit k: the register that class k's events share is not there */
        uint32_t exclusions;
        uint64_t bits;                    /* of a selector */
        uint16_t config[EVENT_LACKS_MAX]; /* events */
        unsigned configs;
    } lacks;
};

/* ---- Which event ----------------------------------------------------------------------------- */

/* Is the event with this selector counted, as far as the CPU says? true where it says nothing. */
bool event_counts(const struct event_pmu *pmu, uint64_t config);

/*
 * An event by its text:
 *     generic[:modes]                   cycles:u
 *     VENDOR_EVENT[:PART...][:modes]    L2_RQSTS:MISS:k     either case; parts in any order
 *     rHEX[:modes]                      r412e               the selector's bits
 * with modes u, k or both; without them both are counted.
 * 0; otherwise err says which part is wrong and what may have been meant:
 * -EINVAL: malformed, or parts that do not go together; -ENOENT: no such name;
 * -ENOTSUP: a name that this PMU has no event for.
 */
int event_parse(const struct event_pmu *pmu, const char *text, struct event *out, char *err,
                size_t err_size);
/* Vendor's name number i, in the table's order, or NULL behind the last. */
const char *event_name(const struct event_table *table, unsigned i);

struct event_generic {
    const char *name, *about;
};
extern const struct event_generic event_generics[]; /* ended by a NULL name */
/* What the generic event is on this PMU: the length of a text for event_parse, which is not ended;
 * 0: not available. */
size_t event_of_generic(const struct event_pmu *pmu, const char *name, const char **text);
