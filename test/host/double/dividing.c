/* See dividing.h. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/dividing.h"

int dividing_set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->config = (struct divide_config){.goal = DIVIDE_THROUGHPUT, .step = STEP, .move_max = 1000};
    *state = f;
    return 0;
}

int dividing_tear_down(void **state)
{
    free(*state);
    return 0;
}

static void add(struct fixture *f, unsigned i)
{
    f->pool[i] = (struct divide_pool){.misses = f->misses[i],
                                      .points = POINTS,
                                      .spacing = SPACING,
                                      .work = 1000000,
                                      .seen = DIVIDE_SEEN_UNKNOWN,
                                      .weight = 1};
    f->pools = MAX(f->pools, i + 1);
}

void make_slope(struct fixture *f, unsigned i, uint64_t rate)
{
    add(f, i);
    for (unsigned p = 0; p < POINTS; p++)
        f->misses[i][p] = rate * (POINTS - 1 - p) / (POINTS - 1);
}

void make_loop(struct fixture *f, unsigned i, uint32_t pages, uint64_t rate)
{
    add(f, i);
    for (unsigned p = 0; p < POINTS; p++)
        f->misses[i][p] = p * SPACING < pages ? rate : 0;
}

void make_any(struct fixture *f, unsigned i, uint64_t *seed)
{
    uint64_t left = test_random(seed) % 5000;

    add(f, i);
    for (unsigned p = 0; p < POINTS; p++) {
        f->misses[i][p] = left;
        if (test_random(seed) % 3)
            left -= test_random(seed) % (left / 2 + 1);
    }
    f->pool[i].weight = 1 + (uint32_t)(test_random(seed) % 3);
    f->pool[i].work = 1000 + test_random(seed) % 100000;
    f->pool[i].minimum = (uint32_t)(test_random(seed) % 20);
}

void make_unknown(struct fixture *f, unsigned i, uint32_t held)
{
    make_slope(f, i, 5000);
    f->pool[i].points = 0;
    f->pool[i].held = held;
}
