/*
 * See divide.h. Once an epoch (mem.epoch_ms) the thread reads the curves of all watched spaces,
 * mm/policy/divide/plan.h decides, and each pool gets its target: the frames it keeps when memory
 * is short. While memory is not short a pool may have more.
 *
 * A curve is that of the pool's replacement policy: MRU's own for MRU, LRU's for policies that
 * follow recency, and for the chooser whichever misses less. Pages used all the time are in no
 * curve; their number is found by asking the tracker (hot_pages). mm/policy/divide/demand.h derives
 * from both what a program needs. From one look to the next a pool is known by its address only; a
 * pool that has ended meanwhile is left out.
 */
#include "mm/pool/divide.h"
#include "hpm/path/path.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/trace/telemetry.h"
#include "mm/policy/divide/demand.h"
#include "mm/pool/args.h"
#include "mm/pool.h"
#include "mm/pool/reclaim.h"
#include "mm/policy/divide/plan.h"
#include "mm/space.h"
#include "mm/track/curve.h"
#include "mm/track/track.h"

#define HOT_AT_ONCE   64   /* nodes looked at in one hold of the pool's lock */
#define HOT_LOOKS_MAX 2048 /* nodes looked at in all */
#define PAGES_MIN     32   /* frames that every pool keeps */
#define MOVED_PART    8    /* in an epoch at most 1/8 of memory moves */
/* epochs in which a move of pages must pay off; also the most work that is remembered, in epochs */
#define LASTS 64
/* accesses that are remembered of each pool, at most, for each page of memory */
#define ENOUGH    4
#define SOON_PART 32 /* hot pages are those used within 1/32 of an epoch */
/* lost_more and lost_less of struct pool_division are for 1/8 of the pool's pages more and less */
#define WORTH_PART    8
#define GAIN_PERMILLE 20 /* improvement that a new plan must bring */

/* What is remembered of a pool from look to look. */
struct past {
    struct pool *of; /* NULL: a free entry */
    uint32_t pid, epochs, spacing, held;
    uint64_t waited_us; /* that its threads waited, between the last two looks */
    bool seen;          /* in this look */
    struct demand demand;
};

static struct division {
    unsigned pools;
    uint32_t memory, spacing;   /* pages */
    uint64_t now_ns;            /* time of this look */
    uint64_t faults, waited_us; /* of all pools, since the last look */
    uint64_t fault_us;          /* mean time of a fault, when there last were any */
    /* when the plan was made; recent mean of how long plans lasted */
    uint64_t planned_ns, lasts_us;
    int error; /* why the last look could not divide memory, or 0 */
    struct past past[DIVIDE_POOLS_MAX];
    struct past *of[DIVIDE_POOLS_MAX];
    struct divide_pool pool[DIVIDE_POOLS_MAX];
    struct divide_room room;
    uint32_t asked[DEMAND_ASKS_MAX]; /* pages, and the misses with them, for demand_add */
    uint64_t misses[DEMAND_ASKS_MAX];
    char plan[DIVIDE_POOLS_MAX * sizeof("4294967295:4294967295")]; /* as printed */
} * division;                                                      /* used by the thread only */

bool paging_divides(void)
{
    return mem_goal != DIVIDE_EVEN;
}

/* Returns the misses of s, which has a curve, in an epoch with `pages`, under its pool's policy. */
static uint64_t misses_with(const struct space *s, uint32_t pages)
{
    uint64_t lru = track_curve_misses(s, MRC_LRU, pages);

    if (!s->pool->share.mru_decides)
        return lru;
    uint64_t mru = track_curve_misses(s, MRC_MRU, pages);
    return s->pool->ops == &replace_mru ? mru : MIN(lru, mru);
}

/* ---- Hot pages ------------------------------------------------------------------------------- */

/* Stores the page numbers of those of the nodes from, from + step, ... that are mapped in s, up to
 * HOT_AT_ONCE nodes on. Returns their number. */
static unsigned mapped_pages(struct pool *p, const struct space *s, uint32_t from, uint32_t step,
                             uint64_t *page)
{
    unsigned n = 0;
    bool irq = spin_lock(&p->lock);

    for (uint32_t i = 0; i < HOT_AT_ONCE && from + i * step < p->capacity; i++) {
        const struct node *node = &p->nodes[from + i * step];
        if (node->state == NODE_HERE && node->lineage == s->lineage)
            page[n++] = node->page;
    }
    spin_unlock(&p->lock, irq);
    return n;
}

/* Returns the number of pages of s, which has a curve, that are mapped and were used since the last
 * call without being logged, as the tracker knows. Pages that the curve has seen lately do not
 * count, unless most of the epoch's accesses were first uses. Of a large pool only every `step`-th
 * node is looked at, and the result is scaled up. In the turn of track_each_curve, no lock held. */
static uint32_t hot_pages(struct pool *p, struct space *s)
{
    uint64_t page[HOT_AT_ONCE];
    uint32_t hot = 0, capacity = __atomic_load_n(&p->capacity, __ATOMIC_RELAXED);
    /* odd, because every other page may be hot */
    uint32_t step = (capacity + HOT_LOOKS_MAX - 1) / HOT_LOOKS_MAX | 1;
    unsigned shift = track_curve_shift(s);
    bool mostly_new = track_curve_first_uses(s);

    for (uint32_t from = 0; from < capacity; from += HOT_AT_ONCE * step) {
        unsigned n = mapped_pages(p, s, from, step, page);
        for (unsigned i = 0; i < n; i++)
            hot += path_sampled(page[i], shift) && (mostly_new || !track_curve_tells(s, page[i])) &&
                   track_hides(s, page[i] << PAGE_SHIFT);
    }
    return (uint32_t)MIN((uint64_t)hot * step << shift, (uint64_t)capacity);
}

/* ---- What is remembered ---------------------------------------------------------------------- */

/* Returns what is remembered of the pool of s, a new entry if nothing is, or NULL if there is no
 * free entry. */
static struct past *past_of(const struct space *s)
{
    struct division *d = division;
    struct past *nobodys = NULL;

    for (unsigned i = 0; i < DIVIDE_POOLS_MAX; i++) {
        struct past *past = &d->past[i];
        if (past->of == s->pool && past->pid == s->pid && past->spacing == d->spacing)
            return past;
        if (!past->of)
            nobodys = past;
    }
    if (nobodys)
        *nobodys = (struct past){.of = s->pool, .pid = s->pid, .spacing = d->spacing};
    return nobodys;
}

/* Notes how long the pool's program has worked and waited for pages, since the last look or since
 * the pool began. [P] held. */
static void look_back_locked(struct pool *p, struct past *past)
{
    struct division *d = division;

    past->waited_us = (pool_held_up_locked(p, d->now_ns) - p->share.last_held_up_ns) / 1000;
    demand_passed(&past->demand, (d->now_ns - MIN(p->share.last_look_ns, d->now_ns)) / 1000,
                  past->waited_us);
    d->faults += p->stats.major_faults - p->share.last_faults;
    d->waited_us += past->waited_us;
    p->share.last_faults = p->stats.major_faults;
    p->share.last_held_up_ns = p->held_up.ns;
    p->share.last_look_ns = d->now_ns;
}

/* Adds the curve of s to its demand if an epoch has ended since the last look. `held`: frames that
 * the pool has now. */
static void remember_epoch(struct space *s, struct past *past, uint32_t held)
{
    struct division *d = division;
    const uint64_t epoch_us = mem_epoch_ms * 1000;
    uint32_t epochs = track_curve_epochs(s);

    if (!epochs || epochs == past->epochs)
        return;
    past->epochs = epochs;
    struct demand_epoch e = {.misses = d->misses,
                             .spacing = d->spacing,
                             .hot = hot_pages(s->pool, s),
                             .soon_us = epoch_us / SOON_PART,
                             .begins = track_curve_first_uses(s),
                             .pages = track_curve_pages(s),
                             .has = MIN(held, past->held),
                             .accesses = ENOUGH * (uint64_t)d->memory,
                             .work = LASTS * epoch_us};
    unsigned asks = demand_asks(&past->demand, &e, d->asked);
    for (unsigned i = 0; i < asks; i++)
        d->misses[i] = misses_with(s, d->asked[i]);
    demand_add(&past->demand, &e);
}

static struct past *past_of_own(const struct space *s)
{
    return !s->pool->global ? past_of(s) : NULL;
}

static void note_hot_pages(struct space *s, UNUSED void *arg)
{
    struct past *past = past_of_own(s);

    if (past)
        demand_hot(&past->demand, hot_pages(s->pool, s));
}

/* Tells whether the pool is in the plan: by the curve of the first of its spaces that has one. */
static bool has_pool(const struct division *d, const struct pool *p)
{
    unsigned i = 0;

    while (i < d->pools && d->of[i]->of != p)
        i++;
    return i < d->pools;
}

static void add_pool(struct space *s, UNUSED void *arg)
{
    struct division *d = division;
    struct pool *p = s->pool;
    struct past *past = d->pools < DIVIDE_POOLS_MAX && !has_pool(d, p) ? past_of_own(s) : NULL;

    if (!past)
        return;
    past->seen = true;
    bool irq = spin_lock(&p->lock);
    uint32_t target = p->share.target, planned = p->share.planned, held = p->frames - p->leaving;
    bool bound = p->share.bound;
    look_back_locked(p, past);
    spin_unlock(&p->lock, irq);
    remember_epoch(s, past, held);
    past->held = held;
    d->of[d->pools] = past;
    d->pool[d->pools++] = (struct divide_pool){
        .misses = past->demand.misses,
        .points = past->epochs ? DIVIDE_POINTS : 0,
        .spacing = d->spacing,
        .work = MIN(MAX(past->demand.work, (uint64_t)1), DIVIDE_WORK_MAX),
        .seen = DIVIDE_SEEN_UNKNOWN,
        .minimum = MIN((uint32_t)PAGES_MIN, d->memory / DIVIDE_POOLS_MAX),
        .weight = p->share.weight,
        .high = p->share.rate_max,
        .pages = target,
        .planned = planned,
        .bound = bound,
        .held = held,
    };
}

/* Returns what the plan is worth to the pool, for reports. */
static struct pool_division worth_of(const struct divide_pool *s)
{
    uint32_t step = MAX(s->planned / WORTH_PART, 1u);

    return (struct pool_division){
        .goal = divide_goal_names[mem_goal],
        .step = step,
        .lost = divide_lost(s, s->planned, division->memory),
        .lost_more = divide_lost(s, s->planned + step, division->memory),
        .lost_less = divide_lost(s, s->planned - MIN(step, s->planned), division->memory),
    };
}

static void record_plan(unsigned i, uint32_t before, const struct pool_division *worth)
{
    const struct divide_pool *s = &division->pool[i];

    telemetry_memory_plan(division->of[i]->pid, worth->goal,
                          &(struct telemetry_plan){.before = before,
                                                   .planned = s->planned,
                                                   .target = s->pages,
                                                   .hot = worth->hot,
                                                   .waited_us = division->of[i]->waited_us,
                                                   .lost = worth->lost,
                                                   .step = worth->step,
                                                   .lost_more = worth->lost_more,
                                                   .lost_less = worth->lost_less});
}

static void apply_plan(struct pool *p, UNUSED void *arg)
{
    struct division *d = division;

    for (unsigned i = 0; i < d->pools; i++) {
        if (d->of[i]->of != p)
            continue;
        struct pool_division worth = worth_of(&d->pool[i]);
        worth.hot = d->of[i]->demand.hot;
        bool irq = spin_lock(&p->lock);
        uint32_t before = p->share.planned;
        p->share.planned = d->pool[i].planned;
        p->share.division = worth;
        spin_unlock(&p->lock, irq);
        if (before != d->pool[i].planned)
            record_plan(i, before, &worth);
        /* 0 would be an even part */
        pool_set_target(p, MAX(d->pool[i].pages, 1u), d->pool[i].bound);
    }
}

static void print_plan(const struct divide_report *report)
{
    struct division *d = division;
    uint64_t ms = arch_clock_ns() / NS_PER_MS;
    size_t n = 0;

    for (unsigned i = 0; i < d->pools; i++)
        n += ksnprintf(&d->plan[n], sizeof(d->plan) - n, "%s%u:%u", i ? "," : "", d->of[i]->pid,
                       d->pool[i].planned);
    kprintf(
        "memory: t=%llu.%03llu goal=%s pages=%u moved=%u spare=%u cost=%llu best=%llu plan=%s\n",
        (unsigned long long)ms / 1000, (unsigned long long)ms % 1000, divide_goal_names[mem_goal],
        d->memory, report->moved, d->room.planned_spare, (unsigned long long)report->cost,
        (unsigned long long)report->cost_best, d->plan);
}

/* Prints an error when it begins, not at every look. */
static void say_error(int error)
{
    struct division *d = division;

    if (error && error != d->error)
        kprintf("memory: %u pages cannot be divided among %u pools (error %d): they keep what they "
                "have\n",
                d->memory, d->pools, -error);
    d->error = error;
}

/* Returns how long a plan may be assumed to hold: as long as plans have held lately, or as this one
 * has held already. Where two plans take turns because each is predicted to be better than it turns
 * out to be, this makes moves pay off sooner. */
static uint64_t lasts_us(void)
{
    const struct division *d = division;
    uint64_t most = LASTS * mem_epoch_ms * 1000, so_far = (d->now_ns - d->planned_ns) / 1000;

    return MIN(MAX(d->lasts_us, so_far), most);
}

static void note_plan(void)
{
    struct division *d = division;

    d->lasts_us = (3 * lasts_us() + MIN((d->now_ns - d->planned_ns) / 1000, lasts_us())) / 4;
    d->planned_ns = d->now_ns;
}

static void divide_memory(void)
{
    struct division *d = division;
    const struct divide_config config = {
        .goal = (enum divide_goal)mem_goal,
        .step = d->spacing,
        .move_max = MAX(d->memory / MOVED_PART, 1u),
        .hysteresis_permil = GAIN_PERMILLE,
        .lasts = lasts_us(),
    };
    struct divide_report report;

    if (d->faults)
        d->fault_us = MIN(MAX(d->waited_us / d->faults, (uint64_t)1), DIVIDE_WORK_MAX);
    for (unsigned i = 0; i < d->pools; i++)
        d->pool[i].fault_time = d->fault_us;
    if (!d->pools)
        return;
    int error = divide_plan(&d->room, &config, d->pool, d->pools, d->memory, &report);
    say_error(error);
    if (error)
        return;
    pools_each(apply_plan, NULL);
    if (report.replanned) {
        note_plan();
        print_plan(&report);
    }
}

/* Frees the entries of pools that have ended, because a new pool may have the same address. */
static void forget_ended(void)
{
    for (unsigned i = 0; i < DIVIDE_POOLS_MAX; i++) {
        struct past *past = &division->past[i];
        if (!past->seen)
            past->of = NULL;
        past->seen = false;
    }
}

static void divide_for_ever(UNUSED void *arg)
{
    const uint64_t epoch_ns = mem_epoch_ms * NS_PER_MS, soon_ns = epoch_ns / SOON_PART;

    for (;;) {
        sched_sleep_until(arch_clock_ns() + epoch_ns - soon_ns);
        division->memory = pools_memory();
        division->spacing = MAX((division->memory + DIVIDE_POINTS - 2) / (DIVIDE_POINTS - 1), 1u);
        track_deliver();
        track_each_curve(note_hot_pages, NULL);
        sched_sleep_until(arch_clock_ns() + soon_ns);
        division->pools = 0;
        division->faults = division->waited_us = 0;
        division->now_ns = arch_clock_ns();
        track_deliver();
        track_each_curve(add_pool, NULL);
        divide_memory();
        forget_ended();
    }
}

void divide_start(void)
{
    if (!mem_goal)
        return;
    division = area_alloc(sizeof(*division));
    if (division)
        division->lasts_us = LASTS * mem_epoch_ms * 1000;
    if (!division || thread_create_kernel("divide", divide_for_ever, NULL, NULL))
        kprintf("memory: no memory to divide it: each pool has an even part\n");
}
