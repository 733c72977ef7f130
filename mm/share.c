/*
 * Memory for pools, epoch by epoch: when a division becomes the plan, and how pools get there.
 */
#include "mm/share.h"
#include "kernel/fixed.h"

enum { WORTH_EPOCHS = 8 }; /* misses saved in so many epochs must outweigh the pages that are read again */

/* The first counts for more than all of the second. */
static uint64_t before(uint64_t first, uint64_t second)
{
    return MIN(second, UINT32_MAX) + (MIN(first, UINT32_MAX - 1u) << 32);
}

static uint32_t pages_of(const struct share_pool *pool, unsigned i, const uint32_t *pages)
{
    return pages ? pages[i] : pool[i].planned;
}

/* How far the lowest rate is from the highest one, of pools that could be near that. */
static uint64_t apart(const struct share_pool *pool, unsigned pools, const uint32_t *pages, uint64_t highest)
{
    uint64_t near = share_near(highest), most = 0;

    for (unsigned i = 0; i < pools; i++) {
        uint64_t rate = share_rate(&pool[i], pages_of(pool, i, pages));
        if (rate < near && share_rate(&pool[i], pool[i].minimum) >= near)
            most = MAX(most, near - rate);
    }
    return most;
}

/* What a division, NULL for the plan, costs by the goal: lost speed or misses, or the highest rate.  Rates that differ, or are above what was
 * asked for, weigh more than all that. */
static uint64_t cost_of(const struct share_config *c, const struct share_pool *pool, unsigned pools,
                        const uint32_t *pages)
{
    uint64_t cost = 0, highest = 0, above = 0;

    for (unsigned i = 0; i < pools; i++) {
        uint32_t has = pages_of(pool, i, pages);
        uint64_t rate = share_rate(&pool[i], has), asked = pool[i].high * pool[i].weight;
        cost += share_cost(&pool[i], has);
        highest = MAX(highest, rate);
        if (pool[i].high && rate > asked)
            above += rate - asked;
    }
    switch (c->goal) {
    case SHARE_FAIRNESS:
        return before(apart(pool, pools, pages, highest), highest);
    case SHARE_MAXMIN:
        return highest;
    case SHARE_SERVICE:
        return before(above, cost);
    default:
        return cost;
    }
}

/* Whether the old plan can still be followed: it divides this memory, minima and first, equal parts are in it. */
static bool holds(const struct share *s, const struct share_pool *pool, unsigned pools, uint32_t memory)
{
    uint64_t planned = s->planned_spare;

    for (unsigned i = 0; i < pools; i++) {
        if (pool[i].planned < pool[i].minimum || (pool[i].points == 0 && pool[i].planned < s->best[i]))
            return false;
        planned += pool[i].planned;
    }
    return planned == memory;
}

/* What must be saved where so many pages will be read again: misses in an epoch, or the speed that is lost while they are read again. */
static uint64_t price(const struct share_config *c, const struct share_pool *pool, uint64_t again)
{
    if (!pool[0].fault_time)
        return again / WORTH_EPOCHS;
    return c->lasts ? fixed_muldiv(again * 1000000, pool[0].fault_time, c->lasts) : 0;
}

/* Of the pages that a pool is to give, those that it will want back: no more than it will miss. */
static uint64_t wanted_back(const struct share_pool *p, uint32_t best)
{
    if (best >= p->planned)
        return 0;
    return p->points ? MIN((uint64_t)p->planned - best, share_misses(p, best) - share_misses(p, p->planned))
                     : p->planned - best;
}

/* Whether the best division is worth a new plan; sets the report's costs. */
static bool worth_it(const struct share *s, const struct share_config *c, const struct share_pool *pool,
                     unsigned pools, struct share_report *report)
{
    uint64_t again = 0, h = c->hysteresis_permil;

    for (unsigned i = 0; i < pools; i++)
        again += wanted_back(&pool[i], s->best[i]);
    report->cost = cost_of(c, pool, pools, NULL);
    report->cost_best = cost_of(c, pool, pools, s->best);
    if (report->cost_best >= report->cost)
        return false;
    uint64_t saved = report->cost - report->cost_best;
    if (saved <= report->cost / 1000 * h + report->cost % 1000 * h / 1000)
        return false;
    return c->goal == SHARE_FAIRNESS || c->goal == SHARE_MAXMIN || saved >= price(c, pool, again);
}

/* Part of amount for a pool that is `own` of `all`, `before` of which were before it: parts add up to amount. */
static uint32_t part(uint64_t amount, uint64_t before, uint64_t own, uint64_t all)
{
    return (uint32_t)(fixed_muldiv(amount, before + own, all) - fixed_muldiv(amount, before, all));
}

/* Pools above their plan give so many pages in all, those below it take so many, each by how far it is off. */
static void move(struct share_pool *pool, unsigned pools, uint64_t gives, uint64_t above, uint64_t takes,
                 uint64_t below)
{
    uint64_t given = 0, taken = 0;

    for (unsigned i = 0; i < pools; i++) {
        struct share_pool *p = &pool[i];
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

/* A step towards the plan; pages that are too many for memory besides, and as many of those that nobody has as it plans for.  How many moved. */
static uint32_t approach(const struct share_config *c, struct share_pool *pool, unsigned pools,
                         uint32_t memory)
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
    move(pool, pools, gives, above, takes, below);
    return (uint32_t)MAX(gives, takes);
}

int share_epoch(struct share *s, const struct share_config *config, struct share_pool *pool, unsigned pools,
                uint32_t memory, struct share_report *report)
{
    int error = share_divide(s, config, pool, pools, memory);

    if (error)
        return error;
    *report = (struct share_report){0};
    bool worth = worth_it(s, config, pool, pools, report);
    report->replanned = worth || !holds(s, pool, pools, memory);
    for (unsigned i = 0; report->replanned && i < pools; i++) {
        pool[i].planned = s->best[i];
        pool[i].bound = s->bound[i];
    }
    if (report->replanned)
        s->planned_spare = s->spare;
    report->moved = approach(config, pool, pools, memory);
    return 0;
}
