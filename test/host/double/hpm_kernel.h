/* The parts of the kernel that hpm needs, for host tests with a double of some PMU: CPUs that
 * execute nothing, a clock that a test moves (host_ticks), memory, and the console. */
#pragma once
#include "hpm/internal.h"
#include "kernel/core/cpu.h"

enum { DOUBLE_CPUS = 4, DOUBLE_FRAMES = 128 };

extern char double_output[8192]; /* latest part of the console's output */

/* Resets the CPUs and hpm to their state before hpm_init; CPU 0 executes. */
void kernel_reset(void);
/* Calls hpm_init, and hpm_cpu_init on every CPU, which is then idle. */
void kernel_start_hpm(void);
/* Frees all that frame_alloc gave hpm. */
void double_shut_down(void);
/* Makes CPU `cpu` the one that executes. */
void double_run_on(unsigned cpu);
/* Returns the number of allocations of frame_alloc that have not been freed; it makes no more than
 * double_frames_max. */
unsigned double_frames(void);
extern unsigned double_frames_max;
/* Number of following calls of other CPUs that are not answered. */
extern unsigned double_calls_refused;
/* Sets hpm.modes for kernel_start_hpm. */
void with_modes(uint64_t modes);
/* Sets a boot argument of hpm or freq, for all following kernel_start_hpm. */
void with_argument(const char *name, uint64_t value);

/* As hpm_access_start, hpm_access_stop and so on, of a handle that is opened when it is needed: for
 * tests of what one user sees. one_start opens it and returns its error, too. */
struct hpm_sample_account;
extern struct hpm_access *one;
int one_start(const struct hpm_sampling *config);
void one_stop(void);
size_t one_take(struct hpm_sample *out, size_t max);
void one_account(struct hpm_sample_account *out);

/* What an interrupt interrupts. */
extern vaddr_t host_pc;
extern bool host_user;

extern bool double_quanta; /* telemetry=quanta is asked for; trace_counts: its counts */
/* Gets the events that are recorded. */
enum trace_event;
extern void (*double_put)(enum trace_event id, const uint64_t *values);
/* Interrupts are late: none comes until this is false. */
extern bool double_late;
/* Returns whether an interrupt that is due comes now. */
bool double_interruptible(void);
/* Takes the interrupts that are due and come now. Each double has its own. */
void double_deliver(void);
