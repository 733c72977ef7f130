/*
 * Placements on trial. Before a placement by detection it is remembered where each thread is. If
 * the process then waits more for other chips' caches than before, the threads go back there
 * (policy/assign_trial.h). A trial ends undecided when the process's threads change: then so may
 * the stalls, for other reasons.
 */
#include "hpm/count.h"
#include "kernel/trace/telemetry.h"
#include "sched/sharing/internal.h"

/* Time after a placement in which the stalls say nothing: threads move, and fetch what they use. */
#define SETTLE_NS (2 * NS_PER_MS)

static void look_at_thread(struct thread *t, struct hpm_remote *sum)
{
    struct hpm_remote *seen = &t->sharing.seen, now;

    hpm_read_remote(&t->hpm, &now);
    /* Estimates of hpm's open round may fall a little. */
    sum->cycles += now.cycles - MIN(now.cycles, seen->cycles);
    sum->stall += now.stall - MIN(now.stall, seen->stall);
    sum->served += now.served - MIN(now.served, seen->served);
    *seen = now;
}

static void look_at_process(struct sharing_process *p, uint64_t now_ns)
{
    uint64_t elapsed_ns = MAX(now_ns - p->looked_ns, (uint64_t)1);
    struct hpm_remote sum = {0};
    bool irq = spin_lock(&sharing_lock);

    list_for_each (it, &p->members)
        look_at_thread(container_of(it, struct thread, sharing.link), &sum);
    spin_unlock(&sharing_lock, irq);
    p->looked_ns = now_ns;
    p->remote_permille = sum.cycles ? (unsigned)(sum.stall * 1000 / sum.cycles) : 0;
    p->remote_per_ms = sum.served * NS_PER_MS / elapsed_ns;
    telemetry_sharing_watch(p->pid, p->remote_permille);
}

/* Locked. */
static bool same_threads_locked(const struct sharing_process *p)
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
    bool extends = assign_trial_is_on(&p->trial) && !p->taken_back && same_threads_locked(p);

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

/* Puts the threads back where they were before the placement, and that on trial. */
static void put_back(struct sharing_process *p, struct sharing_placement *out)
{
    *out = (struct sharing_placement){.verdict = ASSIGN_MOVE};
    bool irq = spin_lock(&sharing_lock);
    if (same_threads_locked(p))
        list_for_each (it, &p->members)
            put_back_locked(p, container_of(it, struct thread, sharing.link), out);
    p->placed_ns = arch_clock_ns();
    p->account.taken_back++;
    p->account.migrations += out->crossed;
    spin_unlock(&sharing_lock, irq);
    p->taken_back = true;
    assign_trial_extend(&p->trial);
}

static void take_back(struct sharing_process *p)
{
    struct sharing_placement back;

    put_back(p, &back);
    sharing_say(p, "place", "worse", "threads=%u moved=%u crossed=%u remote_permille=%u..%u",
                back.threads, back.moved, back.crossed, p->trial.before, p->remote_permille);
}

/* Takes the last look at the process into account, which began at since_ns. Returns whether what is
 * on trial, the placement or its taking back, has failed. */
static bool has_failed(struct sharing_process *p, uint64_t since_ns)
{
    unsigned threshold = (unsigned)sched_remote_pct * 10;

    if (!assign_trial_is_on(&p->trial))
        return false;
    bool irq = spin_lock(&sharing_lock);
    bool same = same_threads_locked(p);
    spin_unlock(&sharing_lock, irq);
    if (!same) {
        p->trial.looks_left = 0;
        return false;
    }
    return since_ns >= p->placed_ns + SETTLE_NS &&
           assign_trial_look(&p->trial, p->remote_permille, threshold) == ASSIGN_TRIAL_FAILED;
}

bool sharing_look_and_judge(struct sharing_process *p, uint64_t now_ns)
{
    uint64_t since_ns = p->looked_ns;

    look_at_process(p, now_ns);
    if (!has_failed(p, since_ns))
        return false;
    if (!p->taken_back) {
        take_back(p);
        return true;
    }
    p->backoff_ns = p->not_before_ns = 0; /* the stalls have another cause */
    return false;
}
