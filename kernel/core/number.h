/*
 * Numbers of processes and of threads: given out in turn, from 1 to NUMBER_MAX and then from 1
 * again; never 0, never one in use. In use is what has been taken, for a thing that exists or for
 * one still to be made, and not been given back.
 */
#pragma once
#include "kernel/core/lock.h"

#define NUMBER_MAX     0x7fffffff /* fits into an int: calls return numbers or errors */
#define NUMBER_BUCKETS 512

/* A process or thread has one as a member. */
struct number {
    struct number *next; /* the kind's lock: of its bucket */
    uint32_t value;      /* the kind's lock: 0: none */
};

/* One kind of number. */
struct numbers {
    struct spinlock lock;
    uint32_t max;                          /* more than can be in use at a time */
    uint32_t last;                         /* lock: 0: none so far */
    struct number *bucket[NUMBER_BUCKETS]; /* lock: those in use */
};
#define NUMBERS(name, max_)                                \
    {                                                      \
        .lock = SPINLOCK(LOCK_THREAD, name), .max = (max_) \
    }

/* Boot argument numbers.first: the first one of each kind. */
extern uint64_t numbers_first;

/* Gives n a number, unless it has one, and returns it. Any context whose locks rank below
 * LOCK_THREAD, as the others. */
uint32_t number_take(struct numbers *kind, struct number *n);
/* to, which has none, gets the number that from has; false: from has none. */
bool number_move(struct numbers *kind, struct number *to, struct number *from);
/* n has none any more. */
void number_give(struct numbers *kind, struct number *n);
/* The one n has, or 0. */
uint32_t number_of(struct numbers *kind, const struct number *n);
