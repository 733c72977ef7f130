/*
 * Memory for pools: how many pages each is to have, from their miss-rate curves ([Azimi 2007,
 * 4.4]).
 *
 * Goals, by name:
 *   throughput  the highest harmonic mean of speedups ([Luo 2001]), each pool's against itself
 *               alone with all the memory, by weight: the least sum of slowdowns. A pool that is
 *               starved makes it bad, which the sum of speedups does not. Where the cost of a miss
 *               is unknown, the fewest misses ([A])
 *   fairness    pools of one weight miss at the same rate ([A], Fig. 4.6), those of twice the
 *               weight at half of it: the lowest such rate, within two percent. Where a curve has a
 *               cliff, as a loop's, and another pool misses on its way down, the first stays on top
 *               of it, and memory is spare. Pools that could not miss as often with the fewest
 *               pages have all they need
 *   maxmin      the lowest rate that all can have; memory that cliffs leave over goes where it
 *               saves most
 *   service     pools with a range of rates asked for have the pages that keep them inside it, the
 *               heaviest first; the rest as for throughput, and memory that would save nothing is
 *               spare
 *
 * [A] moves g pages at a time from the lowest penalty to the highest benefit, which stops before a
 * cliff: of a loop that is larger than its pool, the first pages save nothing. Here the best
 * division of memory in steps is found whole, by dynamic programming over the pools. It becomes the
 * plan if it is better than the old one by more than the hysteresis, and pools go towards the plan
 * by a bounded number of pages an epoch.
 *
 * A curve holds for the work that was done meanwhile. Where that is time, and fault_time is known,
 * the same work takes work + fault_time * misses with other memory: a program that misses seldom is
 * faster, and would miss more often in the same time. Rates are misses per million of that time, or
 * of work. A curve that predicts other misses than were seen is scaled to them. What is known of a
 * program over more than an epoch is remembered by demand.h. Pure: memory comes from the caller,
 * nothing is locked; one caller at a time for each struct.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    DIVIDE_POOLS_MAX = 64,
    DIVIDE_STEPS_MAX = 128,
    DIVIDE_WEIGHT_MAX = 64,
    DIVIDE_POINTS = DIVIDE_STEPS_MAX + 1, /* of a curve from no memory to all of it */
    DIVIDE_SEEN_UNKNOWN = -1,
};
#define DIVIDE_WORK_MAX   ((uint64_t)1 << 40)
#define DIVIDE_MEMORY_MAX ((uint32_t)1 << 31) /* pages */
#define DIVIDE_MISSES_MAX ((uint64_t)1 << 40) /* of a curve; of rates asked for, too */
/* A thousand million times as long as alone; of all pools, weighted, the sum fits 64 bits. */
#define DIVIDE_SLOWED_MAX ((uint64_t)1 << 50)

enum divide_goal {
    DIVIDE_EVEN,
    DIVIDE_THROUGHPUT,
    DIVIDE_FAIRNESS,
    DIVIDE_MAXMIN,
    DIVIDE_SERVICE,
    DIVIDE_GOALS
};
extern const char *const divide_goal_names[]; /* by enum divide_goal, NULL-terminated */

struct divide_config {
    enum divide_goal goal;
    /* pages, at least 1; enlarged where memory is more than DIVIDE_STEPS_MAX steps */
    uint32_t step;
    uint32_t move_max;          /* pages that change their pool in an epoch, at least 1 */
    uint32_t hysteresis_permil; /* 0..1000: gain needed to change, of the old plan's cost */
    /* with fault_time: time in which the gain of a new plan must pay for reading again the pages
     * that pools gave; 0: reading is free */
    uint64_t lasts;
};

struct divide_pool {
    /* Known of the pool. misses: lambda at 0, spacing, 2 * spacing, ... pages,
     * 0..DIVIDE_MISSES_MAX, not rising; without fault_time, of equally long times for all pools. */
    const uint64_t *misses;
    /* 0: no curve yet; the pool keeps the pages it holds, or gets twice as many, up to an equal
     * part */
    uint32_t points;
    uint32_t spacing; /* pages, at least 1 */
    uint64_t work;    /* done meanwhile, besides waiting for pages: 1..DIVIDE_WORK_MAX */
    /* cost of a miss in the unit of work, of all pools or none; 0..DIVIDE_WORK_MAX */
    uint64_t fault_time;
    int64_t seen; /* misses meanwhile with its present pages, or DIVIDE_SEEN_UNKNOWN */
    /* Asked for. */
    uint32_t minimum; /* pages, always granted */
    uint32_t weight;  /* 1..DIVIDE_WEIGHT_MAX */
    /* range of rates for the service goal, up to DIVIDE_MISSES_MAX, low <= high; high 0: none */
    uint64_t low, high;
    /* Pages that the pool has, and is to have; 0 for a new pool. */
    uint32_t pages, planned;
    /* fairness: has no more than planned, though no other pool can use the rest */
    bool bound;
    uint32_t held; /* pages that are its own, which a pool without a curve is to keep */
};

/* The decision of an epoch. */
struct divide_report {
    bool replanned;
    uint32_t moved; /* pages */
    /* by the goal, of the old plan and of the best one; lower is better */
    uint64_t cost, cost_best;
};

/* Room to work in, and the results. */
struct divide_room {
    /* Steps of pool i where pools 0..i have that number of steps together. */
    uint8_t taken[DIVIDE_POOLS_MAX][DIVIDE_STEPS_MAX + 1];
    uint64_t least[2][DIVIDE_STEPS_MAX + 1];
    uint32_t low[DIVIDE_POOLS_MAX],
        high[DIVIDE_POOLS_MAX];             /* pages between which a pool is to be */
    bool bound[DIVIDE_POOLS_MAX];           /* by how often others miss */
    uint32_t best[DIVIDE_POOLS_MAX], spare; /* the result of divide_solve() */
    uint32_t planned_spare;                 /* of the plan; 0 at first */
};

/*
 * Finds the best division of memory by the goal, whatever pools have now, into s->best. Its sum and
 * s->spare are memory. Returns 0, -EINVAL for a number out of range, or -ENOMEM if memory is less
 * than the minima.
 */
int divide_solve(struct divide_room *s, const struct divide_config *config,
                 const struct divide_pool *pool, unsigned pools, uint32_t memory);
/*
 * Ends an epoch: plans anew where that is worth it, and sets each pool's planned, bound and pages,
 * the sum of which is not above memory. Pools lose more than move_max pages only where memory has
 * changed or one is below its minimum. Errors as above; then nothing is changed.
 */
int divide_plan(struct divide_room *s, const struct divide_config *config, struct divide_pool *pool,
                unsigned pools, uint32_t memory, struct divide_report *report);

/* Returns the misses predicted with `pages`. */
uint64_t divide_misses(const struct divide_pool *pool, uint32_t pages);
/* Returns the cost that throughput minimizes: how much longer the pool takes than alone with all
 * the memory, in millionths of the time alone, up to DIVIDE_SLOWED_MAX of them, weighted; or
 * misses. */
uint64_t divide_cost(const struct divide_pool *pool, uint32_t pages, uint32_t memory);
/* Returns the part of its speed alone that the pool loses, in millionths; 0 where the cost of a
 * miss is unknown. */
uint64_t divide_lost(const struct divide_pool *pool, uint32_t pages, uint32_t memory);
/* Returns the weighted rate, which fairness makes equal. */
uint64_t divide_rate(const struct divide_pool *pool, uint32_t pages);
/* Returns the least rate that counts as equal to `rate`. */
uint64_t divide_near(uint64_t rate);
