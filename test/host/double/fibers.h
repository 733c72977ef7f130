/*
 * The scheduler for host tests of code that blocks: threads on stacks of their own. They take turns
 * wherever the kernel could take a CPU from them: when interrupts are enabled with no spinlock
 * held, when they block, and when they yield. The next thread and its CPU are drawn from a seed.
 *
 * If no thread can run, an event of the test happens (a disk answers), or the clock (host_ticks, in
 * ns) goes on. If nothing else has happened for 100 s of that clock, or all threads wait for ever,
 * the test ends at once and prints each thread's wait.
 */
#pragma once
#include "sched/sched.h"

enum { FIBER_CPUS = 4 };

/* Begins without threads. `preempt`: one enabling of interrupts in about this many preempts the
 * thread; 0: none does. */
void fibers_begin(uint64_t seed, unsigned preempt);
/* Makes a thread of the test's in a space, for page logs. It runs from fibers_run on, and must
 * leave its space itself (thread_leave_space). */
struct thread *fiber_start(void (*entry)(void *), void *arg, uint16_t space_number);
/* Runs until every thread of the test's has ended. Kernel threads stay where they are, and go on in
 * the next fibers_run. */
void fibers_run(void);
/* Frees all threads, wherever they are. */
void fibers_end(void);
/* number of points at which a thread has offered to yield */
extern uint64_t fibers_points;
/* Wakes the thread: its process ends. */
void fiber_interrupt(struct thread *t);

/* Defined by the test: an event happens, with interrupts off, on some CPU. Returns false if there
 * is none. */
bool fibers_event(void);
