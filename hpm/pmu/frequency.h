/*
 * What a driver for the frequency of CPUs does for hpm/frequency.c. A driver knows one kind of
 * hardware. It reads two counters that stand still together while a CPU is halted: the core's own
 * cycles, and a reference of constant frequency. Their ratio is the effective frequency. And it
 * sets P-states, where the hardware lets the kernel choose them. P-state 0 is the fastest one that
 * the kernel can ask for; turbo above it is the hardware's own choice.
 */
#pragma once
#include "kernel/lib/base.h"

#define FREQUENCY_PSTATES_MAX 64

struct frequency_caps {
    /* `read` may be called. */
    bool counts;
    /* The counts are those of the PMU's latest latch, which must count in all modes. */
    bool by_pmu;
    uint64_t reference_hz; /* frequency of the reference, if `counts` */
    /* P-states that `set` accepts, numbered from 0; 0: the kernel cannot choose. At most
     * FREQUENCY_PSTATES_MAX. */
    unsigned pstates;
    uint32_t khz[FREQUENCY_PSTATES_MAX]; /* by P-state; 0: it is not known */
    /* Why there are no P-states, for the line that says so: a word with hyphens. */
    const char *lacks;
};

struct frequency_count {
    uint64_t core, reference;
};

/* `read` and `set` act on the CPU that calls, interrupts off. */
struct frequency_ops {
    const char *name;
    /* Looks for the hardware and fills in `caps`. Returns 0, or -ENODEV if it has neither counters
     * nor P-states. Boot CPU, once, after the PMU's probe. */
    int (*probe)(struct frequency_caps *caps);
    /* Reads both counters, as closely together as the hardware lets. */
    void (*read)(struct frequency_count *out);
    /* Asks for a P-state below caps.pstates. The hardware may share it among CPUs of a core. */
    void (*set)(unsigned pstate);
};

extern const struct frequency_ops *const frequency_backends[]; /* in probe order, ended by NULL */
extern const struct frequency_ops frequency_model, frequency_x86, frequency_amu;
