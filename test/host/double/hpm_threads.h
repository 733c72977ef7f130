/* Threads on the CPUs of hpm_kernel.h, as under the scheduler: switches and ticks have interrupts
 * off; interrupts that are due come afterwards. */
#pragma once
#include "test/host/double/hpm_kernel.h"
#include "hpm/hpm.h"

enum { THREADS = 7 };
extern struct hpm_thread threads[THREADS]; /* with ids from 100 */
extern int running[DOUBLE_CPUS];           /* thread on each CPU, -1: idle */

/* Makes new threads, per_process in a process (with ids from 10), and idle CPUs. After
 * kernel_start_hpm. */
void threads_begin(unsigned per_process);
/* Ends sampling, and resets what else a test may have changed. For cmocka. */
int threads_end(void **state);
void switch_to(unsigned cpu, int next);
void tick(unsigned cpu);
bool is_running(int thread);
void idle_everywhere(void);
/* Return the counts of a thread up to its last switch; of all threads together. */
struct hpm_breakdown counted(int thread);
struct hpm_breakdown counted_in_all(void);
