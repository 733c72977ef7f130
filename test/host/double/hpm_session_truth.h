/* Sessions on the simulated machine's double, and what the double knows of each thread: the events
 * that happened on its CPUs between the readings at which its stretches began and ended. */
#pragma once
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_sessions.h"

enum { SLICE = 1000000 };

/* Boots the machine with three threads. For cmocka. */
int sessions_set_up(void **state);

/* Begins to record the threads' events. */
void begin_truth(void);
/* Returns how often event `e` happened to the thread, up to its CPU's latest reading. */
uint64_t truth_of(int thread, enum machine_event e);
/* Returns how often event `e` happened on all CPUs, up to their latest readings. */
uint64_t truth_of_machine(enum machine_event e);
/* Returns how often event `e` happened to the thread in its finished stretches. */
uint64_t truth_of_stretches(int thread, enum machine_event e);
/* Forgets the thread's events, when it ends. */
void forget_truth(int thread);
/* Lets CPU `cpu` switch to thread `next`, and then take the interrupts that are due. */
void move_to(unsigned cpu, int next);

void assert_exact(const struct hpm_value *v, uint64_t count);

/* Events that are always counted, by the names that a session can begin with. */
enum { ALWAYS = 4 };
extern const char *const always_names;
extern const enum machine_event always_events[ALWAYS];

/* Runs threads on CPUs 0 and 1 with steady work until CPU 0 has spent `slices` slices. */
void run_threads(unsigned slices, uint64_t *seed);
