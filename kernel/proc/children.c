/*
 * Applications that a process has started. It can wait for them, and read their counts after they
 * have ended. They end with it.
 */
#include "kernel/proc/internal.h"

_Static_assert(CHILDREN_MAX == 32, "a bit of child_made for each");

/* Reserves a free slot, else that of a child that has been waited for; CHILDREN_MAX: none.
 * `forgotten` gets that child, or NULL. */
static unsigned take_slot(struct process *parent, struct process **forgotten)
{
    unsigned slot = CHILDREN_MAX;
    bool irq = spin_lock(&parent->lock);

    for (unsigned i = 0; i < CHILDREN_MAX; i++) {
        const struct process *c = parent->child[i];
        if (parent->child_made >> i & 1)
            continue;
        if (!c || (slot == CHILDREN_MAX && c->waited_for))
            slot = i;
        if (!c)
            break;
    }
    *forgotten = slot < CHILDREN_MAX ? parent->child[slot] : NULL;
    if (slot < CHILDREN_MAX) {
        parent->child[slot] = NULL;
        parent->child_made |= (uint32_t)1 << slot;
    }
    spin_unlock(&parent->lock, irq);
    return slot;
}

uint32_t children_next_pid(struct process *parent)
{
    return process_reserve_pid(parent);
}

bool children_will_be(struct process *parent, uint32_t pid)
{
    return pid && pid == process_reserved_pid(parent);
}

int children_spawn(struct process *parent, const char *const *argv)
{
    struct process *child, *forgotten;
    unsigned slot = take_slot(parent, &forgotten);

    if (slot == CHILDREN_MAX)
        return -EAGAIN;
    if (forgotten)
        process_put(forgotten);
    int err = process_start_as(argv, parent->family, parent, &child);
    bool irq = spin_lock(&parent->lock);
    parent->child_made &= ~((uint32_t)1 << slot);
    if (!err)
        parent->child[slot] = child;
    spin_unlock(&parent->lock, irq);
    return err ? err : (int)process_pid(child);
}

int children_wait(struct process *parent, struct process *child)
{
    may_wait("wait for a child");
    int err = 0;
    bool irq = spin_lock(&child->lock);

    while (!child->ended && !err)
        err = wait_sleep_interruptible(&child->waiters, &child->lock, &irq, UINT64_MAX);
    int status = child->ended ? child->status : err;
    spin_unlock(&child->lock, irq);
    irq = spin_lock(&parent->lock);
    child->waited_for = status >= 0;
    spin_unlock(&parent->lock, irq);
    return status;
}

struct process *children_find(struct process *parent, uint32_t pid)
{
    struct process *found = NULL;
    bool irq = spin_lock(&parent->lock);

    for (unsigned i = 0; i < CHILDREN_MAX; i++)
        if (parent->child[i] && parent->child[i]->pid == pid)
            found = parent->child[i];
    if (found)
        __atomic_fetch_add(&found->refs, 1, __ATOMIC_RELAXED);
    spin_unlock(&parent->lock, irq);
    return found;
}

void children_end(struct process *parent)
{
    for (unsigned i = 0; i < CHILDREN_MAX; i++) {
        if (!parent->child[i])
            continue;
        process_end(parent->child[i], STATUS_NO_MEMORY);
        process_put(parent->child[i]);
    }
}
