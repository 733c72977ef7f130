/*
 * The form of event tables, as tools/events/ prints them: arrays of small structs that share one
 * pool of names, one of register values and one of constraints, so that all PMUs of a vendor take a
 * few ten kilobytes.
 *
 * PMUs of one family share a table; `variants` tells which of them have an event or a part.
 */
#pragma once
#include "hpm/events/event.h"

/* Bits 32 to 35 of a selector are in the low half of `high`, beside other fields. */
#define EVENT_CONFIG_HIGH 0x0f

struct event_limit {
    uint32_t counters;
    uint8_t fixed, exclusion;
};

/* number of groups of parts; a part of every group must be chosen */
#define ENTRY_GROUPS(high) ((high) >> 4 & 3)
#define ENTRY_PRECISE      0x40
#define ENTRY_WIDE         0x80
struct event_entry {
    uint32_t config; /* selector, bits 0 to 31 */
    uint16_t name;   /* offset in names */
    uint16_t unit;   /* number of its first part */
    uint8_t units;   /* number of its parts */
    uint8_t limit;   /* index in limits */
    uint8_t variants;
    uint8_t high; /* EVENT_CONFIG_HIGH, groups, ENTRY_* */
};

#define UNIT_LIMIT_OF_ENTRY 0xff
#define UNIT_NO_EXTRA       0xffff
enum unit_flags {
    UNIT_ALONE = 1,     /* excludes other parts of its group */
    UNIT_DEFAULT = 2,   /* is used if no part of its group is named */
    UNIT_ENDS = 4,      /* excludes the groups behind its own */
    UNIT_OVERRIDES = 8, /* bits 0 to 7 of its config replace those of the event */
    UNIT_PRECISE = 16,
};
/* A part of an event: what libpfm4 calls a unit mask. */
struct event_unit {
    uint32_t config;
    uint16_t name;
    uint16_t extra; /* index in extras, or UNIT_NO_EXTRA */
    uint8_t limit;  /* index in limits, or UNIT_LIMIT_OF_ENTRY */
    uint8_t variants;
    uint8_t flags;
    uint8_t high; /* EVENT_CONFIG_HIGH, group << 4 */
};

struct event_table {
    const char *name;
    uint8_t variant; /* one bit, as in `variants` */
    uint8_t slots;   /* slots of the pipeline in a cycle; 0: unknown */
    uint16_t entry_count;
    uint32_t raw_counters; /* counters for events given by bits */
    uint64_t raw_bits;     /* bits of the selector that may be given */
    uint64_t select_bits;  /* those of raw_bits that select the event, without its parts */
    const struct event_entry *entries;
    const struct event_unit *units;
    const struct event_limit *limits;
    const uint64_t *extras;
    const char *names;
};
extern const struct event_table *const event_tables[]; /* of this kernel's PMUs, NULL-terminated */

/* Which table belongs to which processor: the first row that fits and has a table in this
 * kernel. */
#define EVENT_ANY UINT32_MAX
struct event_choice {
    uint32_t vendor, family;
    uint32_t model_first, model_last, stepping_first, stepping_last;
    const char *table;
};
extern const struct event_choice event_choices[]; /* ended by a NULL table */

/* The events that generic names stand for on one PMU, in the order of event_generics; NULL: not
 * available. Of several events, separated by blanks, the first that the PMU has is used. */
struct event_generic_map {
    /* Name of the table; NULL: any table without a row of its own above this one. */
    const char *table;
    const char *const *events;
};
extern const struct event_generic_map event_generic_maps[]; /* ended by NULL events */

static inline const char *entry_name(const struct event_table *t, const struct event_entry *e)
{
    return t->names + e->name;
}

static inline const char *unit_name(const struct event_table *t, const struct event_unit *u)
{
    return t->names + u->name;
}
