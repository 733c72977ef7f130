/*
 * CPUs within chips: threads of a cluster share a core and its first-level cache, as far as cores
 * and CPUs stay even.
 *
 * Each core gets its part of the chip's threads; if they do not divide evenly, some cores get one
 * more. Threads that may not use all CPUs of their chip choose first. Clusters follow, the largest
 * first. A cluster takes the core that holds all of it, among these the core with most of its
 * threads already, and then the one with the least room left. All other threads keep their core if
 * they can. Of these, threads that hardly run take no room.
 */
#include "sched/sharing/policy/assign.h"

#define NO_CORE UINT32_MAX
#define NO_CPU  UINT32_MAX

#define IDLE_LOAD (ASSIGN_LOAD_FULL / 16) /* a thread with less load hardly runs */

static bool takes_room(const struct placement *p, const struct assign_input *in, unsigned t)
{
    return p->unit[p->unit_of[t]].kind == UNIT_CLUSTER || in->thread[t].load >= IDLE_LOAD;
}

/* ---- cores ----------------------------------------------------------------------------------- */

static unsigned core_now(const struct assign_input *in, unsigned t)
{
    return in->topology->cpu[in->thread[t].cpu].core;
}

/* Returns the number of threads the core gets in any case. */
static unsigned part_of(const struct placement *p, unsigned core, unsigned chip)
{
    return p->count[chip] * p->core_cpus[core] / p->chip_cpus[chip];
}

static unsigned room(const struct placement *p, unsigned core, unsigned chip)
{
    unsigned limit = part_of(p, core, chip) + (p->extra[chip] > 0);

    return limit > p->core_threads[core] ? limit - p->core_threads[core] : 0;
}

static void take_core(struct placement *p, const struct assign_input *in, unsigned t, unsigned core)
{
    unsigned chip = p->chip_of[t];

    p->core_of[t] = core;
    if (takes_room(p, in, t) && p->core_threads[core]++ >= part_of(p, core, chip) && p->extra[chip])
        p->extra[chip]--;
}

static bool emptier(const struct placement *p, unsigned a, unsigned b)
{
    return (uint64_t)p->core_threads[a] * p->core_cpus[b] <
           (uint64_t)p->core_threads[b] * p->core_cpus[a];
}

/* Returns the emptiest of the chip's cores that the thread may use; its own among equals. */
static unsigned emptiest_core(const struct placement *p, const struct assign_input *in, unsigned t)
{
    const struct assign_topology *top = in->topology;
    unsigned best =
        assign_chip_now(in, t) == p->chip_of[t] && assign_may_use(&in->thread[t], in->thread[t].cpu)
            ? core_now(in, t)
            : NO_CORE;

    for (unsigned cpu = 0; cpu < top->cpus; cpu++) {
        if (top->cpu[cpu].chip == p->chip_of[t] && assign_may_use(&in->thread[t], cpu) &&
            (best == NO_CORE || emptier(p, top->cpu[cpu].core, best)))
            best = top->cpu[cpu].core;
    }
    /* No CPU allowed: left to the scheduler. */
    return best == NO_CORE ? core_now(in, t) : best;
}

static bool may_use_whole_chip(const struct placement *p, const struct assign_input *in, unsigned t)
{
    for (unsigned cpu = 0; in->thread[t].allowed && cpu < in->topology->cpus; cpu++) {
        if (in->topology->cpu[cpu].chip == p->chip_of[t] && !assign_may_use(&in->thread[t], cpu))
            return false;
    }
    return true;
}

static bool waits(const struct placement *p, unsigned t, unsigned u, unsigned chip)
{
    return p->unit_of[t] == u && p->chip_of[t] == chip && p->core_of[t] == NO_CORE;
}

/* Returns whether core a is better than b for `threads` threads of a unit; p->mates are the unit's
 * threads already on each core. */
static bool better_core(const struct placement *p, unsigned chip, unsigned threads, unsigned a,
                        unsigned b)
{
    unsigned room_a = room(p, a, chip), room_b = room(p, b, chip);

    if (MIN(room_a, threads) != MIN(room_b, threads))
        return room_a > room_b;
    return p->mates[a] != p->mates[b] ? p->mates[a] > p->mates[b] : room_a < room_b;
}

static unsigned core_for(const struct placement *p, const struct assign_input *in, unsigned chip,
                         unsigned threads)
{
    unsigned best = NO_CORE;

    for (unsigned core = 0; core < in->topology->cores; core++) {
        if (p->core_chip[core] == chip && room(p, core, chip) &&
            (best == NO_CORE || better_core(p, chip, threads, core, best)))
            best = core;
    }
    ASSERT(best != NO_CORE); /* parts and extra together hold the chip's threads */
    return best;
}

/* Assigns a cluster's threads on one chip, core by core. A thread that is on the core already goes
 * before others. */
static void assign_cluster_on_chip(struct placement *p, const struct assign_input *in, unsigned u,
                                   unsigned chip)
{
    unsigned left = 0;

    memset(p->mates, 0, in->topology->cores * sizeof *p->mates);
    for (unsigned t = 0; t < in->threads; t++) {
        if (waits(p, t, u, chip)) {
            left++;
            p->mates[core_now(in, t)]++;
        }
    }
    while (left) {
        unsigned core = core_for(p, in, chip, left), free = room(p, core, chip);
        for (unsigned coming = 0; coming < 2; coming++) {
            for (unsigned t = 0; t < in->threads && free; t++) {
                if (waits(p, t, u, chip) && (coming || core_now(in, t) == core)) {
                    take_core(p, in, t, core);
                    free--;
                    left--;
                }
            }
        }
    }
}

static bool can_keep_core(const struct placement *p, const struct assign_input *in, unsigned t,
                          bool surely)
{
    unsigned core = core_now(in, t), chip = p->chip_of[t];

    if (chip != assign_chip_now(in, t) || p->core_of[t] != NO_CORE)
        return false;
    return !takes_room(p, in, t) ||
           (surely ? p->core_threads[core] < part_of(p, core, chip) : room(p, core, chip) > 0);
}

/* Threads keep their core, first those that fit into its part, then those for which there is still
 * room. The others then choose. */
static void assign_others(struct placement *p, const struct assign_input *in)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned t = 0; t < in->threads; t++) {
            if (can_keep_core(p, in, t, pass == 0))
                take_core(p, in, t, core_now(in, t));
        }
    }
    for (unsigned t = 0; t < in->threads; t++) {
        if (p->core_of[t] == NO_CORE)
            take_core(p, in, t, emptiest_core(p, in, t));
    }
}

static void choose_cores(struct placement *p, const struct assign_input *in, unsigned units)
{
    const struct assign_topology *top = in->topology;

    memset(p->count, 0, top->chips * sizeof *p->count);
    memset(p->core_threads, 0, top->cores * sizeof *p->core_threads);
    for (unsigned t = 0; t < in->threads; t++) {
        p->count[p->chip_of[t]] += takes_room(p, in, t);
        p->core_of[t] = NO_CORE;
    }
    memcpy(p->extra, p->count, top->chips * sizeof *p->extra);
    for (unsigned core = 0; core < top->cores; core++)
        p->extra[p->core_chip[core]] -= part_of(p, core, p->core_chip[core]);
    for (unsigned t = 0; t < in->threads; t++) {
        if (!may_use_whole_chip(p, in, t))
            take_core(p, in, t, emptiest_core(p, in, t));
    }
    for (unsigned i = 0; i < units && p->unit[p->order[i]].kind == UNIT_CLUSTER; i++) {
        for (unsigned chip = 0; chip < top->chips; chip++)
            assign_cluster_on_chip(p, in, p->order[i], chip);
    }
    assign_others(p, in);
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

static void take_cpu(struct placement *p, const struct assign_input *in, unsigned t, unsigned cpu)
{
    p->choice[t].cpu = cpu;
    p->cpu_threads[cpu] += takes_room(p, in, t);
}

/* Returns the CPU of the thread's core with the fewest threads; its own among equals. */
static unsigned emptiest_cpu(const struct placement *p, const struct assign_input *in, unsigned t)
{
    const struct assign_thread *thread = &in->thread[t];
    unsigned best = thread->cpu;
    bool found = core_now(in, t) == p->core_of[t] && assign_may_use(thread, best);

    for (unsigned cpu = 0; cpu < in->topology->cpus; cpu++) {
        if (in->topology->cpu[cpu].core == p->core_of[t] && assign_may_use(thread, cpu) &&
            (!found || p->cpu_threads[cpu] < p->cpu_threads[best])) {
            best = cpu;
            found = true;
        }
    }
    return best;
}

/* Threads keep their CPU if it has less than its part of the core's threads. The others then
 * choose. */
static void choose_cpus(struct placement *p, const struct assign_input *in)
{
    memset(p->cpu_threads, 0, in->topology->cpus * sizeof *p->cpu_threads);
    for (unsigned t = 0; t < in->threads; t++) {
        unsigned cpu = in->thread[t].cpu, core = p->core_of[t];
        p->choice[t].cpu = NO_CPU;
        if (core == core_now(in, t) && assign_may_use(&in->thread[t], cpu) &&
            p->cpu_threads[cpu] < MAX(p->core_threads[core] / p->core_cpus[core], 1u))
            take_cpu(p, in, t, cpu);
    }
    for (unsigned t = 0; t < in->threads; t++) {
        if (p->choice[t].cpu == NO_CPU)
            take_cpu(p, in, t, emptiest_cpu(p, in, t));
    }
}

void assign_on_cpus(struct placement *p, const struct assign_input *in, unsigned units)
{
    choose_cores(p, in, units);
    choose_cpus(p, in);
}
