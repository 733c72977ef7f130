/*
 * The few things hpm expects of the kernel, for host tests with a double of some PMU: CPUs that
 * execute nothing, a clock that a test moves (host_ticks), memory, and what is printed.
 */
#pragma once
#include "hpm/internal.h"
#include "kernel/core/cpu.h"

enum { DOUBLE_CPUS = 4, DOUBLE_FRAMES = 64 };

extern char double_output[8192]; /* what was printed, newest part */

/* The CPUs and hpm as they are before hpm_init; CPU 0 executes. */
void kernel_reset(void);
/* hpm_init, and hpm_cpu_init on every CPU; they are idle then. */
void kernel_start_hpm(void);
/* Gives back what hpm took from frame_alloc. */
void double_shut_down(void);
/* Makes this CPU the one that executes. */
void double_run_on(unsigned cpu);
/* How many things frame_alloc has given and not got back; it gives no more than
 * double_frames_max. */
unsigned double_frames(void);
extern unsigned double_frames_max;
/* So many calls of other CPUs go unanswered from now on. */
extern unsigned double_calls_refused;
/* Which modes kernel_start_hpm is told to count in: hpm.modes. */
void with_modes(uint64_t modes);
/* Any boot argument of hpm, for the next kernel_start_hpm and those after it. */
void with_argument(const char *name, uint64_t value);

/* Where an interrupt finds the CPU. */
extern vaddr_t host_pc;
extern bool host_user;

/* Interrupts are late: none comes until this is false again. */
extern bool double_late;
/* Does an interrupt that is due come now? */
bool double_interruptible(void);
/* Takes interrupts that are due, if they come now. Each double has its own. */
void double_deliver(void);
