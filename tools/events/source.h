/*
 * Events on their way from libpfm4's tables, one form per vendor, into those of hpm/events/table.h.
 * Host program: what is wrong ends it with a message.
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
    /* events whose parts come from here have the same parts; NULL: nobody else has */
    const void *shared;
};

struct source_pmu {
    const char *name;
    unsigned slots;
};

/* PMUs of one family; number i has variants bit i. */
struct source_family {
    struct source_pmu pmus[8];
    struct source_event *events;
    unsigned count;
    uint32_t raw_counters;
    uint64_t raw_bits, select_bits;
};

/* Out of libpfm4's tables; without.c stands in for all three where there are none. */
void intel_families(void);
void amd_families(void);
void arm_families(void);
/* Our own. */
void architectural_x86(void);
void architectural_arm(void);
void model_family(void);

/* generate.c */
void family_add(const struct source_family *f);
void *source_alloc(size_t count, size_t size); /* zeroed; never freed */
void left_out(const char *pmu, const char *event, const char *why);
