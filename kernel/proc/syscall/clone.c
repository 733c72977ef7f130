/* System calls of Linux: the life of a thread. */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "linux_abi.h"
#include <linux/futex.h>
#include <linux/sched.h>

/* What a thread shares with its process: all of these, or none. */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
/* Flags of a thread that are accepted: SYSVSEM, UNTRACED and DETACHED have nothing to act on. */
#define KNOWN_FLAGS                                                           \
    (THREAD_FLAGS | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | \
     CLONE_CHILD_CLEARTID | CLONE_SYSVSEM | CLONE_UNTRACED | CLONE_DETACHED | CLONE_IO | CSIGNAL)

/* Refuses to make a process, and says so once a process. */
int64_t sys_fork(const struct call *c)
{
    if (!__atomic_exchange_n(&c->p->told_fork, true, __ATOMIC_RELAXED))
        kprintf("process: event=no_fork pid=%u app=%s: programs cannot start processes; fork gets "
                "ENOSYS\n",
                c->p->pid, c->p->name);
    return -ENOSYS;
}

static int check_clone(const struct call *c, const struct clone_args *args)
{
    if ((args->flags & CLONE_THREAD && !(args->flags & CLONE_SIGHAND)) ||
        (args->flags & CLONE_SIGHAND && !(args->flags & CLONE_VM)))
        return -EINVAL;
    if ((args->flags & THREAD_FLAGS) != THREAD_FLAGS)
        return (int)sys_fork(c);
    if (args->flags & ~(uint64_t)KNOWN_FLAGS || args->set_tid_size)
        return -EINVAL;
    if (args->tls >= USER_MAX && args->flags & CLONE_SETTLS)
        return -EPERM;
    return 0;
}

/* Makes a thread as `args` says; its stack pointer becomes `sp`, 0: the caller's. */
static int64_t clone_thread(const struct call *c, const struct clone_args *args, vaddr_t sp)
{
    int err = check_clone(c, args);
    struct uthread_start *start = err ? NULL : kmalloc(sizeof(*start));

    if (err || !start)
        return err ? err : -ENOMEM;
    arch_user_copy(&start->user, c->frame, sp, args->flags & CLONE_SETTLS, args->tls);
    start->blocked = c->t->signals->mask;
    start->store_tid[0] = args->flags & CLONE_PARENT_SETTID ? args->parent_tid : 0;
    start->store_tid[1] = args->flags & CLONE_CHILD_SETTID ? args->child_tid : 0;
    start->clear_tid = args->flags & CLONE_CHILD_CLEARTID ? args->child_tid : 0;
    return uthread_create(c->p, start, c->t);
}

int64_t sys_clone(const struct call *c)
{
    const struct clone_args args = {
        .flags = (uint32_t)c->a[0],
        .parent_tid = c->a[2],
        .child_tid = c->a[ARCH_CLONE_CHILD_TID],
        .tls = c->a[ARCH_CLONE_TLS],
    };

    return clone_thread(c, &args, c->a[1]);
}

int64_t sys_clone3(const struct call *c)
{
    struct clone_args args = {0};
    int err = user_get_struct(&args, sizeof(args), CLONE_ARGS_SIZE_VER0, c->a[0], c->a[1]);

    if (err)
        return err;
    if (!args.stack != !args.stack_size || args.stack >= USER_MAX ||
        args.stack_size > USER_MAX - args.stack || args.flags & CSIGNAL ||
        args.exit_signal > CSIGNAL)
        return -EINVAL;
    return clone_thread(c, &args, args.stack + args.stack_size);
}

int64_t sys_exit(const struct call *c)
{
    bool irq = spin_lock(&c->p->lock);

    if (!c->p->ending) /* that of the last thread holds */
        c->p->status = c->a[0] & 0xff;
    spin_unlock(&c->p->lock, irq);
    uthread_exit();
}

int64_t sys_exit_group(const struct call *c)
{
    process_end(c->p, c->a[0] & 0xff);
    return 0;
}

int64_t sys_gettid(const struct call *c)
{
    return c->t->tid;
}

int64_t sys_set_tid_address(const struct call *c)
{
    c->t->clear_tid = c->a[0];
    return c->t->tid;
}

int64_t sys_set_robust_list(const struct call *c)
{
    if (c->a[1] != sizeof(struct robust_list_head))
        return -EINVAL;
    c->t->robust_list = c->a[0];
    return 0;
}

int64_t sys_get_robust_list(const struct call *c)
{
    const uint64_t bytes = sizeof(struct robust_list_head);
    vaddr_t list = 0;
    bool irq = spin_lock(&c->p->lock);
    uint32_t tid = (uint32_t)c->a[0];
    const struct thread *t = !tid                ? c->t
                             : tid <= NUMBER_MAX ? uthread_find_locked(c->p, tid)
                                                 : NULL;

    if (t)
        list = t->robust_list;
    spin_unlock(&c->p->lock, irq);
    if (!t)
        return -ESRCH;
    return arch_copy_to_user(c->a[1], &list, sizeof(list)) ||
                   arch_copy_to_user(c->a[2], &bytes, sizeof(bytes))
               ? -EFAULT
               : 0;
}

int64_t sys_arch_prctl(const struct call *c)
{
    return arch_prctl(c->a[0], c->a[1]);
}
