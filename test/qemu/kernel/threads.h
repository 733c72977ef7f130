/* Threads of the suites: created, counted as they end, and waited for. Panics without memory for a
 * thread. */
#pragma once
#include "sched/cpuset.h"
#include "sched/sched.h"

/* Creates a thread in no group, of normal priority unless `p` says otherwise, and does not start
 * it. The caller holds a reference. */
struct thread *make_thread(struct thread_params p);
/* Create and start a thread without a reference; the second on one CPU only, modulo the number of
 * CPUs. */
void start_thread(struct thread_params p);
void start_thread_on(unsigned cpu, struct thread_params p);

/* threads_ended() returns the number of threads that have ended since threads_begin(). */
void threads_begin(void);
unsigned threads_ended(void);
/* Called last by a thread: leaves its space and counts it. */
void note_end(void);
void wait_for_ends(unsigned n);

/* For a thread that the caller has a reference to. The second waits until it has also left its
 * CPU. */
bool is_dead(const struct thread *t);
void wait_until_dead(const struct thread *t);

/* Panics if a CPU's run queue is inconsistent. */
void check_queues(void);

void nap(uint64_t ns);
