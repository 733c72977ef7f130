/*
 * Memory for pools, epoch by epoch: when a division becomes the plan, and how pools get there.
 */
#include "mm/policy/divide/plan.h"
#include "kernel/lib/fixed.h"

enum {
    MILLION = 1000000,
    /* epochs in which the misses saved must outweigh the pages that are read again */
    WORTH_EPOCHS = 8
};

/* Returns a cost in which `first` counts for more than all of `second`. */
static uint64_t before(uint64_t first, uint64_t second)
{
    return MIN(second, UINT32_MAX) + (MIN(first, UINT32_MAX - 1u) << 32);
}

static uint32_t pages_of(const struct divide_pool *pool, unsigned i, const uint32_t *pages)
{
    return pages ? pages[i] : pool[i].planned;
}

/* Returns how far the lowest rate is from the highest one, of pools that could be near that. */
static uint64_t apart(const struct divide_pool *pool, unsigned pools, const uint32_t *pages,
                      uint64_t highest)
{
    uint64_t near = divide_near(highest), most = 0;

    for (unsigned i = 0; i < pools; i++) {
        uint64_t rate = divide_rate(&pool[i], pages_of(pool, i, pages));
        if (rate < near && divide_rate(&pool[i], pool[i].minimum) >= near)
            most = MAX(most, near - rate);
    }
    return most;
}

/* Returns slowdowns in thousandths to stand behind rates: those of starved programs fit the 32 bits
 * that before() has for them that way. */
static uint64_t behind_rates(const struct divide_pool *pool, uint64_t cost)
{
    return pool[0].fault_time ? cost / 1000 : cost;
}

/* Returns the cost of a division, or NULL for the plan, by the goal: slowdowns or misses, or the
 * highest rate. Rates that differ, or are above those asked for, weigh more than all that. */
static uint64_t cost_of(const struct divide_config *c, const struct divide_pool *pool,
                        unsigned pools, uint32_t memory, const uint32_t *pages)
{
    uint64_t cost = 0, highest = 0, above = 0;

    for (unsigned i = 0; i < pools; i++) {
        uint32_t has = pages_of(pool, i, pages);
        uint64_t rate = divide_rate(&pool[i], has), asked = pool[i].high * pool[i].weight;
        cost += divide_cost(&pool[i], has, memory);
        highest = MAX(highest, rate);
        if (pool[i].high && rate > asked)
            above += rate - asked;
    }
    switch (c->goal) {
    case DIVIDE_FAIRNESS:
        return before(apart(pool, pools, pages, highest), highest);
    case DIVIDE_MAXMIN:
        return highest;
    case DIVIDE_SERVICE:
        return before(above, behind_rates(pool, cost));
    default:
        return cost;
    }
}

/* Returns whether the old plan can still be followed: it divides this memory, with the minima and
 * equal parts for pools without a curve. */
static bool holds(const struct divide_room *s, const struct divide_pool *pool, unsigned pools,
                  uint32_t memory)
{
    uint64_t planned = s->planned_spare;

    for (unsigned i = 0; i < pools; i++) {
        if (pool[i].planned < pool[i].minimum ||
            (pool[i].points == 0 && pool[i].planned < s->best[i]))
            return false;
        planned += pool[i].planned;
    }
    return planned == memory;
}

/* Returns how many of the pages that a pool is to give it will want back: no more than it will
 * miss. */
static uint64_t wanted_back(const struct divide_pool *p, uint32_t best)
{
    if (best >= p->planned)
        return 0;
    return p->points ? MIN((uint64_t)p->planned - best,
                           divide_misses(p, best) - divide_misses(p, p->planned))
                     : p->planned - best;
}

/* Returns the weighted slowdown of a pool that reads `pages` again while the plan lasts: its time,
 * as slow as it is then, is longer by that part. */
static uint64_t delayed(const struct divide_config *c, const struct divide_pool *p, uint64_t pages,
                        uint32_t best, uint32_t memory)
{
    uint64_t slowed = divide_cost(p, best, memory) + (uint64_t)MILLION * p->weight;
    uint64_t part = fixed_muldiv(pages * MILLION, p->fault_time, c->lasts);

    return fixed_muldiv(slowed, part, MILLION);
}

/* Returns what a new plan must save as pages will be read again: misses in an epoch, or the time by
 * which pools that read them take longer. */
static uint64_t price(const struct divide_room *s, const struct divide_config *c,
                      const struct divide_pool *pool, unsigned pools, uint32_t memory)
{
    uint64_t again = 0, longer = 0;

    for (unsigned i = 0; i < pools; i++) {
        uint64_t pages = wanted_back(&pool[i], s->best[i]);
        again += pages;
        if (c->lasts)
            longer = fixed_add(longer, delayed(c, &pool[i], pages, s->best[i], memory));
    }
    if (!pool[0].fault_time)
        return again / WORTH_EPOCHS;
    return c->goal == DIVIDE_SERVICE ? behind_rates(pool, longer) : longer;
}

/* Returns whether the best division is worth a new plan; sets the costs in the report. */
static bool worth_it(const struct divide_room *s, const struct divide_config *c,
                     const struct divide_pool *pool, unsigned pools, uint32_t memory,
                     struct divide_report *report)
{
    uint64_t h = c->hysteresis_permil;

    report->cost = cost_of(c, pool, pools, memory, NULL);
    report->cost_best = cost_of(c, pool, pools, memory, s->best);
    if (report->cost_best >= report->cost)
        return false;
    uint64_t saved = report->cost - report->cost_best;
    if (saved <= report->cost / 1000 * h + report->cost % 1000 * h / 1000)
        return false;
    return c->goal == DIVIDE_FAIRNESS || c->goal == DIVIDE_MAXMIN ||
           saved >= price(s, c, pool, pools, memory);
}

/* Returns the part of `amount` for a pool that is `own` of `all`, with `before` of these before it:
 * parts add up to `amount`. */
static uint32_t part(uint64_t amount, uint64_t before, uint64_t own, uint64_t all)
{
    return (uint32_t)(fixed_muldiv(amount, before + own, all) - fixed_muldiv(amount, before, all));
}

/* Moves pages: pools above their plan give `gives` in all, those below it take `takes`, each by how
 * far it is off. */
static void move_pages(struct divide_pool *pool, unsigned pools, uint64_t gives, uint64_t above,
                       uint64_t takes, uint64_t below)
{
    uint64_t given = 0, taken = 0;

    for (unsigned i = 0; i < pools; i++) {
        struct divide_pool *p = &pool[i];
        if (p->pages > p->planned) {
            uint64_t off = p->pages - p->planned;
            p->pages -= part(gives, given, off, above);
            given += off;
        } else if (p->pages < p->planned) {
            uint64_t off = p->planned - p->pages;
            p->pages += part(takes, taken, off, below);
            taken += off;
        }
    }
}

/* Goes a step towards the plan. Pages that are too many for memory go besides, and free pages that
 * the plan has are given. Returns the number of pages that moved. */
static uint32_t approach_plan(const struct divide_config *c, struct divide_pool *pool,
                              unsigned pools, uint32_t memory)
{
    uint64_t above = 0, below = 0, have = 0;

    for (unsigned i = 0; i < pools; i++) {
        pool[i].pages = MAX(pool[i].pages, pool[i].minimum);
        if (pool[i].pages > pool[i].planned)
            above += pool[i].pages - pool[i].planned;
        else
            below += pool[i].planned - pool[i].pages;
        have += pool[i].pages;
    }
    uint64_t gives = MIN(above, c->move_max + (have - MIN(have, memory)));
    uint64_t takes = MIN(below, memory + gives - have);
    move_pages(pool, pools, gives, above, takes, below);
    return (uint32_t)MAX(gives, takes);
}

int divide_plan(struct divide_room *s, const struct divide_config *config, struct divide_pool *pool,
                unsigned pools, uint32_t memory, struct divide_report *report)
{
    int error = divide_solve(s, config, pool, pools, memory);

    if (error)
        return error;
    *report = (struct divide_report){0};
    bool worth = worth_it(s, config, pool, pools, memory, report);
    report->replanned = worth || !holds(s, pool, pools, memory);
    for (unsigned i = 0; report->replanned && i < pools; i++) {
        pool[i].planned = s->best[i];
        pool[i].bound = s->bound[i];
    }
    if (report->replanned)
        s->planned_spare = s->spare;
    report->moved = approach_plan(config, pool, pools, memory);
    return 0;
}
