/*
 * The stretches of a thread on CPUs, its *quanta*, as the tracer tells them: when each began, how
 * long it ran and had waited for a CPU, who had woken the thread, and what was counted ([H] 3.5).
 * Several may be told as one. What could not be told is added to the next, so nothing is lost
 * before the thread's last. Pure: no clock, lock, or register.
 */
#pragma once
#include "kernel/lib/base.h"

#define QUANTUM_COUNTS_MAX 7

/* When quanta are told: each `every`-th of a thread, 1: all; or, if `cycles` is not 0, when that
 * many cycles, the first count, have been counted since the latest that were told. */
struct quantum_rule {
    uint64_t every, cycles;
};

/* Of one thread; zeroed at first. Times are nanoseconds. */
struct quantum {
    /* Of the quanta that have not been told: the first one's begin, the last one's end, the time on
     * CPUs, and ready for one; who woke the thread before the first, and how. */
    uint64_t start_ns, end_ns, ran_ns, waited_ns;
    uint32_t quanta, waker;
    uint8_t woken;
    uint16_t cpu;       /* of the last one; for the caller's use */
    bool closed;        /* nothing is told any more */
    uint8_t next_woken; /* how the thread became ready for the quantum that comes; 0: it stayed */
    uint32_t next_waker;
    uint64_t began_ns;                    /* of the quantum that runs */
    uint64_t told[QUANTUM_COUNTS_MAX];    /* counts up to the latest quantum that was told */
    uint64_t told_ran_ns, told_waited_ns; /* of all that were told */
    uint64_t told_quanta, late;           /* ... their number; tellings that failed */
};

/* Notes who makes the thread ready, and how; not 0. */
static inline void quantum_woken(struct quantum *q, uint32_t waker, uint8_t how)
{
    q->next_waker = waker;
    q->next_woken = how;
}
/* The thread, ready since `ready_ns`, gets a CPU. CPUs' clocks may differ a little: times that
 * would be negative are 0. */
void quantum_begin(struct quantum *q, uint64_t ready_ns, uint64_t now_ns);
/* The thread leaves the CPU; count: its totals, QUANTUM_COUNTS_MAX of them. Returns whether its
 * quanta are to be told now. last: there will be no more. */
bool quantum_end(struct quantum *q, const struct quantum_rule *rule, uint64_t now_ns,
                 const uint64_t *count, bool last);
/* They have been told, with `count` as in quantum_end. */
void quantum_told(struct quantum *q, const uint64_t *count);
/* They could not be told: they are told with the next. */
void quantum_late(struct quantum *q);
