/*
 * Placement and pulling: takes snapshots of the load, asks policy/balance.c for a decision, and
 * carries it out with the run queues locked, after checking again that the snapshot still holds.
 *
 * Which CPUs pull:
 *   - a CPU that becomes idle pulls one thread;
 *   - a busy CPU pulls at the end of a slice, at its level's interval.
 * Idle CPUs do not poll: a busy CPU that has threads to spare asks one of them to look. Threads of
 * a fixed policy never move. Threads with a home chip leave it only for a chip that is wholly idle.
 * Cache-warm threads leave their chip only after pulling has failed FAILURES_MAX times because of
 * them.
 */
#include "sched/cpuset.h"
#include "sched/runqueue.h"

#define MARGIN_PCT  117 /* Linux's imbalance_pct at the level of chips and above */
#define BUSY_FACTOR 16  /* busy CPUs balance this many times less often, as in Linux */
/* Pause of an idle CPU that found nothing to pull, before it looks again. */
#define LOOK_AGAIN_NS NS_PER_MS
#define FAILURES_MAX  2 /* from then on warm and running threads move, too */

struct snapshot {
    struct balance_cpu cpu[CPU_MAX];
    struct cpuset mask;
    struct balance_view view;
};

static void take_snapshot(struct snapshot *s, const struct cpuset *mask)
{
    const struct sched_topology *topo = sched_topology();
    unsigned n = cpu_count();

    s->mask = *mask;
    for (unsigned i = 0; i < n; i++)
        if (cpuset_has(mask, i))
            s->cpu[i] =
                (struct balance_cpu){topo->of[i].chip, topo->of[i].core, (uint16_t)rq_running(i)};
    s->view = (struct balance_view){s->cpu, s->mask.bits, n};
}

/* ---- Placement ------------------------------------------------------------------------------- */

unsigned balance_cpu_for_new(struct thread *t)
{
    struct cpuset allowed = thread_allowed(t);
    struct snapshot s;

    take_snapshot(&s, &allowed);
    return balance_place_new(&s.view, this_cpu()->index);
}

/* Returns the CPU of near's chip, which shares a cache, where a thread can run soonest: an idle
 * one, else the one with the fewest threads that want to run. BALANCE_NONE: none is allowed. */
static unsigned best_around(const struct cpuset *allowed, unsigned near, unsigned prev)
{
    const struct sched_topology *topo = sched_topology();
    struct cpuset chip = cpuset_and(allowed, &topo->chip_cpus[topo->of[near].chip]);
    struct snapshot s;

    if (cpuset_empty(&chip))
        return BALANCE_NONE;
    take_snapshot(&s, &chip);
    unsigned idle = balance_wake_idle(&s.view, near, prev);
    return idle != BALANCE_NONE ? idle : balance_wake_least(&s.view, near);
}

unsigned balance_cpu_for_woken(struct thread *t, unsigned waker)
{
    struct cpuset allowed = thread_allowed(t);
    unsigned prev = t->cpu;
    struct snapshot s;

    if (t->migrate_to != CPU_ANY && cpuset_has(&allowed, t->migrate_to))
        return t->migrate_to;
    if ((t->policy->fixed || !rq_running(prev)) && cpuset_has(&allowed, prev))
        return prev;
    struct cpuset two = cpuset_one(prev);
    cpuset_add(&two, waker);
    two = cpuset_and(&two, &allowed);
    unsigned near = prev;
    if (!cpuset_empty(&two)) {
        take_snapshot(&s, &two);
        near = balance_wake_near(&s.view, prev, waker);
    }
    unsigned cpu = best_around(&allowed, near, prev);
    if (cpu != BALANCE_NONE)
        return cpu;
    take_snapshot(&s, &allowed);
    return balance_place_new(&s.view, prev);
}

/* ---- Pulling --------------------------------------------------------------------------------- */

struct pull {
    struct runqueue *from, *to;
    enum balance_level level;
    uint64_t now_ns;
    bool chip_idle; /* nothing runs on the puller's chip */
    bool urgent;    /* move warm threads, too */
    unsigned warm;  /* threads not moved because they are warm */
};

static bool may_move(struct pull *p, const struct thread *t)
{
    const struct sched_topology *topo = sched_topology();
    unsigned to = p->to->cpu->index, chip = topo->of[to].chip;

    /* An idle thread, which has no policy, stays on its CPU. */
    if (!t->policy || t->policy->fixed || t->migrate_to != CPU_ANY || !cpuset_has(&t->affinity, to))
        return false;
    if (t->chip_home < topo->chips && t->chip_home != chip && !p->chip_idle)
        return false;
    if (p->level == BALANCE_MACHINE && !p->urgent &&
        p->now_ns - t->stopped_ns < sched_hot_us * NS_PER_US) {
        p->warm++;
        return false;
    }
    return true;
}

static const enum trace_moved moved_by[BALANCE_LEVELS] = {[BALANCE_CORE] = TRACE_PULLED_CORE,
                                                          [BALANCE_CHIP] = TRACE_PULLED_CHIP,
                                                          [BALANCE_MACHINE] = TRACE_PULLED_MACHINE};

/* Pulls up to `count` queued threads, the one that would run last (the coldest) first. Returns the
 * number moved. Both run queues locked. */
static unsigned pull_queued_locked(struct pull *p, unsigned count)
{
    unsigned moved = 0;

    for (struct ready_thread *it = ready_last(&p->from->ready), *before; it && moved < count;
         it = before) {
        struct thread *t = container_of(it, struct thread, ready);
        before = ready_before(&p->from->ready, it);
        if (!may_move(p, t))
            continue;
        telemetry_sched_migrate(t->tid, p->from->cpu->index, p->to->cpu->index, moved_by[p->level]);
        rq_move_locked(p->from, p->to, t);
        moved++;
    }
    return moved;
}

/* Asks the running thread to migrate: its own CPU hands it over at its next switch. Both run queues
 * locked. */
static void ask_running_locked(struct pull *p)
{
    struct thread *t = p->from->cpu->current;

    if (p->from->queued || !may_move(p, t))
        return;
    t->migrate_to = p->to->cpu->index;
    rq_kick_locked(p->from);
}

static bool do_pull(struct pull *p, const struct balance_move *m)
{
    unsigned moved = 0;

    p->from = &runqueues[m->from];
    rq_lock_two(p->from, p->to);
    if (!m->running) {
        moved = pull_queued_locked(p, m->count);
    } else if (p->urgent) {
        ask_running_locked(p);
    } else {
        p->warm++;
    }
    rq_unlock_two(p->from, p->to);
    return moved;
}

static struct cpuset domain(unsigned cpu, enum balance_level level)
{
    const struct sched_topology *topo = sched_topology();

    return level == BALANCE_CORE   ? topo->core_cpus[topo->of[cpu].core]
           : level == BALANCE_CHIP ? topo->chip_cpus[topo->of[cpu].chip]
                                   : cpuset_first(cpu_count());
}

static bool chip_idle(const struct snapshot *s, unsigned chip)
{
    for (unsigned i = 0; i < s->view.cpus; i++)
        if (cpuset_has(&s->mask, i) && s->cpu[i].chip == chip && s->cpu[i].running)
            return false;
    return true;
}

/* Pulls at one level. Returns whether this CPU got a thread. */
static bool pull_level(struct runqueue *rq, enum balance_level level)
{
    struct cpuset span = domain(rq->cpu->index, level), online = cpuset_first(cpu_count());
    struct balance_move m;
    struct snapshot s;

    span = cpuset_and(&span, &online);
    take_snapshot(&s, &span);
    if (!balance_find(&s.view, rq->cpu->index, level, MARGIN_PCT, &m))
        return false;
    struct pull p = {.to = rq,
                     .level = level,
                     .now_ns = arch_clock_ns(),
                     .chip_idle = chip_idle(&s, sched_topology()->of[rq->cpu->index].chip),
                     .urgent = rq->pull_failures >= FAILURES_MAX};
    bool moved = do_pull(&p, &m);
    rq->pull_failures = moved || !p.warm ? 0 : rq->pull_failures + 1;
    return moved;
}

/*
 * An idle CPU that usually idles only briefly pulls at its core's level only, unless it was asked
 * to pull: a thread from another core would soon have run where its cache is, and the thread this
 * CPU waits for would find it busy.
 */
bool balance_pull_idle(struct runqueue *rq)
{
    uint64_t now_ns = arch_clock_ns();
    bool asked = rq->asked_to_pull;

    if (rq->cpu->index >= cpu_count() || (!asked && now_ns < rq->pull_again_ns))
        return false;
    rq->asked_to_pull = false;
    unsigned levels =
        asked || rq->idle_mean_ns > sched_hot_us * NS_PER_US ? BALANCE_LEVELS : BALANCE_CHIP;
    for (enum balance_level level = BALANCE_CORE; level < levels; level++)
        if (pull_level(rq, level))
            return true;
    rq->pull_again_ns = now_ns + LOOK_AGAIN_NS;
    return false;
}

/* Asks an idle CPU that would pull from this one, if there is one, to do so. */
static void offer(struct runqueue *rq, enum balance_level level)
{
    struct cpuset span = domain(rq->cpu->index, level), online = cpuset_first(cpu_count());
    struct snapshot s;

    span = cpuset_and(&span, &online);
    take_snapshot(&s, &span);
    unsigned taker = balance_taker(&s.view, rq->cpu->index, level, MARGIN_PCT);
    if (taker == BALANCE_NONE)
        return;
    spin_lock_irqoff(&runqueues[taker].lock);
    runqueues[taker].asked_to_pull = true;
    rq_kick_locked(&runqueues[taker]);
    spin_unlock_irqoff(&runqueues[taker].lock);
}

static uint64_t interval_ns(unsigned cpu, enum balance_level level)
{
    struct cpuset span = domain(cpu, level);

    return cpuset_count(&span) * BUSY_FACTOR * NS_PER_MS;
}

void balance_tick(struct runqueue *rq, uint64_t now_ns)
{
    unsigned cpu = rq->cpu->index;

    if (cpu_count() == 1 || cpu >= cpu_count())
        return;
    for (enum balance_level level = BALANCE_CORE; level < BALANCE_LEVELS; level++) {
        bool due = rq->next_balance_ns[level] <= now_ns;
        if (due || rq->queued)
            offer(rq, level);
        if (!due)
            continue;
        rq->next_balance_ns[level] = now_ns + interval_ns(cpu, level);
        pull_level(rq, level);
    }
}
