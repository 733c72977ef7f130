/*
 * The scheduler for host tests of code that sleeps: threads on stacks of their own, which take
 * turns wherever the kernel could take a CPU from them: whenever interrupts are let in with no
 * spinlock held, when they sleep, and when they give way. Who is next, and on which CPU, is drawn
 * from a seed. When nobody can run, the clock (host_ticks, in ns) goes on, or something else
 * happens that the test names. When nothing but that has happened for 100 s of that clock, or
 * everybody sleeps for ever, the test ends at once, and says who waits for what.
 */
#pragma once
#include "sched/sched.h"

enum { FIBER_CPUS = 4 };

/* No thread, no time gone. preempt: about one letting-in of interrupts in so many gives way; 0:
 * none does. */
void fibers_begin(uint64_t seed, unsigned preempt);
/* A thread of the test's in a space, for page logs; runs from fibers_run on. It must leave its
 * space itself (thread_leave_space). */
struct thread *fiber_start(void (*entry)(void *), void *arg, uint16_t space_number);
/* Until every thread of the test's has ended; those of the kernel's stay where they are, and go on
 * in the next fibers_run. */
void fibers_run(void);
/* Frees all threads, wherever they are. */
void fibers_end(void);
/* So often has a thread said that it may be asked to give way. */
extern uint64_t fibers_points;
/* The thread sleeps no more: its process ends. */
void fiber_interrupt(struct thread *t);

/* The test's, interrupts off, on some CPU: something that was to happen happens (a disk answers).
 * False: there is nothing. */
bool fibers_event(void);
