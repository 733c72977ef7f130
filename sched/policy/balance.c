/*
 * Load balancing decisions; see balance.h.
 * Loads of groups are compared as threads per CPU by cross-multiplication, so groups may differ in
 * size. Pure: no clock, lock, allocation or register.
 */
#include "sched/policy/balance.h"

static bool in_view(const struct balance_view *v, unsigned cpu)
{
    return cpu < v->cpus && v->mask[cpu / 64] >> (cpu % 64) & 1;
}

/* Returns the number of the CPU's group within the domain of a level. */
static unsigned group_of(const struct balance_view *v, unsigned cpu, enum balance_level level)
{
    return level == BALANCE_CORE   ? cpu
           : level == BALANCE_CHIP ? v->cpu[cpu].core
                                   : v->cpu[cpu].chip;
}

/* Returns whether two CPUs are in one domain of a level: the same core, the same chip, or the
 * machine. */
static bool same_domain(const struct balance_view *v, unsigned a, unsigned b,
                        enum balance_level level)
{
    return level == BALANCE_MACHINE ||
           (level == BALANCE_CHIP && v->cpu[a].chip == v->cpu[b].chip) ||
           (level == BALANCE_CORE && v->cpu[a].core == v->cpu[b].core);
}

struct group {
    unsigned cpus, running;
};

/* The sums of all groups of a level, by number, made by looking at each CPU once. */
struct groups {
    struct group sum[BALANCE_CPUS_MAX];
};

static void sum_groups(const struct balance_view *v, enum balance_level level, struct groups *out)
{
    ASSERT(v->cpus <= BALANCE_CPUS_MAX);
    /* there are at most as many groups as CPUs */
    memset(out->sum, 0, v->cpus * sizeof(out->sum[0]));
    for (unsigned i = 0; i < v->cpus; i++) {
        if (!in_view(v, i))
            continue;
        struct group *g = &out->sum[group_of(v, i, level)];
        g->cpus++;
        g->running += v->cpu[i].running;
    }
}

/* Returns whether a has fewer running threads per CPU than b. */
static bool less_loaded(struct group a, struct group b)
{
    return a.running * b.cpus < b.running * a.cpus;
}

/* Returns a CPU of the least loaded group of `level`, within the domain of `level` that has the CPU
 * `domain`. Prefers the group of `from` among equals. */
static unsigned least_loaded(const struct balance_view *v, unsigned domain,
                             enum balance_level level, unsigned from)
{
    unsigned best = BALANCE_NONE;
    struct group best_sum = {0};
    struct groups groups;

    sum_groups(v, level, &groups);
    if (in_view(v, from) && same_domain(v, from, domain, level)) {
        best = from;
        best_sum = groups.sum[group_of(v, from, level)];
    }
    for (unsigned i = 0; i < v->cpus; i++) {
        if (!in_view(v, i) || !same_domain(v, i, domain, level))
            continue;
        struct group g = groups.sum[group_of(v, i, level)];
        if (best == BALANCE_NONE || less_loaded(g, best_sum)) {
            best = i;
            best_sum = g;
        }
    }
    return best;
}

static unsigned first(const struct balance_view *v)
{
    for (unsigned i = 0; i < v->cpus; i++)
        if (in_view(v, i))
            return i;
    panic("balance: no CPU to choose from");
}

/* Returns whether a core of the chip that has the CPU `member` runs nothing. */
static bool has_idle_core(const struct balance_view *v, unsigned member)
{
    struct groups cores;

    sum_groups(v, BALANCE_CHIP, &cores);
    for (unsigned i = 0; i < v->cpus; i++)
        if (in_view(v, i) && same_domain(v, i, member, BALANCE_CHIP) &&
            !cores.sum[v->cpu[i].core].running)
            return true;
    return false;
}

/* Returns whether a new thread keeps to its maker's chip though the chip of `least` is the least
 * loaded one. */
static bool stays_with_maker(const struct balance_view *v, unsigned from, unsigned least)
{
    struct groups chips;

    if (!in_view(v, from) || !has_idle_core(v, from))
        return false;
    sum_groups(v, BALANCE_MACHINE, &chips);
    struct group own = chips.sum[v->cpu[from].chip], other = chips.sum[v->cpu[least].chip];
    own.running -= MIN(own.running, (unsigned)BALANCE_NEAR_THREADS);
    return !less_loaded(other, own);
}

unsigned balance_place_new(const struct balance_view *v, unsigned from)
{
    unsigned chip = least_loaded(v, first(v), BALANCE_MACHINE, from);

    if (stays_with_maker(v, from, chip))
        chip = from;
    unsigned core = least_loaded(v, chip, BALANCE_CHIP, from);
    return least_loaded(v, core, BALANCE_CORE, from);
}

unsigned balance_wake_near(const struct balance_view *v, unsigned prev, unsigned waker)
{
    if (!in_view(v, waker) || prev == waker)
        return prev;
    if (!in_view(v, prev))
        return waker;
    const struct balance_cpu *p = &v->cpu[prev], *w = &v->cpu[waker];
    if (!p->running)
        return prev;
    /* Within a chip only an idle waker's CPU is better. Across chips, the woken thread must not
     * make the waker's CPU the fuller one. */
    return w->running < (p->chip == w->chip ? 1 : p->running) ? waker : prev;
}

unsigned balance_wake_idle(const struct balance_view *v, unsigned target, unsigned prev)
{
    unsigned sibling = BALANCE_NONE, any = BALANCE_NONE;
    struct groups cores;

    if (in_view(v, target) && !v->cpu[target].running)
        return target;
    if (in_view(v, prev) && !v->cpu[prev].running)
        return prev;
    sum_groups(v, BALANCE_CHIP, &cores);
    for (unsigned i = 0; i < v->cpus; i++) {
        if (!in_view(v, i) || v->cpu[i].running)
            continue;
        if (!cores.sum[v->cpu[i].core].running)
            return i;
        if (sibling == BALANCE_NONE && in_view(v, target) && v->cpu[i].core == v->cpu[target].core)
            sibling = i;
        if (any == BALANCE_NONE)
            any = i;
    }
    return sibling != BALANCE_NONE ? sibling : any;
}

unsigned balance_wake_least(const struct balance_view *v, unsigned target)
{
    unsigned best = in_view(v, target) ? target : first(v);

    for (unsigned i = 0; i < v->cpus; i++)
        if (in_view(v, i) && v->cpu[i].running < v->cpu[best].running)
            best = i;
    return best;
}

/* Returns the CPU with the most threads in the group that has the CPU `member`. */
static unsigned fullest_cpu(const struct balance_view *v, unsigned member, enum balance_level level)
{
    unsigned id = group_of(v, member, level), best = member;

    for (unsigned i = 0; i < v->cpus; i++)
        if (in_view(v, i) && group_of(v, i, level) == id &&
            v->cpu[i].running > v->cpu[best].running)
            best = i;
    return best;
}

/* A domain as a CPU sees it that has less to do than the domain's busiest group. */
struct look {
    struct groups groups;
    unsigned busiest; /* a CPU of that group; BALANCE_NONE: the view has no CPU of the domain */
    unsigned from;    /* that group's CPU with the most threads */
};

static struct group sum_of(const struct look *l, const struct balance_view *v, unsigned cpu,
                           enum balance_level level)
{
    return l->groups.sum[group_of(v, cpu, level)];
}

static void look_around(const struct balance_view *v, unsigned cpu, enum balance_level level,
                        struct look *l)
{
    sum_groups(v, level, &l->groups);
    l->busiest = BALANCE_NONE;
    for (unsigned i = 0; i < v->cpus; i++) {
        if (!in_view(v, i) || !same_domain(v, i, cpu, level))
            continue;
        if (l->busiest == BALANCE_NONE ||
            less_loaded(sum_of(l, v, l->busiest, level), sum_of(l, v, i, level)))
            l->busiest = i;
    }
    if (l->busiest != BALANCE_NONE)
        l->from = fullest_cpu(v, l->busiest, level);
}

static bool would_pull(const struct balance_view *v, const struct look *l, unsigned self,
                       enum balance_level level, unsigned margin_pct, struct balance_move *out)
{
    bool idle = v->cpu[self].running == 0;

    if (l->busiest == BALANCE_NONE)
        return false;
    struct group own = sum_of(l, v, self, level), busiest = sum_of(l, v, l->busiest, level);
    if (!less_loaded(own, busiest) ||
        (!idle && busiest.running * own.cpus * 100 <= own.running * busiest.cpus * margin_pct))
        return false;
    /* Moving this many threads makes both sides equal. It is rounded down, so the puller never
     * becomes the fuller one. */
    unsigned surplus =
        (busiest.running * own.cpus - own.running * busiest.cpus) / (own.cpus + busiest.cpus);
    if (!surplus)
        return false;
    unsigned gap = v->cpu[l->from].running - MIN(v->cpu[l->from].running, v->cpu[self].running);
    bool running = gap < 2;
    if (running && !(idle && v->cpu[l->from].running == 1))
        return false;
    *out = (struct balance_move){l->from, running ? 1 : MIN(surplus, gap / 2), running};
    return true;
}

bool balance_find(const struct balance_view *v, unsigned self, enum balance_level level,
                  unsigned margin_pct, struct balance_move *out)
{
    struct look l;

    look_around(v, self, level, &l);
    return would_pull(v, &l, self, level, margin_pct, out);
}

unsigned balance_taker(const struct balance_view *v, unsigned from, enum balance_level level,
                       unsigned margin_pct)
{
    struct balance_move m;
    struct look l;

    look_around(v, from, level, &l);
    for (unsigned i = 0; l.busiest != BALANCE_NONE && l.from == from && i < v->cpus; i++)
        if (in_view(v, i) && same_domain(v, i, from, level) && !v->cpu[i].running &&
            would_pull(v, &l, i, level, margin_pct, &m))
            return i;
    return BALANCE_NONE;
}
