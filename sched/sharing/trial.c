/*
 * Placements on trial. Before a placement by detection it is remembered where each thread is. If
 * the process then waits more for other chips' caches than before, the threads go back there
 * (policy/assign_trial.h). A trial ends undecided when the process's threads change: then so may
 * the stalls, for other reasons.
 */
#include "kernel/trace/telemetry.h"
#include "sched/sharing/internal.h"

/* Time after a placement in which the stalls say nothing: threads move, and fetch what they use. */
#define SETTLE_NS (2 * NS_PER_MS)

static bool same_threads(const struct sharing_process *p)
{
    return p->changed_ns <= p->placed_ns && p->count == p->placed_count;
}

/* Notes where each thread is. Locked. */
static void remember_locked(struct sharing_process *p)
{
    list_for_each (it, &p->members) {
        struct thread *t = container_of(it, struct thread, sharing.link);
        t->sharing.before = (struct sharing_spot){__atomic_load_n(&t->cpu, __ATOMIC_RELAXED),
                                                  t->sharing.chip, t->sharing.cluster};
    }
    p->placed_count = p->count;
}

int sharing_place_on_trial(struct sharing_process *p, struct sharing_placement *out)
{
    bool irq = spin_lock(&sharing_lock);
    bool extends = assign_trial_is_on(&p->trial) && !p->taken_back && same_threads(p);

    p->placed_ns = arch_clock_ns();
    if (!extends)
        remember_locked(p);
    spin_unlock(&sharing_lock, irq);
    int err = sharing_place(p, p->detection, out);
    if (err || !out->moved)
        return err;
    p->taken_back = false;
    if (extends)
        assign_trial_extend(&p->trial);
    else
        assign_trial_begin(&p->trial, p->remote_permille);
    return 0;
}

bool sharing_trial_look(struct sharing_process *p, uint64_t since_ns)
{
    unsigned threshold = (unsigned)sched_remote_pct * 10;

    if (!assign_trial_is_on(&p->trial))
        return false;
    if (!same_threads(p)) {
        p->trial.looks_left = 0;
        return false;
    }
    return since_ns >= p->placed_ns + SETTLE_NS &&
           assign_trial_look(&p->trial, p->remote_permille, threshold) == ASSIGN_TRIAL_FAILED;
}

/* Sends a thread back. Locked. */
static void put_back_locked(const struct sharing_process *p, struct thread *t,
                            struct sharing_placement *out)
{
    const struct sharing_spot *to = &t->sharing.before;
    unsigned from = __atomic_load_n(&t->cpu, __ATOMIC_RELAXED);

    t->sharing.chip = to->chip;
    t->sharing.cluster = to->cluster;
    sched_set_home(t, to->chip);
    out->threads++;
    if (from == to->cpu || sched_migrate(t, to->cpu))
        return;
    telemetry_sharing_placed(p->pid, t->tid, to->cluster, (int)to->chip, from, to->cpu);
    out->moved++;
    out->crossed += sched_topology()->of[from].chip != sched_topology()->of[to->cpu].chip;
}

void sharing_take_back(struct sharing_process *p, struct sharing_placement *out)
{
    *out = (struct sharing_placement){.verdict = ASSIGN_MOVE};
    bool irq = spin_lock(&sharing_lock);
    if (same_threads(p))
        list_for_each (it, &p->members)
            put_back_locked(p, container_of(it, struct thread, sharing.link), out);
    p->placed_ns = arch_clock_ns();
    spin_unlock(&sharing_lock, irq);
    p->taken_back = true;
    assign_trial_extend(&p->trial);
}
