/*
 * Clock and one-shot timer in nanoseconds: clock.c does the arithmetic, an ISA's clock.c accesses
 * the hardware.
 */
#pragma once
#include "kernel/lib/base.h"

/* Starts arch_clock_ns() at 0, with ticks of this frequency. Boot CPU, once. */
void clock_start(uint64_t hz);
/* Converts nanoseconds to ticks of a clock of up to 17 GHz, rounded down. */
uint64_t clock_ticks_of(uint64_t ns, uint64_t hz);
void clock_wait_ns(uint64_t ns);
/* Handles the timer interrupt: returns true if the armed deadline has passed, else waits on. */
bool clock_timer_fired(void);

/* ---- Supplied by the ISA --------------------------------------------------------------------- */
/* Finds the frequency of the clocks and calls clock_start(). Boot CPU. Returns 0, or -ENODEV after
 * a line that says why. */
int clock_init(void);
void clock_init_cpu(void); /* each CPU, interrupts off, its interrupt controller initialised */
/* Adds ticks to this CPU's clock, permanently. Returns false if that cannot be done. Interrupts
 * off, when the CPU starts. */
bool clock_correct(int64_t ticks);
/* Makes this CPU's timer interrupt once after `wait_ns` or a little later; earlier if that is too
 * long for the timer. At most CLOCK_WAIT_MAX_NS. */
void clock_timer_start(uint64_t wait_ns);
void clock_timer_stop(void);

/* Longer waits are split; the ticks of this one fit a word. */
#define CLOCK_WAIT_MAX_NS (3600 * NS_PER_S)
