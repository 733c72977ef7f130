/*
 * Gates: locks that are waited for asleep.
 *
 * First come, first served: the owner that leaves hands the gate to the thread that has waited
 * longest. Priorities are not inverted: while threads wait for a gate, its owner runs at the
 * kernel's priority (priority inheritance, after Sha, Rajkumar and Lehoczky, IEEE Transactions on
 * Computers 39(9), 1990, with one ceiling for all). The end of a process does not end a wait, so
 * that nothing done under a gate is left half done.
 */
#include "sched/runqueue.h"

/* Notes in the thread and in its CPU that `self`, which is the caller, has entered the gate. The
 * thread stays on this CPU until it sleeps. */
static void note_entered(struct gate *g, struct thread *self)
{
    g->outer = self->gate;
    self->gate = g;
    bool irq = arch_irq_save();
    this_cpu()->gate = g->name;
    arch_irq_restore(irq);
}

static void note_left(struct gate *g, struct thread *self)
{
    self->gate = g->outer;
    bool irq = arch_irq_save();
    this_cpu()->gate = self->gate ? self->gate->name : NULL;
    arch_irq_restore(irq);
}

/* Lends the owner the kernel's priority, unless it has it. Guard held. */
static void lend_locked(struct gate *g)
{
    if (!g->lent)
        sched_lend_priority(g->owner);
    g->lent = true;
}

static void check_order(const struct gate *g, const struct thread *self)
{
    if (self->gate && self->gate->rank >= g->rank)
        panic("gate %s (rank %d) wanted while holding %s (rank %d)", g->name, (int)g->rank,
              self->gate->name, (int)self->gate->rank);
}

void gate_enter(struct gate *g)
{
    struct thread *self = thread_current();

    check_order(g, self);
    bool irq = spin_lock(&g->guard);
    if (!g->owner) {
        g->owner = self;
    } else {
        lend_locked(g);
        while (g->owner != self)
            wait_sleep_through(&g->waiters, &g->guard, &irq);
    }
    spin_unlock(&g->guard, irq);
    note_entered(g, self);
}

bool gate_try_enter(struct gate *g)
{
    struct thread *self = thread_current();

    check_order(g, self);
    bool irq = spin_lock(&g->guard), free = !g->owner;
    if (free)
        g->owner = self;
    spin_unlock(&g->guard, irq);
    if (free)
        note_entered(g, self);
    return free;
}

/* Hands the gate to the thread that has waited longest, with the kernel's priority, and wakes it.
 * Guard held. */
static void hand_over_locked(struct gate *g)
{
    g->lent = false;
    g->owner = list_empty(&g->waiters.waiters)
                   ? NULL
                   : container_of(g->waiters.waiters.next, struct thread, wait);
    if (!g->owner)
        return;
    lend_locked(g);
    wait_wake(&g->waiters, 1);
}

void gate_leave(struct gate *g)
{
    struct thread *self = thread_current();

    ASSERT(g->owner == self && self->gate == g);
    note_left(g, self);
    bool irq = spin_lock(&g->guard), lent = g->lent;
    hand_over_locked(g);
    spin_unlock(&g->guard, irq);
    if (lent)
        sched_return_priority(self);
}
