/*
 * See divide.h.  Once an epoch (mem.epoch_ms) the curves of all watched spaces are read, mm/share.h decides, and each pool is told its
 * target: so many frames it keeps when memory is short.  A pool may have more as long as nobody misses them.
 *
 * A curve is of the policy its pool replaces by: MRU's own, LRU's for all that follow recency, and for the chooser whichever misses less.
 * Pages that are used all the time are in no curve (mm/hot.c).  How often they are used is seen from how many are used again in a small part of
 * an epoch.
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

#define PAGES_MIN     32 /* that every pool keeps          */
#define MOVED_PART    8  /* of memory, in an epoch, at most */
#define LASTS         64 /* epochs in which moving pages must have paid; so much is remembered at most */
#define ENOUGH        4  /* accesses to a page, of which memory has so many: no more are remembered    */
#define FADES         8  /* looks in which pace is forgotten */
#define SOON_PART     32 /* of an epoch, in which hot pages are used again */
#define WORTH_PART    8  /* of what a pool has, for people: what it would gain by so much, or lose */
#define GAIN_PERMILLE 20 /* that a new plan must bring      */

/* What is remembered of a pool. */
struct past {
    struct pool *of; /* as of the last look; NULL: nobody's */
    uint32_t pid, epochs, spacing;
    uint64_t waited_us;    /* between the last two looks */
    uint64_t epoch_us;     /* so long was that */
    uint64_t instructions; /* by then                        */
    uint64_t executed;     /* of those, fading               */
    int64_t worked_us;     /* meanwhile, fading              */
    bool seen;             /* in this look                   */
    uint32_t hot, asked;   /* hot pages: in the last epoch; since the last look */
    struct share_past sum;
};

static struct division {
    unsigned pools;
    uint32_t memory, spacing;   /* pages */
    uint64_t now_ns;            /* of this look                                             */
    uint64_t faults, waited_us; /* of all pools, since the last one                         */
    uint64_t fault_us;          /* that a fault took when there were any last               */
    int error;                  /* why memory could not be divided at the last look, or 0   */
    struct past past[SHARE_POOLS_MAX];
    struct past *of[SHARE_POOLS_MAX];
    struct share_pool pool[SHARE_POOLS_MAX];
    struct share room;
} * division; /* the thread's own */

static uint64_t (*instructions_of)(uint32_t pid);

void divide_counts(uint64_t (*instructions)(uint32_t pid))
{
    instructions_of = instructions;
}

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

/* What is remembered of the space's pool, if anything. */
static struct past *past_of(const struct space *s)
{
    struct division *d = division;
    struct past *nobodys = NULL;

    for (unsigned i = 0; i < SHARE_POOLS_MAX; i++) {
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

/* The time since the last look or since the pool began, in which its threads worked, or any of them waited for a page.  [P] held. */
static void look_back_locked(struct pool *p, struct past *past)
{
    struct division *d = division;
    int64_t epoch_us = (int64_t)((d->now_ns - MIN(p->judged_at_ns, d->now_ns)) / 1000);

    past->epoch_us = (uint64_t)epoch_us;
    past->waited_us = (p->held_up_ns - p->judged_ns) / 1000;
    past->sum.over = MAX(past->sum.over + epoch_us - (int64_t)past->waited_us, -epoch_us);
    d->faults += p->stats.major_faults - p->judged_faults;
    d->waited_us += past->waited_us;
    p->judged_faults = p->stats.major_faults;
    p->judged_ns = p->held_up_ns;
    p->judged_at_ns = d->now_ns;
}

/*
 * Misses with so many pages, where `hot` ones are not in the curve since they are used all the time, so often in all: they stay in memory, and
 * the others have the rest.
 */
static uint64_t misses_beside(const struct space *s, uint32_t hot, uint64_t uses, uint32_t pages)
{
    if (pages >= hot)
        return misses_with(s, pages - hot);
    return misses_with(s, 0) + (hot - pages) * (uses / hot);
}

/* How often hot pages were used, if so many were in the last part of an epoch: each once at least, and as often as others are on the whole. */
static uint64_t uses_of(const struct space *s, const struct past *past, uint32_t soon)
{
    uint64_t worked_us = past->sum.over > 0 ? (uint64_t)past->sum.over : 0;
    uint64_t uses = soon * worked_us * SOON_PART / (track_epoch_ms * 1000);

    return MIN(MAX(MAX(uses, past->hot), misses_with(s, 0)), (uint64_t)UINT32_MAX);
}

/* The curve of an epoch that has ended since the last look is remembered. */
static void remember(struct space *s, struct past *past)
{
    const struct division *d = division;
    uint32_t epochs = track_curve_epochs(s);
    uint64_t misses[SHARE_POINTS];

    if (!epochs || epochs == past->epochs)
        return;
    past->epochs = epochs;
    uint32_t soon = pool_hot_pages(s->pool, s);
    past->hot = MAX(past->asked, soon);
    uint64_t uses = uses_of(s, past, soon), first = track_curve_first_uses(s), begun = track_curve_pages(s);
    for (unsigned i = 0; i < SHARE_POINTS; i++) {
        uint32_t pages = i * d->spacing;
        misses[i] = misses_beside(s, past->hot, uses, pages);
        /* What a program begins with it is taken to use again, all of it before any of it. */
        if (first && pages < begun)
            misses[i] = MAX(misses[i], misses_with(s, pages) + first);
        if (i)
            misses[i] = MIN(misses[i], misses[i - 1]);
    }
    share_past_add(&past->sum, misses, ENOUGH * (uint64_t)d->memory, LASTS * track_epoch_ms * 1000);
}

static struct past *past_if_own(const struct space *s)
{
    return s->pool && !s->pool->global ? past_of(s) : NULL;
}

static void ask(struct space *s, UNUSED void *arg)
{
    struct past *past = past_if_own(s);

    if (past)
        past->asked = pool_hot_pages(s->pool, s);
}

static void add(struct space *s, UNUSED void *arg)
{
    struct division *d = division;
    struct pool *p = s->pool;
    struct past *past = d->pools < SHARE_POOLS_MAX ? past_if_own(s) : NULL;

    if (!past)
        return;
    past->seen = true;
    bool irq = spin_lock(&p->lock);
    uint32_t target = p->target, planned = p->planned, held = p->frames - p->leaving;
    look_back_locked(p, past);
    spin_unlock(&p->lock, irq);
    remember(s, past);
    d->of[d->pools] = past;
    d->pool[d->pools++] = (struct share_pool){
        .misses = past->sum.misses,
        .points = past->epochs ? SHARE_POINTS : 0,
        .spacing = d->spacing,
        .work = MIN(MAX(past->sum.work, (uint64_t)1), SHARE_WORK_MAX),
        .seen = SHARE_SEEN_UNKNOWN,
        .minimum = MIN((uint32_t)PAGES_MIN, d->memory / SHARE_POOLS_MAX),
        .weight = p->weight,
        .high = p->rate_max,
        .pages = target,
        .planned = planned,
        .held = held,
    };
}

/* What its plan is worth to the pool, for people to read. */
static struct pool_division worth_of(struct share_pool *s)
{
    uint32_t step = MAX(s->planned / WORTH_PART, 1u);

    s->weight = 1;
    s->value = 0;
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

    telemetry_memory_plan(division->of[i]->pid, worth->goal,
                          &(struct telemetry_plan){.before = before,
                                                   .planned = s->planned,
                                                   .target = s->pages,
                                                   .waited_us = division->of[i]->waited_us,
                                                   .lost = worth->lost,
                                                   .step = worth->step,
                                                   .lost_more = worth->lost_more,
                                                   .lost_less = worth->lost_less});
}

static void tell(struct pool *p, UNUSED void *arg)
{
    struct division *d = division;

    for (unsigned i = 0; i < d->pools; i++) {
        if (d->of[i]->of != p)
            continue;
        struct pool_division worth = worth_of(&d->pool[i]);
        worth.hot = d->of[i]->hot;
        bool irq = spin_lock(&p->lock);
        uint32_t before = p->planned;
        p->planned = d->pool[i].planned;
        p->division = worth;
        spin_unlock(&p->lock, irq);
        if (before != d->pool[i].planned)
            record(i, before, &worth);
        pool_set_target(p, MAX(d->pool[i].pages, 1u)); /* 0 would be an even part */
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
        kprintf("%s%u:%u", i ? "," : "", d->of[i]->pid, d->pool[i].planned);
    kprintf("\n");
}

/* Said when it begins, and not at every look. */
static void say_error(int error)
{
    struct division *d = division;

    if (error && error != d->error)
        kprintf("memory: %u pages cannot be divided among %u pools (error %d): they keep what they have\n",
                d->memory, d->pools, -error);
    d->error = error;
}

/* Instructions in a ms of work; 0: not known.  Waits are counted when they end, so that an epoch may have less work than none. */
static uint64_t pace_of(struct past *past)
{
    uint64_t now = instructions_of(past->pid), before = past->instructions;

    past->instructions = now;
    if (!before || now < before)
        return 0;
    past->executed += now - before - past->executed / FADES;
    past->worked_us += (int64_t)past->epoch_us - (int64_t)past->waited_us - past->worked_us / FADES;
    if (past->worked_us < (int64_t)(past->epoch_us / FADES))
        return 0;
    return past->executed * 1000 / (uint64_t)past->worked_us;
}

/* Throughput is of instructions: what a pool's speed is worth, by the fastest's. */
static void value(void)
{
    struct division *d = division;
    uint64_t pace[SHARE_POOLS_MAX], most = 1;

    for (unsigned i = 0; i < d->pools; i++) {
        pace[i] = pace_of(d->of[i]);
        most = MAX(most, pace[i]);
    }
    for (unsigned i = 0; i < d->pools; i++)
        d->pool[i].value = pace[i] ? (uint32_t)MAX(pace[i] * SHARE_VALUE_MAX / most, (uint64_t)1) : 0;
}

static void divide(void)
{
    struct division *d = division;
    const struct share_config config = {
        .goal = (enum share_goal)(memory_goal - 1),
        .step = d->spacing,
        .move_max = MAX(d->memory / MOVED_PART, 1u),
        .hysteresis_permil = GAIN_PERMILLE,
        .lasts = LASTS * track_epoch_ms * 1000,
    };
    struct share_report report;

    if (d->faults)
        d->fault_us = MIN(MAX(d->waited_us / d->faults, (uint64_t)1), SHARE_WORK_MAX);
    for (unsigned i = 0; i < d->pools; i++)
        d->pool[i].fault_time = d->fault_us;
    if (!d->pools)
        return;
    value();
    int error = share_epoch(&d->room, &config, d->pool, d->pools, d->memory, &report);
    say_error(error);
    if (error)
        return;
    pools_each(tell, NULL);
    if (report.replanned)
        print(&report);
}

/* What is remembered of pools that have ended: others may have their addresses now. */
static void forget_ended(void)
{
    for (unsigned i = 0; i < SHARE_POOLS_MAX; i++) {
        struct past *past = &division->past[i];
        if (!past->seen)
            past->of = NULL;
        past->seen = false;
    }
}

static void divide_for_ever(UNUSED void *arg)
{
    const uint64_t epoch_ns = track_epoch_ms * NS_PER_MS, soon_ns = epoch_ns / SOON_PART;

    for (;;) {
        sched_sleep_until(arch_clock_ns() + epoch_ns - soon_ns);
        division->memory = pools_memory();
        division->spacing = MAX((division->memory + SHARE_POINTS - 2) / (SHARE_POINTS - 1), 1u);
        track_deliver();
        track_each_curve(ask, NULL);
        sched_sleep_until(arch_clock_ns() + soon_ns);
        division->pools = 0;
        division->faults = division->waited_us = 0;
        division->now_ns = arch_clock_ns();
        track_deliver();
        track_each_curve(add, NULL);
        divide();
        forget_ended();
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
    thread_start(t);
    thread_put(t);
}
