/*
 * The best division of memory among pools.
 *
 * A goal gives each pool two bounds, and the pages between are divided for throughput: least[k] is
 * the cost of the pools so far with k steps in all, for one pool after another (a knapsack with one
 * choice a pool; Bellman 1957). Exact on any curves, in time pools x steps^2.
 */
#include "mm/policy/divide/plan.h"
#include "kernel/lib/fixed.h"

enum {
    MILLION = 1000000,
    UNEVEN_PERMIL = 20,
    SCALE_ONE = 256,
    SCALE_MAX = 16 * SCALE_ONE,
    SCALE_MIN = SCALE_ONE / 16
};

const char *const divide_goal_names[] = {"even",   "throughput", "fairness",
                                         "maxmin", "service",    NULL};

/* Returns the misses by the curve alone; straight between its points, level behind the last. With
 * `cliffs`, a program misses between two points at a cliff as on top of it or as below, but not at
 * any rate between. */
static uint64_t on_curve(const struct divide_pool *p, uint32_t pages, bool cliffs)
{
    uint32_t i = pages / p->spacing, rest = pages % p->spacing;

    if (i >= p->points - 1)
        return p->misses[p->points - 1];
    if (cliffs && p->misses[i + 1] < p->misses[i] / 2)
        return p->misses[i];
    return p->misses[i] - fixed_muldiv(p->misses[i] - p->misses[i + 1], rest, p->spacing);
}

/* Returns the factor to scale the curve by, in SCALE_ONE-ths: misses seen by misses predicted for
 * the present pages. One miss more on both sides, so that few misses mean little. */
static uint64_t scale(const struct divide_pool *p)
{
    if (p->seen == DIVIDE_SEEN_UNKNOWN || p->pages == 0)
        return SCALE_ONE;
    uint64_t factor =
        fixed_muldiv((uint64_t)p->seen + 1, SCALE_ONE, on_curve(p, p->pages, false) + 1);
    return MIN(MAX(factor, (uint64_t)SCALE_MIN), (uint64_t)SCALE_MAX);
}

static uint64_t scaled(const struct divide_pool *p, uint32_t pages, bool cliffs)
{
    return p->points ? on_curve(p, pages, cliffs) * scale(p) / SCALE_ONE : 0;
}

uint64_t divide_misses(const struct divide_pool *p, uint32_t pages)
{
    return scaled(p, pages, false);
}

/* Returns the time that the work of the epoch takes with `misses`. */
static uint64_t time_of(const struct divide_pool *p, uint64_t misses)
{
    return p->work + p->fault_time * MIN(misses, DIVIDE_WORK_MAX / MAX(p->fault_time, (uint64_t)1));
}

uint64_t divide_rate(const struct divide_pool *p, uint32_t pages)
{
    uint64_t misses = MIN(scaled(p, pages, true), (uint64_t)UINT32_MAX);

    return misses * p->weight * MILLION / time_of(p, misses);
}

/* Returns the time by which the work of the epoch takes longer than alone with all the memory; sets
 * *alone to that time. */
static uint64_t longer(const struct divide_pool *p, uint32_t pages, uint32_t memory,
                       uint64_t *alone)
{
    *alone = time_of(p, divide_misses(p, memory));
    return time_of(p, divide_misses(p, MIN(pages, memory))) - *alone;
}

uint64_t divide_cost(const struct divide_pool *p, uint32_t pages, uint32_t memory)
{
    uint64_t alone, more = longer(p, pages, memory, &alone);

    if (!p->fault_time)
        return divide_misses(p, pages) * p->weight;
    /* Below 2^60: misses cost no more than DIVIDE_WORK_MAX. */
    return MIN(more * MILLION / alone, DIVIDE_SLOWED_MAX) * p->weight;
}

uint64_t divide_lost(const struct divide_pool *p, uint32_t pages, uint32_t memory)
{
    uint64_t alone, more = longer(p, pages, memory, &alone);

    return more * MILLION / (alone + more);
}

/* Returns the fewest pages, from..to, with which `measure` (one of plan.h) is not above the level,
 * or to + 1. */
static uint32_t pages_for(const struct divide_pool *p,
                          uint64_t (*measure)(const struct divide_pool *, uint32_t), uint64_t level,
                          uint32_t from, uint32_t to)
{
    uint32_t end = to + 1;

    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (measure(p, middle) <= level)
            end = middle;
        else
            from = middle + 1;
    }
    return end;
}

static int check_pool(const struct divide_pool *p)
{
    if (p->weight < 1 || p->weight > DIVIDE_WEIGHT_MAX || p->work < 1 ||
        p->work > DIVIDE_WORK_MAX || p->fault_time > DIVIDE_WORK_MAX || p->low > p->high ||
        p->high > DIVIDE_MISSES_MAX)
        return -EINVAL;
    if (p->points &&
        (p->spacing < 1 || p->seen < DIVIDE_SEEN_UNKNOWN || p->misses[0] > DIVIDE_MISSES_MAX))
        return -EINVAL;
    for (uint32_t i = 1; i < p->points; i++) {
        if (p->misses[i] > p->misses[i - 1])
            return -EINVAL;
    }
    return 0;
}

static int check_all(const struct divide_config *c, const struct divide_pool *pool, unsigned pools,
                     uint32_t memory)
{
    uint64_t minima = 0;

    if (pools < 1 || pools > DIVIDE_POOLS_MAX || c->goal == DIVIDE_EVEN ||
        (unsigned)c->goal >= DIVIDE_GOALS || c->step < 1 || c->move_max < 1 ||
        c->hysteresis_permil > 1000 || memory > DIVIDE_MEMORY_MAX)
        return -EINVAL;
    for (unsigned i = 0; i < pools; i++) {
        if (check_pool(&pool[i]) || !pool[i].fault_time != !pool[0].fault_time)
            return -EINVAL;
        minima += pool[i].minimum;
    }
    return minima <= memory ? 0 : -ENOMEM;
}

static uint64_t sum(const uint32_t *pages, unsigned pools)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < pools; i++)
        total += pages[i];
    return total;
}

/* Raises low[] of pools without a curve to `times` the pages they hold, `most` at most, as far as
 * `left` goes. Returns the pages left then. */
static uint32_t keep_unknown(struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                             uint32_t left, uint64_t times, uint32_t most)
{
    for (unsigned i = 0; i < pools; i++) {
        uint32_t wanted = (uint32_t)MIN(times * pool[i].held, (uint64_t)most);
        uint32_t more = MIN(wanted - MIN(wanted, s->low[i]), left);
        if (pool[i].points)
            continue;
        s->low[i] += more;
        left -= more;
    }
    return left;
}

/* Sets bounds: every pool between its minimum and all memory. The misses of a pool without a curve
 * are unknown: it keeps the pages it holds, first of all an equal part of these, and may have twice
 * as many, up to an equal part. One that could have had more and holds little needs no pages that
 * others are known to use. */
static void set_bounds(struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                       uint32_t memory)
{
    uint32_t left = memory;

    for (unsigned i = 0; i < pools; i++) {
        s->low[i] = pool[i].minimum;
        s->high[i] = memory;
        s->bound[i] = false;
        left -= pool[i].minimum;
    }
    uint32_t equal = memory / pools;
    left = keep_unknown(s, pool, pools, left, 1, equal);
    left = keep_unknown(s, pool, pools, left, 1, UINT32_MAX);
    keep_unknown(s, pool, pools, left, 2, equal);
}

/* Returns the lowest level of rates that memory allows all to have. */
static uint64_t lowest_level(const struct divide_room *s, const struct divide_pool *pool,
                             unsigned pools, uint32_t memory)
{
    uint32_t need[DIVIDE_POOLS_MAX];
    uint64_t from = 0, to = 0;

    for (unsigned i = 0; i < pools; i++)
        to = MAX(to, divide_rate(&pool[i], s->low[i]));
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        for (unsigned i = 0; i < pools; i++)
            need[i] = pages_for(&pool[i], divide_rate, middle, s->low[i], memory);
        if (sum(need, pools) <= memory)
            to = middle;
        else
            from = middle + 1;
    }
    return to;
}

uint64_t divide_near(uint64_t rate)
{
    return rate - fixed_muldiv(rate, UNEVEN_PERMIL, 1000);
}

/* Returns the most pages with which the rate of pool i is still near the level; all memory if it is
 * below that with its fewest pages. */
static uint32_t most_near(const struct divide_room *s, const struct divide_pool *pool, unsigned i,
                          uint64_t level, uint32_t memory)
{
    uint64_t least = divide_near(level);

    if (least == 0 || divide_rate(&pool[i], s->low[i]) < least)
        return memory;
    return pages_for(&pool[i], divide_rate, least - 1, s->low[i], memory) - 1;
}

/* Returns the lowest level, from `from` on, that no curve passes with a cliff: all pools that can
 * miss as often can do so at one rate. A curve has no more cliffs to pass than fit one above the
 * other. */
static uint64_t even_level(const struct divide_room *s, const struct divide_pool *pool,
                           unsigned pools, uint32_t memory, uint64_t from)
{
    for (uint64_t level = from;; from = level) {
        for (unsigned i = 0; i < pools; i++)
            level = MAX(level, divide_rate(&pool[i], most_near(s, pool, i, from, memory)));
        if (level == from)
            return level;
    }
}

/* Bounds pools to the pages that keep them near the level. */
static void bind_pools(struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                       uint32_t memory, uint64_t level)
{
    for (unsigned i = 0; i < pools; i++) {
        s->high[i] = most_near(s, pool, i, level, memory);
        s->bound[i] = s->high[i] < memory;
    }
}

/* Raises low[] to the pages that every pool needs for the level. */
static void raise_bounds(struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                         uint32_t memory, uint64_t level)
{
    for (unsigned i = 0; i < pools; i++)
        s->low[i] = pages_for(&pool[i], divide_rate, level, s->low[i], memory);
}

/* Returns the heaviest pool that asks for a service and is not in the set, or `pools`. */
static unsigned heaviest(const struct divide_pool *pool, unsigned pools, uint64_t set)
{
    unsigned found = pools;

    for (unsigned i = 0; i < pools; i++) {
        if (pool[i].high && pool[i].points && !(set >> i & 1) &&
            (found == pools || pool[i].weight > pool[found].weight))
            found = i;
    }
    return found;
}

/* Raises low[] to the pages that the rates asked for need, as far as memory goes, and lowers high[]
 * to these. */
static void serve_rates(struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                        uint32_t memory)
{
    uint64_t served = 0;
    uint32_t left = memory - (uint32_t)sum(s->low, pools);

    for (unsigned i; (i = heaviest(pool, pools, served)) < pools; served |= 1ull << i) {
        uint32_t most = s->low[i] + left;
        /* rates asked for are not weighted */
        uint32_t need = MIN(
            pages_for(&pool[i], divide_rate, pool[i].high * pool[i].weight, s->low[i], most), most);
        uint32_t enough =
            MIN(pages_for(&pool[i], divide_rate, pool[i].low * pool[i].weight, s->low[i], memory),
                memory);
        left -= need - s->low[i];
        s->low[i] = need;
        s->high[i] = MAX(need, enough);
    }
}

/* Narrows the bounds by the goal. */
static void narrow_bounds(struct divide_room *s, enum divide_goal goal,
                          const struct divide_pool *pool, unsigned pools, uint32_t memory)
{
    uint64_t level;

    switch (goal) {
    case DIVIDE_FAIRNESS:
        level = even_level(s, pool, pools, memory, lowest_level(s, pool, pools, memory));
        bind_pools(s, pool, pools, memory, level);
        raise_bounds(s, pool, pools, memory, level);
        break;
    case DIVIDE_MAXMIN:
        raise_bounds(s, pool, pools, memory, lowest_level(s, pool, pools, memory));
        break;
    case DIVIDE_SERVICE:
        serve_rates(s, pool, pools, memory);
        break;
    default:
        break;
    }
}

/* Adds a pool: into[k] is the least cost of it and those before with up to k steps. */
static void add_pool(struct divide_room *s, const struct divide_pool *pool, unsigned i,
                     uint32_t memory, uint32_t step, uint32_t steps, const uint64_t *before,
                     uint64_t *into)
{
    uint32_t most = MIN((s->high[i] - s->low[i]) / step, steps);

    for (uint32_t k = 0; k <= steps; k++)
        into[k] = UINT64_MAX;
    for (uint32_t taken = 0; taken <= most; taken++) {
        uint64_t own = divide_cost(&pool[i], s->low[i] + taken * step, memory);
        for (uint32_t k = taken; k <= steps; k++) {
            if (before[k - taken] + own < into[k]) {
                into[k] = before[k - taken] + own;
                s->taken[i][k] = (uint8_t)taken;
            }
        }
    }
}

/* Divides the memory beyond low[] for the least cost; pages that save nothing remain. */
static void divide_steps(struct divide_room *s, const struct divide_config *c,
                         const struct divide_pool *pool, unsigned pools, uint32_t memory)
{
    uint32_t rest = memory - (uint32_t)sum(s->low, pools);
    uint32_t step = MAX(c->step, (rest + DIVIDE_STEPS_MAX - 1) / DIVIDE_STEPS_MAX),
             steps = rest / step;

    memset(s->least[0], 0, sizeof s->least[0]);
    for (unsigned i = 0; i < pools; i++)
        add_pool(s, pool, i, memory, step, steps, s->least[i % 2], s->least[(i + 1) % 2]);
    for (unsigned i = pools, k = steps; i-- > 0;) {
        s->best[i] = s->low[i] + s->taken[i][k] * step;
        k -= s->taken[i][k];
    }
}

/* Takes back pages that save nothing: steps may end behind the end of a curve. */
static void trim_pages(struct divide_room *s, const struct divide_pool *pool, unsigned pools)
{
    for (unsigned i = 0; i < pools; i++) {
        if (pool[i].points)
            s->best[i] = pages_for(&pool[i], divide_misses, divide_misses(&pool[i], s->best[i]),
                                   s->low[i], s->best[i]);
    }
}

/* Raises *pages to `limit`, as far as `left` goes. Returns the pages left. */
static uint32_t fill_pool(uint32_t *pages, uint32_t limit, uint32_t left)
{
    uint32_t more = MIN(limit - MIN(limit, *pages), left);

    *pages += more;
    return left - more;
}

/* Returns whether more pages might serve the pool. One without a curve yet, or without misses with
 * its pages, as an idle or tiny one, wants none. */
static bool wants_more(const struct divide_pool *p, uint32_t has)
{
    return p->points && divide_misses(p, has) > 0;
}

/* Gives `left` pages in even parts to the pools that might use them, or to all, up to their bounds.
 * Returns the pages left. */
static uint32_t spread_evenly(struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                              uint32_t left, bool all)
{
    unsigned takers = 0;

    for (unsigned i = 0; i < pools; i++)
        takers += all || wants_more(&pool[i], s->best[i]);
    for (unsigned i = 0; i < pools; i++) {
        if (!all && !wants_more(&pool[i], s->best[i]))
            continue;
        uint32_t part = left / takers--;
        left -= part - fill_pool(&s->best[i], s->high[i], part);
    }
    return left;
}

/* Spreads the pages that save nothing. They stay where they are, as far as bounds allow, with pools
 * that still miss; the others are spread, first among those. A pool that is bound to miss gets
 * none: near a cliff a curve need not be right. */
static void spread_rest(struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                        uint32_t memory)
{
    uint32_t left = memory - (uint32_t)sum(s->best, pools);

    for (unsigned i = 0; i < pools; i++) {
        if (s->bound[i])
            s->high[i] = s->best[i];
        if (wants_more(&pool[i], s->best[i]))
            left = fill_pool(&s->best[i], MIN(pool[i].pages, s->high[i]), left);
    }
    left = spread_evenly(s, pool, pools, left, false);
    left = spread_evenly(s, pool, pools, left, true);
    for (unsigned i = 0; i < pools; i++)
        left = fill_pool(&s->best[i], s->high[i], left);
    s->spare = left;
}

int divide_solve(struct divide_room *s, const struct divide_config *config,
                 const struct divide_pool *pool, unsigned pools, uint32_t memory)
{
    int error = check_all(config, pool, pools, memory);

    if (error)
        return error;
    set_bounds(s, pool, pools, memory);
    narrow_bounds(s, config->goal, pool, pools, memory);
    divide_steps(s, config, pool, pools, memory);
    trim_pages(s, pool, pools);
    spread_rest(s, pool, pools, memory);
    ASSERT(sum(s->best, pools) + s->spare == memory);
    return 0;
}
