/*
 * The READY threads of one CPU: which one runs next, and when the running one must give way.
 *
 * Priorities are strict, but for one thing: a priority that has had no full turn for starve_ns while others ran gets one
 * slice, which no other thread cuts short.  So with n threads at a priority, each waits at most n times (starve_ns and the slices
 * of the running thread and of other starved priorities), whatever others do.
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "kernel/base.h"
#include "kernel/list.h"

enum { PRIO_IDLE = 0, PRIO_LOW, PRIO_NORMAL, PRIO_HIGH, PRIO_KERNEL, PRIO_COUNT };

/* A thread's part in it. */
struct ready_thread {
    struct list link; /* in a queue while the thread waits */
    uint8_t prio;
};

struct ready_level {
    struct list queue; /* next one first */
    /* If the queue is not empty: since when no thread of this priority has ended a turn, by using its slice up or by
     * sleeping. Being preempted ends none. */
    uint64_t passed_over_ns;
};

struct ready_queue {
    struct ready_level level[PRIO_COUNT];
    uint32_t occupied; /* bit p: level p has threads */
    unsigned turn;     /* priority of the running thread, whose turn has not ended; PRIO_IDLE: none */
    bool granted;      /* the running thread was starved: it keeps its slice */
};

/* How a thread comes to wait. */
enum ready_how {
    READY_WOKEN,     /* new, woken, or from another CPU          */
    READY_PREEMPTED, /* with a rest of its slice: goes on first  */
    READY_OVER,      /* its slice is over, or it has given it up */
};

void ready_init(struct ready_queue *q);

/* Lets a thread that is in no queue wait. since_ns: since when it has wanted to run, at most now. */
void ready_add(struct ready_queue *q, struct ready_thread *t, enum ready_how how, uint64_t since_ns);
void ready_remove(struct ready_queue *q, struct ready_thread *t);

/* Takes the thread that runs next out, or returns NULL when none waits. The one taken before has been added again, or sleeps. */
struct ready_thread *ready_take(struct ready_queue *q, uint64_t now_ns, uint64_t starve_ns);

/* Whether the running thread, taken last, gives way at once to t, which waits now. */
bool ready_preempts(const struct ready_queue *q, const struct ready_thread *running,
                    const struct ready_thread *t);
/* Whether it gives way at the end of its slice, which is now; if not it has another. */
bool ready_slice_over(struct ready_queue *q, const struct ready_thread *running, uint64_t now_ns,
                      uint64_t starve_ns);

/* The next one of a priority, or NULL. */
struct ready_thread *ready_first(const struct ready_queue *q, unsigned prio);
/* All of them, highest priority first, in each the one first that would run last; NULL when there is no other. */
struct ready_thread *ready_last(const struct ready_queue *q);
struct ready_thread *ready_before(const struct ready_queue *q, const struct ready_thread *t);

/* Panics on a broken invariant. Returns the number of threads. */
unsigned ready_check(const struct ready_queue *q);
