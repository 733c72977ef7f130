/*
 * Who sleeps on which word: sleepers by name, any number of names, any number of sleepers of a
 * name. Finding a name takes as many steps as it has bits at the very most, however the names were
 * chosen. Pure, and its callers' lock guards it.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/lib/list.h"

/* A word of an address space. Different words have different names; hash is evenly spread. */
struct word_name {
    uint64_t hash, space;
};

/* Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4): with the space given, hash and address determine
 * each other. */
static inline struct word_name word_name(const void *space, vaddr_t va)
{
    return (struct word_name){((vaddr_t)space ^ va >> 2) * 0x9e3779b97f4a7c15, (vaddr_t)space};
}

/* Sleepers are spread over buckets, each with its lock. */
#define FUTEX_BUCKETS_LOG2 8
#define FUTEX_BUCKETS      (1 << FUTEX_BUCKETS_LOG2)

static inline unsigned futex_bucket(struct word_name name)
{
    return name.hash >> (64 - FUTEX_BUCKETS_LOG2);
}

struct sleeper {
    struct word_name name;    /* set before it is added */
    struct list same;         /* sleepers of the same name, in a circle in order of arrival */
    struct sleeper *child[2]; /* of the oldest of them only */
    bool asleep;              /* it is among the sleepers */
};

struct sleepers {
    struct sleeper *root; /* NULL: nobody sleeps */
};

void sleepers_add(struct sleepers *s, struct sleeper *new);
void sleepers_remove(struct sleepers *s, struct sleeper *old); /* one that is asleep */
/* The one that has slept longest on the word, or NULL. */
struct sleeper *sleepers_first(const struct sleepers *s, struct word_name name);
/* Panics on a broken invariant; the number of steps to the name that takes most. */
unsigned sleepers_check(const struct sleepers *s);
