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
    uint64_t began_ns;                 /* of the quantum that runs */
    uint64_t told[QUANTUM_COUNTS_MAX]; /* counts up to the latest quantum that was told */
    uint64_t told_quanta, late;        /* number of all that were told; tellings that failed */
};

/* These are called at each switch, with their loops unrolled. */
#define quantum_each_count(i) \
    _Pragma("GCC unroll 7") for (unsigned i = 0; i < QUANTUM_COUNTS_MAX; i++)

/* Notes who makes the thread ready, and how; not 0. */
static inline void quantum_woken(struct quantum *q, uint32_t waker, uint8_t how)
{
    q->next_waker = waker;
    q->next_woken = how;
}
/* The thread, ready since `ready_ns`, gets a CPU. CPUs' clocks may differ a little: times that
 * would be negative are 0. */
static inline void quantum_begin(struct quantum *q, uint64_t ready_ns, uint64_t now_ns)
{
    if (!q->quanta) {
        q->start_ns = now_ns;
        q->waker = q->next_waker;
        q->woken = q->next_woken;
    }
    q->next_waker = q->next_woken = 0;
    q->waited_ns += now_ns > ready_ns ? now_ns - ready_ns : 0;
    q->began_ns = now_ns;
}
/* The thread leaves the CPU; count: its totals, QUANTUM_COUNTS_MAX of them. Returns whether its
 * quanta are to be told now. last: there will be no more. */
static inline bool quantum_end(struct quantum *q, const struct quantum_rule *rule, uint64_t now_ns,
                               const uint64_t *count, bool last)
{
    q->end_ns = MAX(now_ns, q->began_ns);
    q->ran_ns += q->end_ns - q->began_ns;
    q->quanta++;
    if (last)
        return true;
    return rule->cycles ? count[0] - q->told[0] >= rule->cycles : q->quanta >= rule->every;
}
/* They have been told, with `count` as in quantum_end. */
static inline void quantum_told(struct quantum *q, const uint64_t *count)
{
    quantum_each_count (i)
        q->told[i] = count[i];
    q->told_quanta += q->quanta;
    q->ran_ns = q->waited_ns = 0;
    q->quanta = 0;
}
/* They could not be told: they are told with the next. */
static inline void quantum_late(struct quantum *q)
{
    q->late++;
}
