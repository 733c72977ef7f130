/* What file systems need of the kernel: memory, which runs out when a test says so, and locks. */
#include <stdlib.h>
#include "kernel/core/lock.h"
#include "kernel/core/wall_clock.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include "test/host/double/fs_kernel.h"

uint64_t fs_allocations_left = UINT64_MAX, fs_allocated;
unsigned fs_locks_held;

static void *allocate(size_t size)
{
    if (!fs_allocations_left)
        return NULL;
    fs_allocations_left--;
    fs_allocated++;
    return calloc(1, size);
}

void *kmalloc(size_t size)
{
    return allocate(size);
}

void *kmalloc_unfilled(size_t size)
{
    return allocate(size);
}

void kfree(void *p)
{
    fs_allocated -= p != NULL;
    free(p);
}

void *area_alloc(uint64_t bytes)
{
    return fs_locks_held ? NULL : allocate(bytes);
}

void area_free(void *p)
{
    kfree(p);
}

void spin_init(struct spinlock *l, enum lock_rank rank, const char *name)
{
    *l = (struct spinlock)SPINLOCK(rank, name);
}

bool spin_lock(struct spinlock *l)
{
    if (l->owner)
        abort();
    l->owner = 1;
    fs_locks_held++;
    return true;
}

void spin_unlock(struct spinlock *l, bool irq)
{
    if (!l->owner || !irq)
        abort();
    l->owner = 0;
    fs_locks_held--;
}

/* Each time is a later one; but a test may have a clock of its own. */
__attribute__((weak)) uint64_t wall_clock_ns(void)
{
    static uint64_t ns = 1000000000 * NS_PER_S;

    return ns += 1000;
}

void mutex_init(struct mutex *m, UNUSED const char *name)
{
    m->word = 0;
}

void mutex_lock(struct mutex *m)
{
    if (m->word || fs_locks_held)
        abort();
    m->word = 1;
}

void mutex_unlock(struct mutex *m)
{
    if (!m->word || fs_locks_held)
        abort();
    m->word = 0;
}

bool mutex_held(const struct mutex *m)
{
    return m->word;
}
