/*
 * Locks on ranges of a file's bytes, as fcntl(2) has them: an owner has at most one lock on a byte,
 * shared or exclusive; a lock that it takes replaces its own there, and neighbours of one kind
 * become one. The caller provides nodes and serializes. Pure: the host compares it with an array of
 * bytes.
 */
#pragma once
#include "kernel/lib/base.h"

#define RANGE_END   INT64_MAX /* the last byte that a file can have */
#define RANGE_NODES 2         /* that a change may need beside those in use */

struct range_lock {
    struct range_lock *next; /* ascending by owner, then by `first`; of one owner none overlap */
    const void *owner;
    uint64_t first, last; /* bytes, both included */
    uint32_t pid;         /* of the owner, as F_GETLK tells */
    bool exclusive;
};

/* Returns the lock of another owner that is lowest in the file of those in the way of `want`, or
 * NULL. */
const struct range_lock *ranges_conflict(const struct range_lock *list,
                                         const struct range_lock *want);
/* Gives want->owner the lock `want` in place of all that it has there; `locks` false: none. Takes
 * nodes from *spare, which has RANGE_NODES, and puts those in it that are left over. */
void ranges_set(struct range_lock **list, const struct range_lock *want, bool locks,
                struct range_lock **spare);
/* Takes all locks of the owner out, to *spare. Returns whether there were any. */
bool ranges_drop(struct range_lock **list, const void *owner, struct range_lock **spare);
