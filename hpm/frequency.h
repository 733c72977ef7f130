/*
 * The frequency of CPUs: effective frequencies, measured where a reading of the counters ends a
 * stretch, and P-states, which boot arguments choose. See frequency.c. All but frequency_init: on
 * the CPU concerned, interrupts off.
 */
#pragma once
#include "hpm/pmu/frequency.h"

struct hpm_cpu;

/* Of a CPU; written by it. */
struct hpm_frequency {
    struct frequency_count last;   /* counts at the latest reading */
    struct frequency_count window; /* counted since a frequency was looked at last, without idle */
    uint32_t told_khz;             /* in the trace; 0: none */
    uint16_t asked;                /* the boot arguments that were obeyed last; see frequency.c */
};

/* The hardware's part, once a driver has been found. */
extern struct frequency_caps frequency_caps;

/* Looks for a driver. Boot CPU, once the PMU has been chosen. */
void frequency_init(void);
/* Begins on this CPU. It obeys when it gets its first thread. */
void frequency_begin(struct hpm_cpu *hpm);
/* Sets this CPU's P-state if the boot arguments have changed. At ticks, and when idle time begins
 * or ends. */
void frequency_obey(struct hpm_cpu *hpm);
/* Adds what was counted since the reading before to the thread on this CPU, and tells the CPU's
 * frequency if it has changed; obeys as frequency_obey. After a reading of the counters, if
 * hpm_state.frequency. */
void frequency_follow(struct hpm_cpu *hpm);
