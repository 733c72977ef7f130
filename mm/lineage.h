/*
 * A lineage: the spaces that descend from one by fork. They share a pool and, until one of them
 * writes, private pages, each at one address in all of them: so the lineage is how a page's tables
 * are found. A space that has forked no other, and was not forked, is alone in its own.
 *
 * Lock [L], below [P], guards the list. A space in it can be pinned; one that has begun to leave is
 * no longer.
 */
#pragma once
#include "kernel/core/lock.h"
#include "kernel/lib/list.h"
#include "mm/policy/replace/replace.h"

struct lineage {
    struct spinlock lock;
    struct list spaces; /* [L] space->relative */
    uint32_t count;     /* [L] */
    bool forked;        /* [A] there has been more than one */
    uint64_t number;    /* [-] as of lineage_number() */
};

struct space;
/* Returns a number unlike any before, for memory that processes share: a lineage's, an object's.
 * Any context. */
uint64_t lineage_number(void);
/* Makes a lineage of s alone. Returns 0 or -ENOMEM. */
int lineage_begin(struct space *s);
/* Adds s to the lineage of another space, which it has no page of yet. */
void lineage_join(struct space *s, struct space *other);
/* Takes s, which has no page any more, out of its lineage, and waits for threads that pin it. The
 * last one frees the lineage. Thread context, no lock held. */
void lineage_leave(struct space *s);
/* Returns the space behind `at`, or the first one if that is NULL, pinned, or NULL at the end. May
 * be called with [P] held. */
struct space *lineage_next(struct lineage *l, const struct space *at);
/* Unpins a space. No lock held. */
void lineage_unpin(struct space *s);
/* Returns what the tracker knows of the page at va in any of the spaces. [P] may be held. */
enum page_buffered lineage_buffered(struct lineage *l, vaddr_t va);
/* Tells whether a space of the lineage has ever forked: else no page is shared. Under [S] that
 * holds for the pages of the space. */
static inline bool lineage_forked(const struct lineage *l)
{
    return __atomic_load_n(&l->forked, __ATOMIC_RELAXED);
}
