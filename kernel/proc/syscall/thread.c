/* System calls of threads: life, waiting and time, placement. */
#include "kernel/proc/internal.h"
#include "kernel/proc/abi.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "kernel/core/cpu.h"

#define AFFINITY_BYTES_MAX 1024 /* as large as any libc's cpu_set_t */
#define STATED_GROUP_MAX   65535

/* Returns the time ns from now, UINT64_MAX if it overflows. */
static uint64_t deadline_after(uint64_t ns)
{
    uint64_t now = arch_clock_ns();

    return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

/* ---- Life ------------------------------------------------------------------------------------ */

int64_t sys_exit(struct process *p, const uint64_t a[6])
{
    process_end(p, a[0] & 0xff);
    return 0;
}

int64_t sys_thread_create(struct process *p, const uint64_t a[6])
{
    struct sys_thread args;
    uint32_t tid;

    if (arch_copy_from_user(&args, a[0], sizeof(args)))
        return -EFAULT;
    if (args.entry >= USER_MAX || args.stack_top >= USER_MAX || !IS_ALIGNED(args.stack_top, 16) ||
        args.tls >= USER_MAX)
        return -EINVAL;
    struct uthread_start start = {args.entry, args.stack_top, args.arg, args.tls};
    int err = uthread_create(p, &start, thread_current(), args.tid_addr, &tid);
    return err ? err : (int64_t)tid;
}

int64_t sys_thread_exit(struct process *p, const uint64_t a[6])
{
    const uint32_t zero = 0;

    if (a[0]) {
        if (!IS_ALIGNED(a[0], sizeof(zero)))
            return -EINVAL;
        if (arch_copy_to_user(a[0], &zero, sizeof(zero)))
            return -EFAULT;
        futex_wake(p->space, a[0], UINT32_MAX);
    }
    uthread_exit();
}

int64_t sys_getpid(struct process *p, UNUSED const uint64_t a[6])
{
    return p->pid;
}

int64_t sys_gettid(UNUSED struct process *p, UNUSED const uint64_t a[6])
{
    return thread_current()->tid;
}

int64_t sys_set_tls(UNUSED struct process *p, const uint64_t a[6])
{
    if (a[0] >= USER_MAX)
        return -EINVAL;
    arch_tls_set(a[0]);
    return 0;
}

/* ---- Waiting, time --------------------------------------------------------------------------- */

int64_t sys_futex_wait(struct process *p, const uint64_t a[6])
{
    return futex_wait(p->space, a[0], (uint32_t)a[1], deadline_after(a[2]));
}

int64_t sys_futex_wake(struct process *p, const uint64_t a[6])
{
    return futex_wake(p->space, a[0], (uint32_t)MIN(a[1], (uint64_t)UINT32_MAX));
}

int64_t sys_yield(UNUSED struct process *p, UNUSED const uint64_t a[6])
{
    sched_yield();
    return 0;
}

int64_t sys_sleep(UNUSED struct process *p, const uint64_t a[6])
{
    sched_sleep_until(deadline_after(a[0]));
    return 0;
}

int64_t sys_clock(UNUSED struct process *p, UNUSED const uint64_t a[6])
{
    return (int64_t)arch_clock_ns();
}

int64_t sys_cpu_time(struct process *p, const uint64_t a[6])
{
    if (a[0] != SYS_SCOPE_THREAD && a[0] != SYS_SCOPE_PROCESS)
        return -EINVAL;
    return (int64_t)(a[0] == SYS_SCOPE_THREAD ? sched_run_ns(thread_current()) : process_run_ns(p));
}

/* ---- Placement ------------------------------------------------------------------------------- */

int64_t sys_getcpu(UNUSED struct process *p, UNUSED const uint64_t a[6])
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

int64_t sys_set_affinity(struct process *p, const uint64_t a[6])
{
    struct cpuset set = {0};

    if (!a[2] || a[2] > AFFINITY_BYTES_MAX)
        return -EINVAL;
    if (arch_copy_from_user(&set, a[1], MIN(a[2], (uint64_t)sizeof(set))))
        return -EFAULT;
    bool irq = spin_lock(&p->lock);
    struct thread *t = own_thread_locked(p, a[0]);
    int err = t ? sched_set_affinity(t, &set) : -ESRCH;
    spin_unlock(&p->lock, irq);
    sched_point();
    return err;
}

int64_t sys_get_affinity(struct process *p, const uint64_t a[6])
{
    struct cpuset set = {0};

    if (!a[2] || a[2] > AFFINITY_BYTES_MAX)
        return -EINVAL;
    bool irq = spin_lock(&p->lock);
    const struct thread *t = own_thread_locked(p, a[0]);
    if (t)
        set = t->affinity;
    spin_unlock(&p->lock, irq);
    return t ? user_put_struct(a[1], a[2], &set, sizeof(set)) : -ESRCH;
}

int64_t sys_set_priority(struct process *p, const uint64_t a[6])
{
    if (a[1] < PRIO_LOW || a[1] > PRIO_HIGH)
        return -EINVAL;
    bool irq = spin_lock(&p->lock);
    struct thread *t = own_thread_locked(p, a[0]);
    if (t)
        sched_set_priority(t, (uint8_t)a[1]);
    spin_unlock(&p->lock, irq);
    return t ? 0 : -ESRCH;
}

int64_t sys_group(UNUSED struct process *p, const uint64_t a[6])
{
    if (a[0] > STATED_GROUP_MAX)
        return -EINVAL;
    sharing_group_stated(thread_current(), (int)a[0]);
    return 0;
}
