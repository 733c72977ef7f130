/*
 * Clock and one-shot timer in nanoseconds: clock.c does the arithmetic, an ISA's own clock file
 * knows the hardware.
 */
#pragma once
#include "kernel/lib/base.h"

/* From now on arch_clock_ns counts, from 0, ticks of this frequency. Boot CPU, once. */
void clock_start(uint64_t hz);
/* So many nanoseconds in ticks of a clock of that frequency, rounded down; frequencies up to 17
 * GHz. */
uint64_t clock_ticks_of(uint64_t ns, uint64_t hz);
void clock_wait_ns(uint64_t ns);
/* The timer interrupt: true if the armed deadline has passed, else it waits on. */
bool clock_timer_fired(void);

/* ---- What the ISA supplies ------------------------------------------------------------------- */
int clock_init(
    /* boot CPU: finds out how fast the clocks run, calls clock_start; 0 or -ENODEV with a line */
    void);
void clock_init_cpu(void); /* each CPU, interrupts off, its interrupt controller ready */
/* Adds ticks to this CPU's clock, for good; false where that cannot be done. Interrupts off, at
 * its start. */
bool clock_correct(int64_t ticks);
/* This CPU's timer interrupts once, wait_ns from now or a little later, should that not be too long
 * for it: then earlier. At most CLOCK_WAIT_MAX_NS. */
void clock_timer_start(uint64_t wait_ns);
void clock_timer_stop(void);

/* what is later is waited for in parts; its ticks fit a word */
#define CLOCK_WAIT_MAX_NS (3600 * NS_PER_S)
