/*
 * What the tests of pools share: a world of frames, slots and time in which a pool lives, and where
 * readings and writings end in any order, or fail. Who sleeps is woken by one that ends.
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

extern const struct replace_ops *policy; /* of pools that are made */
extern const struct prefetch_ops *prefetching;
extern void (*amid_sleep)(
    /* what another CPU does while this thread sleeps, when something has ended */
    void);
extern bool areas_cost;          /* tables take frames */
extern const struct pool *stuck; /* none of its pages can leave */
extern vaddr_t hidden_page;      /* of `space`: used, though no log says so; 0: none */

extern struct page pages[FRAMES_MAX + 1]; /* by frame numbers, from 1 */
extern bool in_use[FRAMES_MAX + 1];
/* that there are: FRAMES, or as a test has set before it makes a world */
extern unsigned frames_max;
extern unsigned frames_used;
extern struct slots *slots;
extern unsigned bad_slots; /* that will not be given back */

extern struct pool *pool; /* that all below is about */
extern struct space space;
extern uint64_t seed; /* of what happens; not 0 */

extern struct pool *other; /* of two */
void swap_pools(void);

/* A random number, 0..n - 1. */
uint32_t below(uint32_t n);
/* cmocka's, of every test: arguments are their defaults but for LIMIT frames a process, LRU, no
 * prefetching; nothing happens amid anything. */
int pooling_set_up(void **state);
#define TEST(f) cmocka_unit_test_setup(f, pooling_set_up)
/* A new world with `pool` in it; end: all its pages go, and nothing is left of it. */
void make(void);
void end(void);
/* All pages of `pool` go, and it does; whatever is under way ends while it waits for it. */
void leave(void);
/* A frame nobody has; `pool` has been charged for it. */
uint32_t get_frame(void);
/* Some node in one of these states (a bit each), or NODE_NONE. */
uint32_t some_node(unsigned states);
/* The node's page, if it has one, is gone for ever; not one that is BEHIND. */
void forget(uint32_t n);
/* A reading or writing ends, well or not. False: none is under way. */
bool end_some_transfer(void);
