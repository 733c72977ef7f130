/*
 * Numbers of threads; a process has the number of its first thread. They are allocated in ascending
 * order from 1 to NUMBER_MAX, then from 1 again; never 0, never one in use. A number is in use from
 * number_take(), which may come before the process or thread exists, to number_give().
 */
#pragma once
#include "kernel/core/lock.h"

#define NUMBER_MAX     0x3fffffff /* fits into an int and the number of a futex's owner */
#define NUMBER_BUCKETS 512

/* A member of each process and thread. */
struct number {
    struct number *next; /* in its bucket; guarded by the kind's lock */
    uint32_t value;      /* 0: none; guarded by the kind's lock */
};

/* All numbers of one kind. */
struct numbers {
    struct spinlock lock;
    uint32_t max; /* larger than the number that can be in use at a time */
    /* the last one allocated, 0: none so far; guarded by lock */
    uint32_t last;
    struct number *bucket[NUMBER_BUCKETS]; /* numbers in use; guarded by lock */
};
#define NUMBERS(name, max_)                                \
    {                                                      \
        .lock = SPINLOCK(LOCK_THREAD, name), .max = (max_) \
    }

/* Boot argument numbers.first: the first number of each kind. */
extern uint64_t numbers_first;

/* Gives `n` a number, unless it has one, and returns the number. This and the following: any
 * context with locks of ranks below LOCK_THREAD only. */
uint32_t number_take(struct numbers *kind, struct number *n);
/* Moves the number of `from` to `to`, which has none. Returns false if `from` has none. */
bool number_move(struct numbers *kind, struct number *to, struct number *from);
/* Frees the number of `n`, if it has one. */
void number_give(struct numbers *kind, struct number *n);
/* Returns the number of `n`, or 0. */
uint32_t number_of(struct numbers *kind, const struct number *n);
