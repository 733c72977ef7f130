/*
 * What a program has asked for a thread by Linux's calls, and what it gets. Vigil has three
 * priorities for programs, each strict but for the time after which a thread that has waited gets
 * its slice (sched/policy/ready.h):
 * - high: SCHED_FIFO and SCHED_RR, whatever their own priority, and nice values to NICE_HIGH
 * - low: SCHED_IDLE, and nice values from NICE_LOW on, which nice(1) sets without a number
 * - normal: all others
 * Pure.
 */
#pragma once
#include "sched/sched.h"
#include <linux/sched.h>

#define NICE_MIN  (-20)
#define NICE_MAX  19
#define NICE_HIGH (-11)
#define NICE_LOW  10

static inline bool asked_realtime(unsigned policy)
{
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* Returns the priority of a thread for which this was asked. */
static inline uint8_t asked_priority(const struct thread_asked *asked)
{
    if (asked_realtime(asked->policy))
        return PRIO_HIGH;
    if (asked->policy == SCHED_IDLE || asked->nice >= NICE_LOW)
        return PRIO_LOW;
    return asked->nice <= NICE_HIGH ? PRIO_HIGH : PRIO_NORMAL;
}

/* Returns what holds for a thread that one with `asked` creates. */
static inline struct thread_asked asked_by_child(struct thread_asked asked)
{
    if (!asked.resets)
        return asked;
    return (struct thread_asked){
        .policy = asked_realtime(asked.policy) ? SCHED_NORMAL : asked.policy,
        .nice = (int8_t)MAX((int)asked.nice, 0),
        .io = asked.io,
    };
}
