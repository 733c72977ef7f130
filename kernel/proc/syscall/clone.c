/* System calls of Linux: the life of a thread, and the birth of a process. */
#include "kernel/mem/mem.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include "linux_abi.h"
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/signal.h>

/* What a thread shares with its process: all of these, or none. */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
/* Flags that are accepted for both: SYSVSEM, UNTRACED, DETACHED and IO have nothing to act on. */
#define COMMON_FLAGS                                                                  \
    (CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | \
     CLONE_SYSVSEM | CLONE_UNTRACED | CLONE_DETACHED | CLONE_IO | CLONE_PIDFD)
#define VFORK_FLAGS (CLONE_VM | CLONE_VFORK)
#define SIGNALS_MAX 64

/* Returns whether these flags are of a thread, or of a process that is a copy, or that uses its
 * parent's memory meanwhile. Other mixtures there are not. */
static bool is_known(uint64_t flags)
{
    uint64_t kind = flags & ~(uint64_t)COMMON_FLAGS;

    if (flags & CLONE_THREAD)
        return kind == THREAD_FLAGS;
    kind &= ~(uint64_t)CLONE_CLEAR_SIGHAND;
    return !kind || kind == CLONE_VFORK || kind == VFORK_FLAGS;
}

static int check_clone(const struct clone_args *args)
{
    if ((args->flags & CLONE_THREAD && !(args->flags & CLONE_SIGHAND)) ||
        (args->flags & CLONE_SIGHAND && !(args->flags & CLONE_VM)))
        return -EINVAL;
    if (!is_known(args->flags) || args->set_tid_size || args->exit_signal > SIGNALS_MAX)
        return -EINVAL;
    if (args->flags & CLONE_PIDFD && args->flags & (CLONE_THREAD | CLONE_DETACHED))
        return -EINVAL;
    if (args->tls >= USER_MAX && args->flags & CLONE_SETTLS)
        return -EPERM;
    return 0;
}

/* Makes a thread or a process as `args` says; its stack pointer becomes `sp`, 0: the caller's. */
static int64_t make_clone(const struct call *c, const struct clone_args *args, vaddr_t sp)
{
    int err = check_clone(args);
    struct uthread_start *start = err ? NULL : kmalloc(sizeof(*start));

    if (err || !start)
        return err ? err : -ENOMEM;
    vaddr_t parent_tid = args->flags & CLONE_PARENT_SETTID ? args->parent_tid : 0;
    vaddr_t child_tid = args->flags & CLONE_CHILD_SETTID ? args->child_tid : 0;
    arch_user_copy(&start->user, c->frame, sp, args->flags & CLONE_SETTLS, args->tls);
    start->blocked = c->t->signals->mask;
    start->clear_tid = args->flags & CLONE_CHILD_CLEARTID ? args->child_tid : 0;
    if (args->flags & CLONE_THREAD) {
        start->store_tid[0] = parent_tid;
        start->store_tid[1] = child_tid;
        return uthread_create(c->p, start, c->t);
    }
    start->set_tid = child_tid;
    return process_fork(&(struct fork_request){
        .start = start,
        .parent_tid = parent_tid,
        .pidfd = args->flags & CLONE_PIDFD ? args->pidfd : 0,
        .exit_signal = (uint8_t)args->exit_signal,
        .borrows = args->flags & CLONE_VFORK,
        .resets_handlers = args->flags & CLONE_CLEAR_SIGHAND,
    });
}

int64_t sys_clone(const struct call *c)
{
    const struct clone_args args = {
        .flags = (uint32_t)c->a[0] & ~CSIGNAL,
        .exit_signal = c->a[0] & (c->a[0] & CLONE_THREAD ? 0 : CSIGNAL),
        .parent_tid = c->a[2],
        .child_tid = c->a[ARCH_CLONE_CHILD_TID],
        .tls = c->a[ARCH_CLONE_TLS],
        .pidfd = c->a[2], /* in the place of the other */
    };

    if (args.flags & CLONE_PIDFD && args.flags & CLONE_PARENT_SETTID)
        return -EINVAL;

    return make_clone(c, &args, c->a[1]);
}

int64_t sys_clone3(const struct call *c)
{
    struct clone_args args = {0};
    int err = user_get_struct(&args, sizeof(args), CLONE_ARGS_SIZE_VER0, c->a[0], c->a[1]);

    if (err)
        return err;
    if (!args.stack != !args.stack_size || args.stack >= USER_MAX ||
        args.stack_size > USER_MAX - args.stack || args.flags & CSIGNAL ||
        (args.exit_signal && args.flags & CLONE_THREAD))
        return -EINVAL;
    return make_clone(c, &args, args.stack + args.stack_size);
}

int64_t sys_fork(const struct call *c)
{
    return make_clone(c, &(struct clone_args){.exit_signal = SIGCHLD}, 0);
}

int64_t sys_vfork(const struct call *c)
{
    return make_clone(c, &(struct clone_args){.flags = VFORK_FLAGS, .exit_signal = SIGCHLD}, 0);
}

int64_t sys_exit(const struct call *c)
{
    bool irq = spin_lock(&c->p->lock);

    if (!c->p->ending) /* that of the last thread holds */
        c->p->status = c->a[0] & 0xff;
    c->p->exited |= !c->p->ending;
    spin_unlock(&c->p->lock, irq);
    uthread_exit();
}

int64_t sys_exit_group(const struct call *c)
{
    process_exit(c->p, (uint8_t)c->a[0]);
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
