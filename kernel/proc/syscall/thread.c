/* System calls of threads: life, waiting and time, placement. */
#include "kernel/proc/internal.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/deadline.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"

#define AFFINITY_BYTES_MAX 1024 /* as large as any libc's cpu_set_t */
#define STATED_GROUP_MAX   65535

/* ---- Life ------------------------------------------------------------------------------------ */

int64_t vigil_exit(const struct call *c)
{
    process_end(c->p, c->a[0] & 0xff);
    return 0;
}

int64_t vigil_thread_create(const struct call *c)
{
    struct sys_thread args;

    if (arch_copy_from_user(&args, c->a[0], sizeof(args)))
        return -EFAULT;
    if (args.entry >= USER_MAX || args.stack_top >= USER_MAX || !IS_ALIGNED(args.stack_top, 16) ||
        args.tls >= USER_MAX)
        return -EINVAL;
    struct uthread_start *start = kmalloc(sizeof(*start));
    if (!start)
        return -ENOMEM;
    arch_user_init(&start->user, args.entry, args.stack_top, args.arg, args.tls);
    start->store_tid[0] = args.tid_addr;
    start->blocked = c->t->signals->mask;
    return uthread_create(c->p, start, c->t);
}

int64_t vigil_thread_exit(const struct call *c)
{
    const uint32_t zero = 0;

    if (c->a[0]) {
        if (!IS_ALIGNED(c->a[0], sizeof(zero)))
            return -EINVAL;
        if (arch_copy_to_user(c->a[0], &zero, sizeof(zero)))
            return -EFAULT;
        futex_wake(c->p->space, c->a[0], UINT32_MAX, FUTEX_ANY);
    }
    uthread_exit();
}

int64_t vigil_getpid(const struct call *c)
{
    return c->p->pid;
}

int64_t vigil_gettid(const struct call *c)
{
    return c->t->tid;
}

int64_t vigil_set_tls(const struct call *c)
{
    if (c->a[0] >= USER_MAX)
        return -EINVAL;
    arch_tls_set(c->a[0]);
    return 0;
}

/* ---- Waiting, time --------------------------------------------------------------------------- */

int64_t vigil_futex_wait(const struct call *c)
{
    return futex_wait(c->p->space, c->a[0], (uint32_t)c->a[1], FUTEX_ANY, deadline_after(c->a[2]));
}

int64_t vigil_futex_wake(const struct call *c)
{
    return futex_wake(c->p->space, c->a[0], (uint32_t)MIN(c->a[1], (uint64_t)UINT32_MAX),
                      FUTEX_ANY);
}

int64_t vigil_yield(UNUSED const struct call *c)
{
    sched_yield();
    return 0;
}

int64_t vigil_sleep(const struct call *c)
{
    sched_sleep_until(deadline_after(c->a[0]));
    return 0;
}

int64_t vigil_clock(UNUSED const struct call *c)
{
    return (int64_t)arch_clock_ns();
}

int64_t vigil_cpu_time(const struct call *c)
{
    if (c->a[0] != SYS_SCOPE_THREAD && c->a[0] != SYS_SCOPE_PROCESS)
        return -EINVAL;
    return (int64_t)(c->a[0] == SYS_SCOPE_THREAD ? sched_run_ns(c->t) : process_run_ns(c->p));
}

/* ---- Placement ------------------------------------------------------------------------------- */

int64_t vigil_getcpu(UNUSED const struct call *c)
{
    return this_cpu()->index;
}

/* Returns p's thread with this tid, the caller for 0, or NULL. Lock of p held. */
static struct thread *own_thread_locked(struct process *p, uint64_t tid)
{
    if (tid > UINT32_MAX)
        return NULL;
    return tid ? uthread_find_locked(p, (uint32_t)tid) : thread_current();
}

int64_t vigil_set_affinity(const struct call *c)
{
    struct cpuset set = {0};

    if (!c->a[2] || c->a[2] > AFFINITY_BYTES_MAX)
        return -EINVAL;
    if (arch_copy_from_user(&set, c->a[1], MIN(c->a[2], (uint64_t)sizeof(set))))
        return -EFAULT;
    bool irq = spin_lock(&c->p->lock);
    struct thread *t = own_thread_locked(c->p, c->a[0]);
    int err = t ? sched_set_affinity(t, &set) : -ESRCH;
    spin_unlock(&c->p->lock, irq);
    sched_point();
    return err;
}

int64_t vigil_get_affinity(const struct call *c)
{
    struct cpuset set = {0};

    if (!c->a[2] || c->a[2] > AFFINITY_BYTES_MAX)
        return -EINVAL;
    bool irq = spin_lock(&c->p->lock);
    const struct thread *t = own_thread_locked(c->p, c->a[0]);
    if (t)
        set = t->affinity;
    spin_unlock(&c->p->lock, irq);
    return t ? user_put_struct(c->a[1], c->a[2], &set, sizeof(set)) : -ESRCH;
}

int64_t vigil_set_priority(const struct call *c)
{
    if (c->a[1] < PRIO_LOW || c->a[1] > PRIO_HIGH)
        return -EINVAL;
    bool irq = spin_lock(&c->p->lock);
    struct thread *t = own_thread_locked(c->p, c->a[0]);
    if (t)
        sched_set_priority(t, (uint8_t)c->a[1]);
    spin_unlock(&c->p->lock, irq);
    return t ? 0 : -ESRCH;
}

int64_t vigil_group(const struct call *c)
{
    if (c->a[0] > STATED_GROUP_MAX)
        return -EINVAL;
    sharing_group_stated(c->t, (int)c->a[0]);
    return 0;
}
