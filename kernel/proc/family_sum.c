/*
 * Counts of a process and all its descendants together. A process is in its parent's list while its
 * structure exists. It moves from there to the sums that its parent keeps in one step under the
 * parent's lock, so no reading is lower than an earlier one.
 */
#include "kernel/mem/mem.h"
#include "kernel/proc/session.h"
#include "kernel/proc/internal.h"
#include "hpm/count.h"

int family_sum_prepare(struct process *parent)
{
    struct hpm_sums *sums;

    if (!parent || __atomic_load_n(&parent->descendants, __ATOMIC_ACQUIRE))
        return 0;
    sums = kmalloc(sizeof(*sums));
    if (!sums)
        return -ENOMEM;
    bool irq = spin_lock(&parent->lock);
    if (!parent->descendants) {
        __atomic_store_n(&parent->descendants, sums, __ATOMIC_RELEASE);
        sums = NULL;
    }
    spin_unlock(&parent->lock, irq);
    kfree(sums);
    return 0;
}

void family_sum_join(struct process *p)
{
    struct process *parent = p->parent;

    if (!parent)
        return;
    bool irq = spin_lock(&parent->lock);
    list_push_back(&parent->started, &p->in_started);
    spin_unlock(&parent->lock, irq);
}

/* Adds kept sums. `alone`: no other reading is subtracted from this one. */
static void add_past(const struct hpm_sums *past, bool alone, struct hpm_sums *sums)
{
    if (alone)
        hpm_sum_kept(past, sums);
    else
        hpm_sum_past(past, sums);
}

/* Adds the sums of p's threads that are gone, and of its children that are gone. */
static void add_ended(const struct process *p, bool alone, struct hpm_sums *sums)
{
    add_past(&p->past, alone, sums);
    if (p->descendants)
        add_past(p->descendants, alone, sums);
}

void family_sum_leave(struct process *p)
{
    struct process *parent = p->parent;

    if (!parent)
        return;
    bool irq = spin_lock(&parent->lock);
    list_remove(&p->in_started);
    add_ended(p, true, parent->descendants);
    spin_unlock(&parent->lock, irq);
}

/* Takes a reference. Returns false if the last one is gone, and family_sum_leave() is about to be
 * called. */
static bool try_get(struct process *p)
{
    uint32_t refs = __atomic_load_n(&p->refs, __ATOMIC_RELAXED);

    while (refs && !__atomic_compare_exchange_n(&p->refs, &refs, refs + 1, false, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED))
        ;
    return refs;
}

/* Adds p's own counts, and appends its children, referenced, to `unsummed`. */
static void sum_member(struct process *p, uint64_t counts, bool alone, struct hpm_sums *sums,
                       struct list *unsummed)
{
    bool irq = spin_lock(&p->lock);

    add_ended(p, alone, sums);
    process_sum_threads(p, counts, alone, sums);
    list_for_each (it, &p->started) {
        struct process *child = container_of(it, struct process, in_started);
        if (try_get(child))
            list_push_back(unsummed, &child->unsummed);
        else
            add_ended(child, alone, sums);
    }
    spin_unlock(&p->lock, irq);
}

void process_sum_family(struct process *p, uint64_t counts, bool alone, struct hpm_sums *sums)
{
    struct list unsummed;

    list_init(&unsummed);
    process_get(p);
    list_push_back(&unsummed, &p->unsummed);
    while (!list_empty(&unsummed)) {
        struct process *next = container_of(unsummed.next, struct process, unsummed);
        list_remove(&next->unsummed);
        sum_member(next, counts, alone, sums, &unsummed);
        process_put(next);
    }
}

int process_hpm_family(struct process *p, struct hpm_breakdown *out)
{
    struct hpm_sums *sums = kmalloc(sizeof(*sums));

    if (!sums)
        return -ENOMEM;
    gate_enter(&sessions_gate);
    process_sum_family(p, hpm_figures(), false, sums);
    gate_leave(&sessions_gate);
    hpm_sums_breakdown(sums, out);
    kfree(sums);
    return 0;
}
