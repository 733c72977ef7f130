/*
 * Gates: mutexes with a rank, of which a thread that holds one waits for nothing but further gates.
 */
#include "sched/runqueue.h"

/* Notes in the thread and in its CPU that `self`, which is the caller, has entered the gate. The
 * thread stays on this CPU until it sleeps. */
static void note_entered(struct gate *g, struct thread *self)
{
    g->outer = self->gate;
    self->gate = g;
    bool irq = arch_irq_save();
    this_cpu()->gate = g->mutex.guard.name;
    arch_irq_restore(irq);
}

static void note_left(struct gate *g, struct thread *self)
{
    self->gate = g->outer;
    bool irq = arch_irq_save();
    this_cpu()->gate = self->gate ? self->gate->mutex.guard.name : NULL;
    arch_irq_restore(irq);
}

static void check_order(const struct gate *g, const struct thread *self)
{
    if (self->gate && self->gate->rank >= g->rank)
        panic(
            "code=gate-order gate=%s rank=%d held=%s held_rank=%d: gates are entered in the order "
            "of their ranks",
            g->mutex.guard.name, (int)g->rank, self->gate->mutex.guard.name, (int)self->gate->rank);
}

void gate_enter(struct gate *g)
{
    struct thread *self = thread_current();

    check_order(g, self);
    mutex_take(&g->mutex);
    note_entered(g, self);
}

bool gate_try_enter(struct gate *g)
{
    struct thread *self = thread_current();

    check_order(g, self);
    bool free = mutex_try_lock(&g->mutex);
    if (free)
        note_entered(g, self);
    return free;
}

void gate_leave(struct gate *g)
{
    struct thread *self = thread_current();

    ASSERT(self->gate == g);
    note_left(g, self);
    mutex_unlock(&g->mutex);
}
