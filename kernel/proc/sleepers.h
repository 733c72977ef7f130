/*
 * The threads that sleep, by the name of the word that they sleep on: any number of names, and of
 * sleepers for each. Finding a name takes at most as many steps as a name has bits, however the
 * names were chosen. Pure; the callers' lock guards it.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/lib/list.h"

/* Names a word of an address space. Different words have different names, and hashes are spread
 * evenly. */
struct word_name {
    uint64_t hash, space;
};

/* Uses Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4): within a space, hash and address determine
 * each other. */
static inline struct word_name word_name(const void *space, vaddr_t va)
{
    return (struct word_name){((vaddr_t)space ^ va >> 2) * 0x9e3779b97f4a7c15, (vaddr_t)space};
}

/* Sleepers are spread over buckets with a lock each. */
#define FUTEX_BUCKETS_LOG2 8
#define FUTEX_BUCKETS      (1 << FUTEX_BUCKETS_LOG2)

static inline unsigned futex_bucket(struct word_name name)
{
    return name.hash >> (64 - FUTEX_BUCKETS_LOG2);
}

struct sleeper {
    struct word_name name;    /* set before it is added */
    struct list same;         /* a circle of sleepers of the same name, in order of arrival */
    struct sleeper *child[2]; /* of the oldest of that circle only */
    bool asleep;              /* it is in the tree */
};

struct sleepers {
    struct sleeper *root; /* NULL: no sleeper */
};

void sleepers_add(struct sleepers *s, struct sleeper *new);
void sleepers_remove(struct sleepers *s, struct sleeper *old); /* `old` is asleep */
/* Returns the sleeper that has slept longest on the word, or NULL. */
struct sleeper *sleepers_first(const struct sleepers *s, struct word_name name);
/* Panics on a broken invariant. Returns the largest number of steps to a name. */
unsigned sleepers_check_for_test(const struct sleepers *s);
