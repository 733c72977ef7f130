/*
 * A family: a first process, which the kernel has started, with all its descendants. Its members
 * are processes, until their memory is free, and threads, until their stacks are free. When the
 * first process ends, all others are ended and no more can start. The thread that started it waits
 * for the last member.
 */
#include "kernel/proc/family.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"

struct family {
    struct spinlock lock;
    unsigned members;         /* lock */
    bool stopped;             /* atomic */
    struct wait_queue waiter; /* lock: wakes when there is no member */
};

struct family *family_make(void)
{
    struct family *f = kmalloc(sizeof(*f));

    if (!f)
        return NULL;
    spin_init(&f->lock, LOCK_PROC, "family");
    wait_init(&f->waiter);
    return f;
}

void family_join(struct family *f)
{
    bool irq = spin_lock(&f->lock);

    f->members++;
    spin_unlock(&f->lock, irq);
}

void family_stop(struct family *f)
{
    __atomic_store_n(&f->stopped, true, __ATOMIC_SEQ_CST);
}

bool family_stopped(const struct family *f)
{
    return __atomic_load_n(&f->stopped, __ATOMIC_SEQ_CST);
}

/* The waiter may free the family once the lock is released. */
void family_leave(void *family)
{
    struct family *f = family;
    bool irq = spin_lock(&f->lock);

    ASSERT(f->members);
    if (!--f->members)
        wait_wake(&f->waiter, 1);
    spin_unlock(&f->lock, irq);
}

void family_end(struct family *f)
{
    bool irq = spin_lock(&f->lock);

    while (f->members)
        wait_sleep_through(&f->waiter, &f->lock, &irq);
    spin_unlock(&f->lock, irq);
    kfree(f);
}
