/*
 * Vigil's own calls on children: applications that a process starts by the bundle's names or paths,
 * waits for, and reads the counts of after they have ended. They are children as those of fork(2).
 */
#include "kernel/proc/internal.h"

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
    struct process *child;
    int err = process_start_as(argv, parent->family, parent, &child);

    if (err)
        return err;
    int pid = (int)process_pid(child);
    process_put(child);
    return pid;
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
    if (status >= 0)
        proctree_keep(parent, child);
    return status;
}
