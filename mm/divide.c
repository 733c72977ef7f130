/*
 * See divide.h.  Once an epoch (mem.epoch_ms) the curves of all watched spaces are read, mm/share.h decides, and each pool is told its
 * target: so many frames it keeps when memory is short.  A pool may have more as long as nobody misses them.
 *
 * A curve is of the policy its pool replaces by: MRU's own, LRU's for all that follow recency, and for the chooser whichever misses less.
 * Pools are known here by their address from one look to the next only: one that has ended meanwhile is not told.
 */
#include "mm/divide.h"
#include "kernel/printf.h"
#include "kernel/telemetry/telemetry.h"
#include "mm/memory_args.h"
#include "mm/pool.h"
#include "mm/reclaim.h"
#include "mm/share.h"
#include "mm/space.h"
#include "mm/track_args.h"

#define POINTS        65 /* of a curve: 64 steps of memory */
#define PAGES_MIN     32 /* that every pool keeps          */
#define MOVED_PART    8  /* of memory, in an epoch, at most */
#define WORKED_PART   16 /* of an epoch it is thought to have worked at least */
#define WORTH_PART    8  /* of what a pool has, for people: what it would gain by so much, or lose */
#define GAIN_PERMILLE 20 /* that a new plan must bring      */

static struct division {
    unsigned pools;
    uint32_t memory, spacing;     /* pages */
    uint64_t looked_ns, epoch_us; /* the last look, and how long before it the one before was */
    uint64_t faults, waited_us;   /* of all pools, since then                                 */
    uint64_t fault_us;            /* that a fault took when there were any last               */
    struct pool *of[SHARE_POOLS_MAX];
    uint32_t pid[SHARE_POOLS_MAX];
    struct share_pool pool[SHARE_POOLS_MAX];
    uint64_t misses[SHARE_POOLS_MAX][POINTS];
    struct share room;
} * division; /* the thread's own */

bool divide_looks_at_mru(const struct pool *p)
{
    return memory_goal && (p->ops == &replace_chooser || p->ops == &replace_mru);
}

static uint64_t misses_with(const struct space *s, uint32_t pages)
{
    uint64_t lru = track_curve_misses(s, MRC_LRU, pages);

    if (!divide_looks_at_mru(s->pool))
        return lru;
    uint64_t mru = track_curve_misses(s, MRC_MRU, pages);
    return s->pool->ops == &replace_mru ? mru : MIN(lru, mru);
}

/* Microseconds since the last look in which its threads, taken for one, did not wait for pages.  [P] held. */
static uint64_t worked_locked(struct pool *p)
{
    struct division *d = division;
    uint64_t waited_us = (p->stats.waited_ns - p->judged_ns) / 1000;

    d->faults += p->stats.major_faults - p->judged_faults;
    d->waited_us += waited_us;
    p->judged_faults = p->stats.major_faults;
    p->judged_ns = p->stats.waited_ns;
    return MAX(d->epoch_us - MIN(waited_us, d->epoch_us), d->epoch_us / WORKED_PART);
}

static void add(struct space *s, UNUSED void *arg)
{
    struct division *d = division;
    struct pool *p = s->pool;

    if (!p || p->global || d->pools == SHARE_POOLS_MAX)
        return;
    uint64_t *misses = d->misses[d->pools];
    for (unsigned i = 0; i < POINTS; i++) {
        misses[i] = misses_with(s, i * d->spacing);
        if (i)
            misses[i] = MIN(misses[i], misses[i - 1]);
    }
    bool irq = spin_lock(&p->lock);
    uint32_t target = p->target, planned = p->planned;
    uint64_t worked_us = worked_locked(p);
    spin_unlock(&p->lock, irq);
    d->of[d->pools] = p;
    d->pid[d->pools] = s->pid;
    d->pool[d->pools++] = (struct share_pool){
        .misses = misses,
        .points = POINTS,
        .spacing = d->spacing,
        .work = MIN(MAX(worked_us, (uint64_t)1), SHARE_WORK_MAX),
        .seen = SHARE_SEEN_UNKNOWN,
        .minimum = MIN((uint32_t)PAGES_MIN, d->memory / SHARE_POOLS_MAX),
        .weight = p->weight,
        .high = p->rate_max,
        .pages = target,
        .planned = planned,
    };
}

/* What its plan is worth to the pool, for people to read. */
static struct pool_division worth_of(struct share_pool *s)
{
    uint32_t step = MAX(s->planned / WORTH_PART, 1u);

    s->weight = 1;
    return (struct pool_division){
        .goal = share_goal_names[memory_goal - 1],
        .step = step,
        .lost = share_cost(s, s->planned),
        .lost_more = share_cost(s, s->planned + step),
        .lost_less = share_cost(s, s->planned - MIN(step, s->planned)),
    };
}

static void record(unsigned i, uint32_t before, const struct pool_division *worth)
{
    const struct share_pool *s = &division->pool[i];

    telemetry_memory_plan(
        division->pid[i], worth->goal,
        &(struct telemetry_plan){.before = before,
                                 .planned = s->planned,
                                 .target = s->pages,
                                 .waited_us = division->epoch_us - MIN(s->work, division->epoch_us),
                                 .lost = worth->lost,
                                 .step = worth->step,
                                 .lost_more = worth->lost_more,
                                 .lost_less = worth->lost_less});
}

static void tell(struct pool *p, UNUSED void *arg)
{
    struct division *d = division;

    for (unsigned i = 0; i < d->pools; i++) {
        if (d->of[i] != p)
            continue;
        struct pool_division worth = worth_of(&d->pool[i]);
        bool irq = spin_lock(&p->lock);
        uint32_t before = p->planned;
        p->planned = d->pool[i].planned;
        p->division = worth;
        spin_unlock(&p->lock, irq);
        if (before != d->pool[i].planned)
            record(i, before, &worth);
        pool_set_target(p, d->pool[i].pages);
    }
}

static void print(const struct share_report *report)
{
    const struct division *d = division;
    uint64_t ms = arch_clock_ns() / NS_PER_MS;

    kprintf("memory: t=%llu.%03llu goal=%s pages=%u moved=%u cost=%llu best=%llu plan=",
            (unsigned long long)ms / 1000, (unsigned long long)ms % 1000, share_goal_names[memory_goal - 1],
            d->memory, report->moved, (unsigned long long)report->cost,
            (unsigned long long)report->cost_best);
    for (unsigned i = 0; i < d->pools; i++)
        kprintf("%s%u:%u", i ? "," : "", d->pid[i], d->pool[i].planned);
    kprintf("\n");
}

static void divide(void)
{
    struct division *d = division;
    const struct share_config config = {
        .goal = (enum share_goal)(memory_goal - 1),
        .step = d->spacing,
        .move_max = MAX(d->memory / MOVED_PART, 1u),
        .hysteresis_permil = GAIN_PERMILLE,
    };
    struct share_report report;

    if (d->faults)
        d->fault_us = MIN(MAX(d->waited_us / d->faults, (uint64_t)1), SHARE_WORK_MAX);
    for (unsigned i = 0; i < d->pools; i++)
        d->pool[i].fault_time = d->fault_us;
    if (!d->pools || share_epoch(&d->room, &config, d->pool, d->pools, d->memory, &report))
        return;
    pools_each(tell, NULL);
    if (report.replanned)
        print(&report);
}

static void divide_for_ever(UNUSED void *arg)
{
    for (;;) {
        sched_sleep_until(arch_clock_ns() + track_epoch_ms * NS_PER_MS);
        division->memory = pools_memory();
        division->spacing = MAX(division->memory / (POINTS - 1), 1u);
        division->pools = 0;
        division->faults = division->waited_us = 0;
        division->epoch_us = (arch_clock_ns() - division->looked_ns) / 1000;
        division->looked_ns = arch_clock_ns();
        track_each_curve(add, NULL);
        divide();
    }
}

void divide_start(void)
{
    struct thread_params params = {
        .name = "divide", .entry = divide_for_ever, .prio = PRIO_KERNEL, .group = GROUP_NONE};
    struct thread *t;

    if (!memory_goal)
        return;
    division = area_alloc(sizeof(*division));
    if (!division || thread_create(&params, &t)) {
        kprintf("memory: no memory to divide it: each pool has an even part\n");
        return;
    }
    division->looked_ns = arch_clock_ns();
    thread_start(t);
    thread_put(t);
}
