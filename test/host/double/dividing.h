/* Common to the tests of divide: pools with curves of some shapes. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "mm/policy/divide/plan.h"
#include "test/host/double/random.h"

enum { POINTS = 13, SPACING = 8, STEP = 8 };

struct fixture {
    struct divide_room room;
    struct divide_config config; /* throughput, at most 1000 pages an epoch */
    struct divide_pool pool[DIVIDE_POOLS_MAX];
    uint64_t misses[DIVIDE_POOLS_MAX][POINTS];
    unsigned pools;
};

/* cmocka's: *state is a struct fixture without pools. */
int dividing_set_up(void **state);
int dividing_tear_down(void **state);
/* Pool i, made anew. Slope: each page saves the same, of as many misses as rate; loop: none does,
 * until all of it is in memory. */
void make_slope(struct fixture *f, unsigned i, uint64_t rate);
void make_loop(struct fixture *f, unsigned i, uint32_t pages, uint64_t rate);
/* Some curve, weight and minimum. */
void make_any(struct fixture *f, unsigned i, uint64_t *seed);
/* Makes a pool without a curve, with any misses; it holds `held` pages. */
void make_unknown(struct fixture *f, unsigned i, uint32_t held);

#define TEST(f) cmocka_unit_test_setup_teardown(f, dividing_set_up, dividing_tear_down)
