/*
 * Placement by sharing: see assign.h.
 *
 * Threads that move together are a unit:
 *   - a cluster;
 *   - the silent threads of one chip that were in one cluster before, or were never seen to share
 *     (a group that sits on one chip gives no samples, and must not be torn apart);
 *   - a thread that shares with no other.
 * Clusters choose first, the largest first, each the least loaded chip. As chips are alike,
 * clusters are then exchanged while that saves migrations. Silent units follow, then single threads
 * of clusters that fit on no chip as a whole, then threads that share with no other; all of these
 * stay where they are unless the chip is full. A chip is full when one more would exceed both its
 * fair part of the load plus the slack (one thread at least) and one thread per CPU.
 *
 * Invariants: every thread has exactly one unit; chip_load is the sum of the loads of the units and
 * threads that have the chip.
 */
#include "sched/sharing/policy/assign.h"

#define LOAD_NOISE 16 /* loads that differ by less than 1/16 count as equal */

/* ---- memory ---------------------------------------------------------------------------------- */

#define PART(pointer, count) \
    (pointer = (void *)(memory + used), used += (count) * sizeof *(pointer))

static size_t lay_out(struct placement *p, char *memory)
{
    size_t threads = p->threads, chips = p->chips, cpus = p->cpus, used = 0;

    PART(p->stay, threads * chips);
    PART(p->chips_allowed, threads);
    PART(p->chip_load, chips);
    PART(p->chip_limit, chips);
    PART(p->unit, threads);
    PART(p->choice, threads);
    PART(p->cluster_chip, threads);
    PART(p->unit_of, threads);
    PART(p->order, threads);
    PART(p->chip_of, threads);
    PART(p->chip_cpus, chips);
    PART(p->count, chips);
    PART(p->extra, chips);
    PART(p->core_chip, cpus);
    PART(p->core_cpus, cpus);
    PART(p->core_threads, cpus);
    PART(p->mates, cpus);
    PART(p->cpu_threads, cpus);
    PART(p->core_of, threads);
    return ALIGN_UP(used, (size_t)8);
}

size_t assign_bytes(unsigned threads, unsigned cpus, unsigned chips)
{
    struct placement p = {.threads = threads, .cpus = cpus, .chips = chips};

    if (threads < 1 || threads > ASSIGN_THREADS_MAX || cpus < 1 || cpus > ASSIGN_CPUS_MAX ||
        chips < 1 || chips > ASSIGN_CHIPS_MAX)
        return 0;
    return lay_out(&p, NULL);
}

int assign_init(struct placement *p, unsigned threads, unsigned cpus, unsigned chips, void *memory,
                size_t bytes)
{
    size_t needed = assign_bytes(threads, cpus, chips);

    if (needed == 0 || !IS_ALIGNED((uintptr_t)memory, sizeof(uint64_t)))
        return -EINVAL;
    if (bytes < needed)
        return -ENOMEM;
    memset(memory, 0, needed);
    *p = (struct placement){.threads = threads, .cpus = cpus, .chips = chips};
    lay_out(p, memory);
    return 0;
}

/* ---- what there is --------------------------------------------------------------------------- */

static bool may_use_chip(const struct placement *p, unsigned t, unsigned chip)
{
    return p->chips_allowed[t] >> chip & 1;
}

static void look_at_machine(struct placement *p, const struct assign_input *in)
{
    const struct assign_topology *top = in->topology;
    uint64_t total = 0;

    ASSERT(in->threads <= p->threads && top->cpus <= p->cpus && top->chips <= p->chips);
    memset(p->chip_cpus, 0, top->chips * sizeof *p->chip_cpus);
    memset(p->core_cpus, 0, top->cores * sizeof *p->core_cpus);
    for (unsigned cpu = 0; cpu < top->cpus; cpu++) {
        p->chip_cpus[top->cpu[cpu].chip]++;
        p->core_cpus[top->cpu[cpu].core]++;
        p->core_chip[top->cpu[cpu].core] = top->cpu[cpu].chip;
    }
    for (unsigned t = 0; t < in->threads; t++) {
        total += in->thread[t].load;
        p->chips_allowed[t] = 0;
        for (unsigned cpu = 0; cpu < top->cpus; cpu++)
            p->chips_allowed[t] |= (uint64_t)assign_may_use(&in->thread[t], cpu)
                                   << top->cpu[cpu].chip;
    }
    for (unsigned k = 0; k < top->chips; k++) {
        uint64_t fair = total * p->chip_cpus[k] / top->cpus;
        uint64_t slack = MAX(fair * in->slack_permille / 1000, (uint64_t)ASSIGN_LOAD_FULL);
        p->chip_load[k] = 0;
        p->chip_limit[k] = MAX(fair + slack, (uint64_t)p->chip_cpus[k] * ASSIGN_LOAD_FULL);
    }
}

/* Returns the unit among the first `units` that has the properties of `like`, or `units`. */
static unsigned find_unit(const struct placement *p, unsigned units, const struct assign_unit *like)
{
    unsigned u = 0;

    while (u < units && (like->kind == UNIT_SINGLE || p->unit[u].kind != like->kind ||
                         p->unit[u].key != like->key || p->unit[u].from != like->from))
        u++;
    return u;
}

static unsigned form_units(struct placement *p, const struct assign_input *in, bool stated)
{
    unsigned units = 0;

    for (unsigned t = 0; t < in->threads; t++) {
        const struct assign_thread *thread = &in->thread[t];
        int cluster = stated ? thread->stated : thread->cluster;
        struct assign_unit like = {.kind = UNIT_SINGLE, .key = ASSIGN_NONE, .chip = ASSIGN_NONE};
        if (cluster != ASSIGN_NONE) {
            like.kind = UNIT_CLUSTER;
            like.key = cluster;
        } else if (thread->silent) {
            like.kind = UNIT_SILENT;
            like.key = thread->last_cluster;
            like.from = assign_chip_now(in, t);
        }
        unsigned u = find_unit(p, units, &like);
        if (u == units) {
            p->unit[units++] = like;
            memset(&p->stay[u * p->chips], 0, p->chips * sizeof *p->stay);
        }
        p->unit_of[t] = u;
        p->unit[u].size++;
        p->unit[u].load += thread->load;
        if (may_use_chip(p, t, assign_chip_now(in, t)))
            p->stay[u * p->chips + assign_chip_now(in, t)] += thread->load;
    }
    return units;
}

/* Counts silent threads as load of a cluster where they are, if they were in one cluster with
 * members of it: they pull it to their chip. */
static void drop_anchors(struct placement *p, const struct assign_input *in)
{
    for (unsigned t = 0; t < in->threads; t++) {
        int last = in->thread[t].last_cluster;
        unsigned pulled = UINT32_MAX;
        if (p->unit[p->unit_of[t]].kind != UNIT_SILENT || last == ASSIGN_NONE)
            continue;
        for (unsigned u = 0; u < in->threads; u++) {
            unsigned unit = p->unit_of[u];
            if (in->thread[u].last_cluster != last || p->unit[unit].kind != UNIT_CLUSTER ||
                unit == pulled)
                continue;
            p->stay[unit * p->chips + assign_chip_now(in, t)] += in->thread[t].load;
            pulled = unit;
        }
    }
}

static void sort_units(struct placement *p, unsigned units)
{
    for (unsigned i = 0; i < units; i++) {
        const struct assign_unit *unit = &p->unit[i];
        unsigned place = i;
        for (; place; place--) {
            const struct assign_unit *before = &p->unit[p->order[place - 1]];
            if (before->kind < unit->kind ||
                (before->kind == unit->kind && before->load >= unit->load))
                break;
            p->order[place] = p->order[place - 1];
        }
        p->order[place] = i;
    }
}

/* ---- chips for whole units ------------------------------------------------------------------- */

static bool fits(const struct placement *p, unsigned chip, uint64_t load)
{
    return p->chip_load[chip] + load <= p->chip_limit[chip];
}

/* Returns whether chip a has less load per CPU than b. */
static bool less_loaded(const struct placement *p, unsigned a, unsigned b)
{
    return p->chip_load[a] * p->chip_cpus[b] < p->chip_load[b] * p->chip_cpus[a];
}

/* Returns whether at least half of the unit's threads may run on the chip. */
static bool may_host(const struct placement *p, const struct assign_input *in, unsigned u,
                     unsigned chip)
{
    unsigned may = 0;

    for (unsigned t = 0; t < in->threads; t++)
        may += p->unit_of[t] == u && may_use_chip(p, t, chip);
    return 2 * may >= p->unit[u].size;
}

static void put_unit(struct placement *p, unsigned u, unsigned chip)
{
    p->unit[u].chip = (int)chip;
    p->chip_load[chip] += p->unit[u].load;
}

static void choose_chip(struct placement *p, const struct assign_input *in, unsigned u)
{
    const uint64_t *stay = &p->stay[u * p->chips];
    int best = ASSIGN_NONE;

    for (unsigned k = 0; k < in->topology->chips; k++) {
        if (!fits(p, k, p->unit[u].load) || !may_host(p, in, u, k))
            continue;
        if (best == ASSIGN_NONE || less_loaded(p, k, (unsigned)best) ||
            (!less_loaded(p, (unsigned)best, k) && stay[k] > stay[best]))
            best = (int)k;
    }
    if (best != ASSIGN_NONE)
        put_unit(p, u, (unsigned)best);
}

/* Returns whether more load stays in place if cluster a moves to chip `to` and cluster b (may be
 * ASSIGN_NONE) from there to a's chip, and the chips stay balanced. Loads are measured, so a little
 * more load on the fuller chip makes no difference. */
static bool exchange_helps(const struct placement *p, const struct assign_input *in, unsigned a,
                           int b, unsigned to)
{
    unsigned from = (unsigned)p->unit[a].chip;
    const uint64_t *stay_a = &p->stay[a * p->chips];
    uint64_t gain = stay_a[to], loss = stay_a[from], load_b = 0, highest, from_load, to_load;

    if (b != ASSIGN_NONE) {
        gain += p->stay[(unsigned)b * p->chips + from];
        loss += p->stay[(unsigned)b * p->chips + to];
        load_b = p->unit[b].load;
    }
    if (gain <= loss || !may_host(p, in, a, to) ||
        (b != ASSIGN_NONE && !may_host(p, in, (unsigned)b, from)))
        return false;
    from_load = p->chip_load[from] - p->unit[a].load + load_b;
    to_load = p->chip_load[to] - load_b + p->unit[a].load;
    highest = MAX(p->chip_load[from] * p->chip_cpus[to], p->chip_load[to] * p->chip_cpus[from]);
    highest += highest / LOAD_NOISE;
    return from_load <= p->chip_limit[from] && to_load <= p->chip_limit[to] &&
           MAX(from_load * p->chip_cpus[to], to_load * p->chip_cpus[from]) <= highest;
}

static void exchange(struct placement *p, unsigned a, int b, unsigned to)
{
    unsigned from = (unsigned)p->unit[a].chip;

    p->chip_load[from] -= p->unit[a].load;
    if (b != ASSIGN_NONE) {
        p->chip_load[to] -= p->unit[b].load;
        put_unit(p, (unsigned)b, from);
    }
    put_unit(p, a, to);
}

/* Makes the first exchange, or move of a single cluster, that helps. Returns whether there was
 * one. */
static bool exchange_clusters(struct placement *p, const struct assign_input *in, unsigned units)
{
    for (unsigned a = 0; a < units; a++) {
        if (p->unit[a].kind != UNIT_CLUSTER || p->unit[a].chip == ASSIGN_NONE)
            continue;
        for (unsigned to = 0; to < in->topology->chips; to++) {
            if ((int)to == p->unit[a].chip)
                continue;
            for (int b = ASSIGN_NONE; b < (int)units; b++) {
                if (b != ASSIGN_NONE &&
                    (p->unit[b].kind != UNIT_CLUSTER || p->unit[b].chip != (int)to))
                    continue;
                if (exchange_helps(p, in, a, b, to)) {
                    exchange(p, a, b, to);
                    return true;
                }
            }
        }
    }
    return false;
}

/* Gives chips to clusters and silent units. Ends, as each exchange keeps more load in place than
 * before. */
static void assign_whole_units(struct placement *p, const struct assign_input *in, unsigned units)
{
    unsigned i = 0;

    for (; i < units && p->unit[p->order[i]].kind == UNIT_CLUSTER; i++)
        choose_chip(p, in, p->order[i]);
    while (exchange_clusters(p, in, units))
        ;
    for (; i < units && p->unit[p->order[i]].kind == UNIT_SILENT; i++) {
        unsigned u = p->order[i];
        if (fits(p, p->unit[u].from, p->unit[u].load))
            put_unit(p, u, p->unit[u].from);
        else
            choose_chip(p, in, u);
    }
}

/* ---- chips for single threads ---------------------------------------------------------------- */

static bool follows_unit(const struct placement *p, unsigned t)
{
    int chip = p->unit[p->unit_of[t]].chip;

    return chip != ASSIGN_NONE && may_use_chip(p, t, (unsigned)chip);
}

static unsigned least_loaded_chip(const struct placement *p, const struct assign_input *in,
                                  unsigned t)
{
    unsigned best = UINT32_MAX;

    for (unsigned k = 0; k < in->topology->chips; k++) {
        if (may_use_chip(p, t, k) && (best == UINT32_MAX || less_loaded(p, k, best)))
            best = k;
    }
    return best == UINT32_MAX ? assign_chip_now(in, t)
                              : best; /* no CPU allowed: left to the scheduler */
}

/* Places threads of units without a chip, or with one that the thread may not use: first all that
 * can stay do, then the others move. */
static void assign_single_threads(struct placement *p, const struct assign_input *in,
                                  enum assign_unit_kind kind)
{
    for (unsigned t = 0; t < in->threads; t++) {
        unsigned now = assign_chip_now(in, t);
        if (p->unit[p->unit_of[t]].kind != kind)
            continue;
        if (follows_unit(p, t)) {
            p->chip_of[t] = (unsigned)p->unit[p->unit_of[t]].chip;
            continue;
        }
        if (p->unit[p->unit_of[t]].chip != ASSIGN_NONE)
            p->chip_load[p->unit[p->unit_of[t]].chip] -= in->thread[t].load;
        p->chip_of[t] = UINT32_MAX;
        if (may_use_chip(p, t, now) && fits(p, now, in->thread[t].load)) {
            p->chip_of[t] = now;
            p->chip_load[now] += in->thread[t].load;
        }
    }
    for (unsigned t = 0; t < in->threads; t++) {
        if (p->unit[p->unit_of[t]].kind != kind || p->chip_of[t] != UINT32_MAX)
            continue;
        p->chip_of[t] = least_loaded_chip(p, in, t);
        p->chip_load[p->chip_of[t]] += in->thread[t].load;
    }
}

/* ---- is it worth it? ------------------------------------------------------------------------- */

/* Returns how much of the sharing between the clusters' pairs of threads is within chips, in
 * thousandths: now, or with the chosen chips. */
static unsigned together(struct placement *p, const struct assign_input *in, unsigned units,
                         bool chosen)
{
    uint64_t sum = 0, total = 0;

    for (unsigned u = 0; u < units; u++) {
        uint64_t pairs = (uint64_t)p->unit[u].size * (p->unit[u].size - 1), same = 0, weight;
        if (p->unit[u].kind != UNIT_CLUSTER || pairs == 0)
            continue;
        memset(p->count, 0, p->chips * sizeof *p->count);
        for (unsigned t = 0; t < in->threads; t++) {
            if (p->unit_of[t] == u)
                p->count[chosen ? p->chip_of[t] : assign_chip_now(in, t)]++;
        }
        for (unsigned k = 0; k < in->topology->chips; k++)
            same += p->count[k] ? (uint64_t)p->count[k] * (p->count[k] - 1) : 0;
        weight = in->weight ? in->weight[p->unit[u].key] : p->unit[u].size;
        sum += weight * same * 1000 / pairs;
        total += weight;
    }
    return total ? (unsigned)(sum / total) : 1000;
}

/* ---- the policies ---------------------------------------------------------------------------- */

static enum assign_why reason(const struct placement *p, const struct assign_input *in, unsigned t)
{
    const struct assign_unit *unit = &p->unit[p->unit_of[t]];

    if (unit->chip != ASSIGN_NONE && !follows_unit(p, t))
        return ASSIGN_FORBIDDEN;
    if (p->chip_of[t] == assign_chip_now(in, t))
        return ASSIGN_STAYS;
    if (unit->kind != UNIT_CLUSTER)
        return ASSIGN_BALANCES;
    return unit->chip == ASSIGN_NONE ? ASSIGN_SPREADS : ASSIGN_JOINS;
}

static void write_choices(struct placement *p, const struct assign_input *in, unsigned units)
{
    p->verdict = ASSIGN_MOVE;
    p->migrations = 0;
    assign_on_cpus(p, in, units);
    for (unsigned t = 0; t < in->threads; t++) {
        p->choice[t].chip = in->topology->cpu[p->choice[t].cpu].chip;
        p->choice[t].why = reason(p, in, t);
        p->migrations += p->choice[t].chip != assign_chip_now(in, t);
    }
}

static bool any_thread_moves(const struct placement *p, const struct assign_input *in)
{
    for (unsigned t = 0; t < in->threads; t++) {
        if (p->chip_of[t] != assign_chip_now(in, t))
            return true;
    }
    return false;
}

static void assign_by_sharing(struct placement *p, const struct assign_input *in, bool stated,
                              unsigned min_gain)
{
    unsigned units;

    p->together_before = p->together_after = 1000;
    ASSERT(in->clusters <= p->threads);
    for (unsigned c = 0; c < in->clusters; c++)
        p->cluster_chip[c] = ASSIGN_NONE;
    look_at_machine(p, in);
    units = form_units(p, in, stated);
    drop_anchors(p, in);
    sort_units(p, units);
    if (in->topology->chips < 2 || units == 0 || p->unit[p->order[0]].kind != UNIT_CLUSTER) {
        assign_leave_all(p, in, in->topology->chips < 2 ? ASSIGN_ONE_CHIP : ASSIGN_NO_CLUSTERS);
        return;
    }
    assign_whole_units(p, in, units);
    assign_single_threads(p, in, UNIT_CLUSTER);
    assign_single_threads(p, in, UNIT_SILENT);
    assign_single_threads(p, in, UNIT_SINGLE);
    for (unsigned u = 0; u < units; u++) {
        if (p->unit[u].kind == UNIT_CLUSTER)
            p->cluster_chip[p->unit[u].key] = p->unit[u].chip;
    }
    p->together_before = together(p, in, units, false);
    p->together_after = together(p, in, units, true);
    if (!any_thread_moves(p, in) || p->together_before >= 1000)
        assign_leave_all(p, in, ASSIGN_RIGHT);
    else if (p->together_after < p->together_before + min_gain)
        assign_leave_all(p, in, ASSIGN_NO_GAIN);
    else
        write_choices(p, in, units);
}

static void by_cluster(struct placement *p, const struct assign_input *in)
{
    assign_by_sharing(p, in, false, in->min_gain_permille);
}

static void by_hand(struct placement *p, const struct assign_input *in)
{
    assign_by_sharing(p, in, true, 1);
}

const struct assign_policy assign_cluster = {"cluster", by_cluster};
const struct assign_policy assign_hand = {"hand", by_hand};
