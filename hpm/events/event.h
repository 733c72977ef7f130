/*
 * Countable events by name: `l1d.miss`, `L2_RQSTS:MISS`, `r412e`, each with modes: `cycles:u`.
 *
 * Events are data. Every PMU has a table of its vendor's names, printed by tools/events/ from
 * libpfm4's when the kernel is built. A few generic names stand for different events on different
 * PMUs. Which table belongs to a processor is in a table as well. Everything here is pure and
 * independent of the hardware: it counts nothing.
 */
#pragma once
#include "kernel/lib/base.h"

struct event_table; /* hpm/events/table.h: for code that makes or reads tables */

/* Whether the tables have vendors' events. Without libpfm4's, from which they are made, only PMUs
 * that need no vendor's table have one. */
extern const bool event_vendors;
#define EVENT_NO_VENDORS "vendors' names of events are not in this kernel (built without libpfm4)"

#define EVENT_TEXT_MAX 160  /* longest name accepted, with its parts and modes and a NUL */
#define EVENT_NO_FIXED 0xff /* no fixed counter counts it */
enum event_modes { EVENT_USER = 1, EVENT_KERNEL = 2 };

/*
 * An event, ready to be programmed. It may be counted by one of `counters`, or by the fixed
 * counter. The PMU's driver removes the counters that a CPU does not have from the mask.
 *
 * Fixed counters:
 * - Intel: as IA32_FIXED_CTR numbers them. 16 and up are the fields of PERF_METRICS, which are
 *   fractions of fixed counter 3, so counting one of them needs that counter as well (SDM volume 3,
 *   "Performance Metrics").
 * - Arm: 0 is PMCCNTR_EL0.
 * - Simulated machine: the number of the counter, 4 and 5.
 *
 * Events of one exclusion class other than 0 may share a group only if their `extra` is the same:
 * it is the value of a register that all of them use (struct group_event of hpm/events/group.h has
 * the same four members).
 */
struct event {
    /* Selector of the counter, without bits for modes, interrupt and enabling. */
    uint64_t config;
    uint64_t extra;    /* value of the exclusion class's register */
    uint32_t counters; /* bit c: programmable counter c can count it */
    uint8_t fixed;     /* the fixed counter that counts nothing else, or EVENT_NO_FIXED */
    uint8_t exclusion; /* enum event_exclusion */
    uint8_t modes;     /* mask of enum event_modes */
    bool precise;      /* the PMU can record where it happened (Intel: PEBS) */
    /* More than 15 in a cycle are lost unless the next counter is merged (AMD). */
    bool wide;
};

enum event_exclusion {
    EVENT_SHARES_NOTHING,
    EVENT_OFFCORE_0, /* Intel MSR_OFFCORE_RSP_0, 0x1a6 */
    EVENT_OFFCORE_1, /* Intel MSR_OFFCORE_RSP_1, 0x1a7 */
    EVENT_FRONTEND,  /* Intel MSR_PEBS_FRONTEND, 0x3f7 */
    EVENT_LATENCY,   /* Intel MSR_PEBS_LD_LAT, 0x3f6 */
    /* Intel fixed counter 3 and PERF_METRICS; both count in the same modes, which are `extra`. */
    EVENT_TOPDOWN,
};

/* ---- Which table ----------------------------------------------------------------------------- */

/* A processor's identification, in one form for all. */
struct event_identity {
    uint32_t vendor;        /* x86: EBX of CPUID leaf 0; Arm: implementer */
    uint32_t family, model; /* Arm: architecture, part number */
    uint32_t stepping;      /* Arm: variant << 4 | revision */
};
/* Returns the identity by CPUID leaf 0, EBX, and leaf 1, EAX; or by MIDR_EL1. */
struct event_identity event_identity_x86(uint32_t leaf0_ebx, uint32_t leaf1_eax);
struct event_identity event_identity_arm(uint32_t midr);
/* Returns the table of that processor's PMU; NULL: none is known. */
const struct event_table *event_table_for(const struct event_identity *id);
/* Returns the table of this name ("skylake", "neoverse-n1", "model"), or NULL. */
const struct event_table *event_table_named(const char *name);
const char *event_table_name(const struct event_table *table);

#define EVENT_LACKS_MAX 16
/* A PMU as it was found. */
struct event_pmu {
    const struct event_table *table;
    unsigned counters; /* programmable ones */
    uint32_t fixed;    /* bit f: it has fixed counter f */
    /* Arm's common events exist if the CPU reports them in PMCEID0 and PMCEID1, whatever the table
     * lists. Bit n of present[k]: event 0x4000 * k + n is counted. */
    bool says;
    uint64_t present[2];
    /* Events that the table lists and this CPU lacks. */
    struct event_lacks {
        uint32_t counters; /* bit c: programmable counter c counts no event */
        /* Bit k: the register that the events of class k share is missing. */
        uint32_t exclusions;
        uint64_t bits;                    /* of a selector, that are missing */
        uint16_t config[EVENT_LACKS_MAX]; /* selectors of missing events */
        unsigned configs;
    } lacks;
};

/* ---- Which event ----------------------------------------------------------------------------- */

/* Returns whether the event with this selector is counted; true if the CPU does not report it. */
bool event_counts(const struct event_pmu *pmu, uint64_t config);

/*
 * Parses the text of an event:
 *
 *     generic[:modes]                   cycles:u
 *     VENDOR_EVENT[:PART...][:modes]    L2_RQSTS:MISS:k
 *     rHEX[:modes]                      r412e
 *
 * A vendor's event may be in either case, and its parts in any order. rHEX has the bits of the
 * selector. Modes are u, k or both; without them both are counted.
 *
 * Returns 0, or with the wrong part and a similar name in `err`:
 * - -EINVAL: malformed, or parts that do not go together.
 * - -ENOENT: there is no such name.
 * - -ENOTSUP: the name exists, but this PMU has no event for it.
 */
int event_parse(const struct event_pmu *pmu, const char *text, struct event *out, char *err,
                size_t err_size);
/* Returns the vendor's name number i, in the table's order; NULL: there are no more. */
const char *event_name(const struct event_table *table, unsigned i);

struct event_generic {
    const char *name, *about;
};
extern const struct event_generic event_generics[]; /* ended by a NULL name */
/* Returns whether a name, without modes, is the event with this selector on a PMU with this table;
 * of a generic name, whether it is one of those that it may stand for. */
bool event_is(const struct event_table *t, const char *text, uint64_t config);
/* Writes the event that a generic name stands for on this PMU to *text, as a text for event_parse
 * without an end. Returns its length; 0: not available. */
size_t event_of_generic(const struct event_pmu *pmu, const char *name, const char **text);
