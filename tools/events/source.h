/*
 * Events on their way from libpfm4's tables, one form per vendor, into those of hpm/events/table.h.
 * Host program: an error ends it with a message.
 */
#pragma once
#include "hpm/events/table.h"

struct source_unit {
    const char *name;
    uint64_t config, extra;
    bool has_extra, has_limit;
    struct event_limit limit;
    unsigned flags, group, variants;
};

struct source_event {
    const char *name;
    uint64_t config;
    struct event_limit limit;
    unsigned groups, variants;
    bool precise, wide;
    const struct source_unit *units;
    unsigned unit_count;
    /* The same for events with the same parts; NULL: no other event has these parts. */
    const void *shared;
};

struct source_pmu {
    const char *name;
    unsigned slots;
};

/* The PMUs of one family; PMU number i has variants bit i. */
struct source_family {
    struct source_pmu pmus[8];
    struct source_event *events;
    unsigned count;
    uint32_t raw_counters;
    uint64_t raw_bits, select_bits;
};

/* The families of libpfm4's tables; without.c replaces all three where there are no such tables. */
void intel_families(void);
void amd_families(void);
void arm_families(void);
/* The families that need no such tables. */
void architectural_x86(void);
void architectural_arm(void);
void model_family(void);

/* generate.c */
void family_add(const struct source_family *f);
void *source_alloc(size_t count, size_t size); /* returns zeroed memory, which is never freed */
void left_out(const char *pmu, const char *event, const char *why);
