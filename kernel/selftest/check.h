/* A check of the self test: it measures one figure, and says between which it must lie. */
#pragma once
#include "kernel/boot/boot_info.h"

struct measured {
    uint64_t value, low, high; /* passed: low <= value <= high */
    const char *unit;          /* of all three */
    const char *skipped;       /* why nothing was measured; NULL: it was */
    char note[96];             /* what else was seen; may be empty */
};

struct check {
    const char *name;
    void (*run)(struct measured *m); /* thread context; m is zero */
};

/* describe.c: prints the names of machine and firmware, processors, shape, memory and quirks. Thread
 * context. */
void describe_machine(const struct boot_info *info);

/* By subject, each ended by name NULL. */
extern const struct check memory_checks[], clock_checks[], cpu_checks[], program_checks[],
    stack_checks[];

/* ---- For checks ------------------------------------------------------------------------------ */
extern const struct boot_info *selftest_boot;

/* Runs fn(cpu's index) in a thread on every CPU at once and waits for all. -ENOMEM: not on all. */
int on_every_cpu(void (*fn)(unsigned cpu));
/* The same in a thread on that CPU alone. -ENOMEM: not at all. */
int on_cpu(unsigned cpu, void (*fn)(unsigned cpu));
/* Index of the largest of the first cpu_count() values. */
unsigned largest_of_cpus(const uint64_t *values);
