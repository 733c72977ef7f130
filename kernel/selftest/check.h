/* A check of the self test. It measures one value and states the range that the value must lie
 * in. */
#pragma once
#include "kernel/boot/boot_info.h"

struct measured {
    uint64_t value, low, high; /* passed: low <= value <= high */
    const char *unit;          /* of value, low and high */
    const char *skipped;       /* why nothing was measured, or NULL */
    char note[96];             /* further observations; may be empty */
};

struct check {
    const char *name;
    void (*run)(struct measured *m); /* thread context; m is zero */
};

/* Prints the names of machine and firmware, processors, shape, memory and quirks. Thread
 * context. */
void describe_machine(const struct boot_info *info);

/* The checks by subject, each list ended by a NULL name. */
extern const struct check memory_checks[], clock_checks[], cpu_checks[], program_checks[],
    stack_checks[];

/* ---- For checks ------------------------------------------------------------------------------ */
extern const struct boot_info *selftest_boot;

/* Runs fn(index of its CPU) in a thread on every CPU at once, and waits for all. Returns 0, or
 * -ENOMEM if it did not run on all. */
int on_every_cpu(void (*fn)(unsigned cpu));
/* Runs fn(cpu) in a thread on that CPU alone. Returns 0, or -ENOMEM if it did not run. */
int on_cpu(unsigned cpu, void (*fn)(unsigned cpu));
/* Returns the index of the largest of the first cpu_count() values. */
unsigned largest_of_cpus(const uint64_t *values);
