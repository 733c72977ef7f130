/*
 * A world for the tests of pools: frames, slots and time in which a pool lives, where reads and
 * writes end in any order, or fail. A thread that sleeps is woken by the end of one.
 */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/space.h"
#include "test/host/double/random.h"

enum { FRAMES = 700, FRAMES_MAX = 2000, LIMIT = 400, SLOTS = 60 * SLOT_CLUSTER };

extern const struct replace_ops *policy; /* of pools made from then on */
extern const struct prefetch_ops *prefetching;
extern void (*amid_sleep)(
    /* what another CPU does while this thread sleeps, after a transfer has ended */
    void);
extern bool areas_cost;          /* tables take frames */
extern const struct pool *stuck; /* a pool without a page that can be evicted, or NULL */
/* a page of `space` that is used, though no log says so; 0: none */
extern vaddr_t hidden_page;

extern struct page pages[FRAMES_MAX + 1]; /* by frame number, from 1 */
extern bool in_use[FRAMES_MAX + 1];
/* frames there are: FRAMES, or what a test has set before make() */
extern unsigned frames_max;
extern unsigned frames_used;
extern struct slots *slots;
extern unsigned bad_slots; /* slots lost, not given back */

extern struct pool *pool; /* the pool under test */
extern struct space space;
extern uint64_t seed; /* of random events; not 0 */

extern struct pool *other; /* a second pool, or NULL */
void swap_pools(void);

/* Returns a random number, 0..n - 1. */
uint32_t below(uint32_t n);
/* cmocka's set-up for each test: default arguments, except LIMIT frames for a process, LRU and no
 * prefetching. */
int pooling_set_up(void **state);
#define TEST(f) cmocka_unit_test_setup(f, pooling_set_up)
/* make: makes a world with `pool` in it. end: ends all its pages, and checks that nothing is
 * left. */
void make(void);
void end(void);
/* Ends all pages of `pool`, and the pool; transfers under way end while it waits for them. */
void leave(void);
/* Takes a free frame; `pool` has been charged for it. */
uint32_t get_frame(void);
/* Returns a node in one of the states (a bit each), or NODE_NONE. */
uint32_t some_node(unsigned states);
/* Forgets the node's page, if it has one; not one that is RESCUED. */
void forget(uint32_t n);
/* Ends a read or write, successfully or not. Returns false if none is under way. */
bool end_some_transfer(void);
