/* Threads that monitoring is tested with, and lines that they write. */
#pragma once
#include "hpm/count.h"
#include "sched/cpuset.h"
#include "sched/sched.h"

struct line {
    uint64_t word[CACHE_LINE / 8];
} ALIGNED(CACHE_LINE);

/* A thread of a test. It is kept until its counts have been read. */
struct worker {
    struct thread *thread;
    struct line *line;
    uint64_t steps, seed, until_ns;
    unsigned parity;
    struct hpm_breakdown counted;
};

extern uint64_t rounds_wanted; /* of each thread */

/* Starts `entry` with argument `w` on one of `cpus`. */
void start_on(struct worker *w, void (*entry)(void *), const struct cpuset *cpus);
/* Waits for the end of the thread, and reads all its counts. */
void finish(struct worker *w);
/* Drops the test's reference to the thread. */
void drop(struct worker *w);
/* Starts two threads on these CPUs that write `line` in turns, rounds_wanted times each: each turn
 * moves the line. */
void play(struct worker pair[2], struct line *line, unsigned cpu0, unsigned cpu1);
/* Returns the first CPU that is on another chip than CPU 0. */
unsigned far_cpu(void);

/* Tests of samples, for the suite in hpm.c. */
void samples_of_a_shared_line_belong_to_the_two_that_share_it(void);
void attribution_is_exact_at_switches(void);
void samples_that_are_not_taken_are_counted_as_lost(void);
