/*
 * What a pool's prefetch policy (mm/policy/prefetch/prefetch.h) hears of faults, first uses and
 * waste, and what it then wants read.
 *
 * The policy is asked under [P], where things happen; what it wants is done without a lock, after
 * what a thread waits for has been begun. With no prefetch policy, and for what a program itself
 * wanted early (SYS_MADVISE), only the counting is done.
 */
#pragma once
#include "mm/pool.h"

/* Makes what p's prefetch policy knows, for so many nodes. 0 or -ENOMEM. */
int prefetching_init(struct pool *p, uint32_t nodes);
/* So many frames its pool should have: it keeps to a part of them. [P] held. */
void prefetching_resize(struct pool *p, uint32_t frames);

/* The page was used: the orders of pages alone. [P] held, as for all that follow. */
void prefetching_used(struct pool *p, uint32_t n);
/* It was wanted and was not mapped: the orders alone. */
void prefetching_missed(struct pool *p, uint32_t n);
/* A thread waits for n to be read: list gets what else to read. [S] of its space held, too. */
void prefetching_fault(struct pool *p, uint32_t n, struct prefetch_list *list);
/* A thread wants n, for the first time if it is flagged NODE_UNUSED; late: it is still being read.
 * [S] of its space held, too. */
void prefetching_wanted(struct pool *p, uint32_t n, bool late, struct prefetch_list *list);
/* n leaves memory. */
void prefetching_left(struct pool *p, uint32_t n);
/* If n is flagged NODE_UNUSED, it leaves, ends or could not be read unused. */
void prefetching_wasted(struct pool *p, uint32_t n);
/* n is being read for the policy. */
void prefetching_fetched(struct pool *p, uint32_t n);
/* The page is no more. */
void prefetching_forget(struct pool *p, uint32_t n);
/* Panics on a broken invariant. */
void prefetching_check(const struct pool *p);

/* Begins to read what the list, made for a page of s, wants. Thread context, no lock held. */
void prefetching_fetch(struct space *s, struct prefetch_list *list);

/* The program reads sequentially: list gets the pages from va on, up to end. [P] held. */
void prefetching_advised(const struct pool *p, vaddr_t va, vaddr_t end, struct prefetch_list *list);
/* Begins to read what such a list wants; thread context, no lock held. */
void prefetching_fetch_advised(struct space *s, struct prefetch_list *list);
