/*
 * Threads that take turns on the CPUs of hpm_kernel.h, as under the scheduler: it switches and
 * ticks with interrupts off, and what is due comes after it.
 */
#pragma once
#include "test/host/double/hpm_kernel.h"
#include "hpm/hpm.h"

enum { THREADS = 7 };
extern struct hpm_thread threads[THREADS]; /* their ids are 100 and up */
extern int running[DOUBLE_CPUS];           /* thread on each CPU, -1: idle */

/* New threads, so many in a process (whose ids are 10 and up), and idle CPUs. After
 * kernel_start_hpm. */
void threads_begin(unsigned per_process);
/* For cmocka: ends sampling, and what else a test may have left. */
int threads_end(void **state);
void switch_to(unsigned cpu, int next);
void tick(unsigned cpu);
bool is_running(int thread);
void idle_everywhere(void);
/* What was counted for a thread until it was last switched from; for all of them together. */
struct hpm_breakdown counted(int thread);
struct hpm_breakdown counted_in_all(void);
