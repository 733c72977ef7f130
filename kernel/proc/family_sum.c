/*
 * What a process and all that it has started count together.  A process is in its parent's list as long as there
 * is a structure of it, and then among what its parent keeps, in one step under the parent's lock: no reading has
 * less than an earlier one.
 */
#include "kernel/proc/counts.h"
#include "kernel/proc/internal.h"

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

/* Nothing of p changes any more. */
static void add_freed(const struct process *p, struct hpm_sums *sums)
{
    hpm_sum_past(&p->past, sums);
    if (p->descendants)
        hpm_sum_past(p->descendants, sums);
}

void family_sum_leave(struct process *p)
{
    struct process *parent = p->parent;

    if (!parent)
        return;
    bool irq = spin_lock(&parent->lock);
    list_remove(&p->in_started);
    hpm_sum_kept(&p->past, parent->descendants);
    if (p->descendants)
        hpm_sum_kept(p->descendants, parent->descendants);
    spin_unlock(&parent->lock, irq);
}

/* A reference; false: the last one is gone, and family_sum_leave is about to be called. */
static bool try_get(struct process *p)
{
    uint32_t refs = __atomic_load_n(&p->refs, __ATOMIC_RELAXED);

    while (refs &&
           !__atomic_compare_exchange_n(&p->refs, &refs, refs + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        ;
    return refs;
}

/* Adds p to the sum, and its children, referenced, to the end of the list. */
static void sum_member(struct process *p, uint64_t counts, struct hpm_sums *sums, struct list *unsummed)
{
    bool irq = spin_lock(&p->lock);

    add_freed(p, sums);
    list_for_each (it, &p->threads)
        hpm_sum_thread(&container_of(it, struct thread, siblings)->hpm, counts, sums);
    list_for_each (it, &p->leaving)
        hpm_sum_thread(&container_of(it, struct thread, siblings)->hpm, counts, sums);
    list_for_each (it, &p->started) {
        struct process *child = container_of(it, struct process, in_started);
        if (try_get(child))
            list_push_back(unsummed, &child->unsummed);
        else
            add_freed(child, sums);
    }
    spin_unlock(&p->lock, irq);
}

void process_sum_family(struct process *p, uint64_t counts, struct hpm_sums *sums)
{
    struct list unsummed;

    list_init(&unsummed);
    process_get(p);
    list_push_back(&unsummed, &p->unsummed);
    while (!list_empty(&unsummed)) {
        struct process *next = container_of(unsummed.next, struct process, unsummed);
        list_remove(&next->unsummed);
        sum_member(next, counts, sums, &unsummed);
        process_put(next);
    }
}

int process_hpm_family(struct process *p, struct hpm_breakdown *out)
{
    struct hpm_sums *sums = kmalloc(sizeof(*sums));

    if (!sums)
        return -ENOMEM;
    gate_enter(&sessions_gate);
    process_sum_family(p, hpm_figures(), sums);
    gate_leave(&sessions_gate);
    hpm_sums_breakdown(sums, out);
    kfree(sums);
    return 0;
}
