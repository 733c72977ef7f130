/*
 * Applications that a process has started.  It may wait for them and read their counts when they have ended; they end with
 * it.
 */
#include "kernel/proc/internal.h"

int children_spawn(struct process *parent, const char *const *argv, unsigned argc)
{
    struct process *child;
    int err = process_start(argv, argc, &child);

    if (err)
        return err;
    bool irq = spin_lock(&parent->lock);
    unsigned i = 0;
    while (i < CHILDREN_MAX && parent->child[i])
        i++;
    if (i < CHILDREN_MAX)
        parent->child[i] = child;
    spin_unlock(&parent->lock, irq);
    if (i < CHILDREN_MAX)
        return (int)process_pid(child);
    process_end(child, STATUS_NO_MEMORY);
    process_put(child);
    return -EAGAIN;
}

int children_wait(const struct process *parent, struct process *child)
{
    bool irq = spin_lock(&child->lock);

    while (!child->ended && !process_ending(parent))
        wait_sleep(&child->waiters, &child->lock, &irq, UINT64_MAX);
    int status = child->ended ? child->status : -EINTR;
    spin_unlock(&child->lock, irq);
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
