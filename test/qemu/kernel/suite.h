/*
 * Suites that run as threads of a booted kernel. The image is the kernel with another run.c: the
 * words behind '--' on the command line name suites instead of applications. Output is TAP.
 */
#pragma once
#include "kernel/lib/base.h"

struct suite_test {
    const char *name; /* a sentence */
    void (*run)(void);
};

struct suite {
    const char *name;
    const struct suite_test *tests; /* ended by name NULL */
};

extern const struct suite turns_suite, sched_suite, hpm_suite, mm_suite, spaces_suite, arch_suite,
    msi_suite, panics_suite, pmu_suite, console_suite, futex_suite, virtio_suite, telemetry_suite,
    block_suite, block_failing_suite, swap_suite, heap_suite, string_suite, nic_suite;

/* Fails the running test, which continues. */
void suite_fail(const char *file, int line, const char *what);

/* Skips the running test, which then returns. */
void suite_skip(const char *why);

#define CHECK(cond)                                \
    do {                                           \
        if (!(cond))                               \
            suite_fail(__FILE__, __LINE__, #cond); \
    } while (0)
