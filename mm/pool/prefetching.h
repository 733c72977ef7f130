/*
 * Prefetching: tells a pool's prefetch policy (mm/policy/prefetch/prefetch.h) of faults, first uses
 * and waste, and reads what the policy then wants.
 *
 * The policy is called under [P], where things happen. What it wants is read without a lock, after
 * the read that a thread waits for has begun. Without a prefetch policy, and for pages that a
 * program itself asked for (madvise(2)), pages are only counted.
 *
 * The state is struct prefetching (mm/pool.h), guarded by [P] but for its fixed ops.
 */
#pragma once
#include "mm/pool.h"

/* ---- Tables ---------------------------------------------------------------------------------- */
/* The tables of struct prefetching that grow with the number of nodes. */
struct prefetching_tables {
    struct prefetch *policy;
    struct lrustack *order[PREFETCH_ORDERS];
};

/* Makes the tables of a new pool for `nodes` nodes. Returns 0 or -ENOMEM; prefetching_end frees
 * them in either case. */
int prefetching_init(struct pool *p, uint32_t nodes);
/* Frees p's tables. */
void prefetching_end(struct pool *p);
/* Returns the bytes, in whole pages, that p's tables take for `nodes` nodes. Any context. */
uint64_t prefetching_tables_bytes(const struct pool *p, uint32_t nodes);
/* Tells whether p's tables can be made for `nodes` nodes. Any context. */
bool prefetching_can_hold(const struct pool *p, uint32_t nodes);
/* Extends p's tables (area_extend) for `nodes` nodes into *t. Returns 0 or -ENOMEM, with nothing to
 * free. Thread context. */
int prefetching_extend(const struct pool *p, uint32_t nodes, struct prefetching_tables *t);
/* Exchanges p's tables and the larger ones in *t, for `nodes` nodes. [P] held. */
void prefetching_replace_tables(struct pool *p, struct prefetching_tables *t, uint32_t nodes);
void prefetching_free_tables(struct prefetching_tables *t);

/* ---- What the policy is told. [P] held. ------------------------------------------------------ */
/* The pool is to have `frames` frames (0: its limit), a part of which may be prefetched and
 * unused. */
void prefetching_resize(struct pool *p, uint32_t frames);
/* Node n was used. Only the order by use changes. */
void prefetching_used(struct pool *p, uint32_t n);
/* Node n was wanted and was not mapped. Only the orders change. */
void prefetching_missed(struct pool *p, uint32_t n);
/* A thread in s waits for n to be read. Fills `list` with what else to read. [S] held, too. */
void prefetching_fault(struct pool *p, struct space *s, uint32_t n, struct prefetch_list *list);
/* A thread in s wants n. If n is flagged NODE_UNUSED, this is its first use: fills `list` with what
 * else to read. `late`: n is still being read. [S] held, too. */
void prefetching_wanted(struct pool *p, struct space *s, uint32_t n, bool late,
                        struct prefetch_list *list);
/* Node n leaves memory. */
void prefetching_left(struct pool *p, uint32_t n);
/* Node n leaves memory, ends, or could not be read. If it is flagged NODE_UNUSED, it was wasted. */
void prefetching_wasted(struct pool *p, uint32_t n);
/* Node n is being read because the policy wanted it. */
void prefetching_fetched(struct pool *p, uint32_t n);
/* Node n ends. */
void prefetching_forget(struct pool *p, uint32_t n);
/* Panics on a broken invariant. */
void prefetching_check(const struct pool *p);

/* ---- What is read. Thread context. ----------------------------------------------------------- */
/* Starts reading what `list`, made for a page of s, wants, and empties it. No lock held. */
void prefetching_fetch(struct space *s, struct prefetch_list *list);
/* Fills `list` with the pages of [va, end) that may be read now: the program has advised that it
 * reads sequentially. The policy does not hear of them. [P] held. */
void prefetching_advised(const struct pool *p, vaddr_t va, vaddr_t end, struct prefetch_list *list);
/* Starts reading such a list, and empties it. No lock held. */
void prefetching_fetch_advised(struct space *s, struct prefetch_list *list);
