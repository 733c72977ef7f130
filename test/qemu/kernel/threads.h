/* Threads of the suites: made, counted as they end, and waited for. Where there is no memory for
 * one the kernel panics. */
#pragma once
#include "sched/cpuset.h"
#include "sched/sched.h"

/* A thread in no group, of normal priority unless p says another, not started yet; the caller holds
 * a reference. */
struct thread *make_thread(struct thread_params p);
/* The same, started, and nobody holds it; on one CPU only, counted round. */
void start_thread(struct thread_params p);
void start_thread_on(unsigned cpu, struct thread_params p);

/* How many threads have ended since threads_begin. */
void threads_begin(void);
unsigned threads_ended(void);
/* What a thread does last: it is in no space then, and counted. */
void note_end(void);
void wait_for_ends(unsigned n);

/* Of a thread that the caller holds; the second lasts until it is off its CPU, too. */
bool is_dead(const struct thread *t);
void wait_until_dead(const struct thread *t);

/* Panics if a CPU's queue is not as it should be. */
void check_queues(void);

void nap(uint64_t ns);
