/* System calls of Linux: signals. */
#include "kernel/proc/signal.h"
#include "kernel/proc/deadline.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include <linux/signal.h>

#define SET_BYTES sizeof(uint64_t) /* of a sigset_t */

static bool is_signal(uint64_t number)
{
    return (int)number >= 1 && (int)number <= SIGNALS;
}

int64_t sys_rt_sigaction(const struct call *c)
{
    int number = (int)c->a[0];
    struct sigaction new, old;
    struct signal_action action = {0};

    if (c->a[3] != SET_BYTES || !is_signal(c->a[0]) ||
        (c->a[1] && (number == SIGKILL || number == SIGSTOP)))
        return -EINVAL;
    if (c->a[1] && arch_copy_from_user(&new, c->a[1], sizeof(new)))
        return -EFAULT;
    if (c->a[1]) {
        action = (struct signal_action){.handler = (vaddr_t) new.sa_handler,
                                        .flags = new.sa_flags,
                                        .restorer = (vaddr_t) new.sa_restorer};
        memcpy(&action.mask, &new.sa_mask, sizeof(action.mask));
    }
    struct signal_action before = signal_act(number, c->a[1] ? &action : NULL);
    memset(&old, 0, sizeof(old));
    old.sa_handler = (__sighandler_t)before.handler;
    old.sa_flags = before.flags;
    old.sa_restorer = (typeof(old.sa_restorer))before.restorer;
    memcpy(&old.sa_mask, &before.mask, sizeof(before.mask));
    return c->a[2] && arch_copy_to_user(c->a[2], &old, sizeof(old)) ? -EFAULT : 0;
}

int64_t sys_rt_sigprocmask(const struct call *c)
{
    uint64_t old = c->t->signals->mask, set;
    uint32_t how = (uint32_t)c->a[0];

    if (c->a[3] != SET_BYTES)
        return -EINVAL;
    if (c->a[1]) {
        if (arch_copy_from_user(&set, c->a[1], sizeof(set)))
            return -EFAULT;
        if (how > SIG_SETMASK)
            return -EINVAL;
        signal_set_mask(how == SIG_BLOCK ? old | set : how == SIG_UNBLOCK ? old & ~set : set);
    }
    return c->a[2] && arch_copy_to_user(c->a[2], &old, sizeof(old)) ? -EFAULT : 0;
}

int64_t sys_rt_sigpending(const struct call *c)
{
    if (c->a[1] > SET_BYTES)
        return -EINVAL;
    bool irq = spin_lock(&c->p->lock);
    uint64_t set = (c->t->signals->pending.set | c->p->signals.pending.set) & c->t->signals->mask;
    spin_unlock(&c->p->lock, irq);
    return arch_copy_to_user(c->a[0], &set, c->a[1]) ? -EFAULT : 0;
}

int64_t sys_rt_sigreturn(const struct call *c)
{
    return signals_return(c->frame);
}

/* ---- Alternate stack ------------------------------------------------------------------------- */

static int set_stack(struct thread_signals *ts, vaddr_t sp, const stack_t *new)
{
    uint32_t mode = (uint32_t) new->ss_flags & ~(uint32_t)SS_AUTODISARM;

    if (signals_stack_flags(ts, sp) & SS_ONSTACK)
        return -EPERM;
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode)
        return -EINVAL;
    if (mode != SS_DISABLE && new->ss_size < MINSIGSTKSZ)
        return -ENOMEM;
    ts->alt_sp = mode == SS_DISABLE ? 0 : (vaddr_t) new->ss_sp;
    ts->alt_bytes = mode == SS_DISABLE ? 0 : new->ss_size;
    ts->alt_flags = mode == SS_DISABLE ? SS_DISABLE : (uint32_t) new->ss_flags &SS_AUTODISARM;
    return 0;
}

int64_t sys_sigaltstack(const struct call *c)
{
    struct thread_signals *ts = c->t->signals;
    vaddr_t sp = arch_frame_sp(c->frame);
    stack_t new, old;

    memset(&old, 0, sizeof(old));
    old.ss_sp = (void *)ts->alt_sp;
    old.ss_size = ts->alt_bytes;
    old.ss_flags = (int)signals_stack_flags(ts, sp);
    if (c->a[0]) {
        if (arch_copy_from_user(&new, c->a[0], sizeof(new)))
            return -EFAULT;
        int err = set_stack(ts, sp, &new);
        if (err)
            return err;
    }
    return c->a[1] && arch_copy_to_user(c->a[1], &old, sizeof(old)) ? -EFAULT : 0;
}

/* ---- Sending --------------------------------------------------------------------------------- */

static siginfo_t info_from(const struct call *c, uint64_t number, int code)
{
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    info.si_signo = (int)number;
    info.si_code = code;
    info.si_pid = (int)c->p->pid;
    return info;
}

/* Sends to the process `pid`, or its thread `tid`; 0: any. */
static bool has_thread(struct process *p, uint32_t tid)
{
    bool irq = spin_lock(&p->lock), has = uthread_find_locked(p, tid);

    spin_unlock(&p->lock, irq);
    return has;
}

static int64_t send_to(const struct call *c, uint32_t pid, uint32_t tid, const siginfo_t *info)
{
    struct process *p = process_to_read(c->p, pid);

    if (!p && !tid && has_thread(c->p, pid)) { /* a thread's number stands for its process */
        p = c->p;
        process_get(p);
    }
    if (!p)
        return -ESRCH;
    int err = info->si_signo ? signal_send_thread(p, tid, info) : 0;
    if (!info->si_signo && tid) {
        bool irq = spin_lock(&p->lock);
        err = uthread_find_locked(p, tid) ? 0 : -ESRCH;
        spin_unlock(&p->lock, irq);
    }
    process_put(p);
    return err;
}

static bool is_number(int n)
{
    return n > 0 && (uint32_t)n <= NUMBER_MAX;
}

/* Sends to all processes of a group that the caller may see, first 0: of all groups; but to the
 * caller's only with `own`, and last, as the signal may end it. */
static int64_t send_group(const struct call *c, uint32_t first, bool own, const siginfo_t *info)
{
    bool sent = false;
    struct process *p;

    for (uint32_t pid = 0; (p = process_after(pid)); process_put(p)) {
        pid = p->pid;
        if (p != c->p && (!first || proctree_group(p) == first))
            sent |= !send_to(c, pid, 0, info);
    }
    if (own)
        sent |= !send_to(c, c->p->pid, 0, info);
    return sent ? 0 : -ESRCH;
}

int64_t sys_kill(const struct call *c)
{
    siginfo_t info = info_from(c, c->a[1], SI_USER);
    int pid = (int)c->a[0];

    if ((int)c->a[1] && !is_signal(c->a[1]))
        return -EINVAL;
    if (pid > 0)
        return is_number(pid) ? send_to(c, (uint32_t)pid, 0, &info) : -ESRCH;
    if (pid == INT32_MIN || (pid < -1 && !is_number(-pid)))
        return -ESRCH;
    uint32_t group = proctree_group(c->p);
    /* -1 is all processes but the sender; for the processes of group 1, which is an application's,
     * it is that group. */
    if (pid == -1 && group != 1)
        return send_group(c, 0, false, &info);
    uint32_t first = pid ? (uint32_t)-pid : group;
    return send_group(c, first, first == group, &info);
}

int64_t sys_tgkill(const struct call *c)
{
    siginfo_t info = info_from(c, c->a[2], SI_TKILL);

    if ((int)c->a[0] <= 0 || (int)c->a[1] <= 0 || ((int)c->a[2] && !is_signal(c->a[2])))
        return -EINVAL;
    if (!is_number((int)c->a[0]) || !is_number((int)c->a[1]))
        return -ESRCH;
    return send_to(c, (uint32_t)c->a[0], (uint32_t)c->a[1], &info);
}

/* Finds threads of the caller's process only. */
int64_t sys_tkill(const struct call *c)
{
    siginfo_t info = info_from(c, c->a[1], SI_TKILL);

    if ((int)c->a[0] <= 0 || ((int)c->a[1] && !is_signal(c->a[1])))
        return -EINVAL;
    return is_number((int)c->a[0]) ? send_to(c, c->p->pid, (uint32_t)c->a[0], &info) : -ESRCH;
}

/* Sends with particulars of the caller's, which do not pass for the kernel's. */
static int64_t send_info(const struct call *c, uint64_t pid, uint64_t tid, uint64_t number,
                         vaddr_t from)
{
    siginfo_t info;

    if (arch_copy_from_user(&info, from, sizeof(info)))
        return -EFAULT;
    if ((int)number && !is_signal(number))
        return -EINVAL;
    if ((info.si_code >= 0 || info.si_code == SI_TKILL) && pid != c->p->pid)
        return -EPERM;
    info.si_signo = (int)number;
    if (!is_number((int)pid))
        return -ESRCH;
    return send_to(c, (uint32_t)pid, (uint32_t)tid, &info);
}

int64_t sys_rt_sigqueueinfo(const struct call *c)
{
    return send_info(c, c->a[0], 0, c->a[1], c->a[2]);
}

int64_t sys_rt_tgsigqueueinfo(const struct call *c)
{
    if ((int)c->a[0] <= 0 || (int)c->a[1] <= 0)
        return -EINVAL;
    return is_number((int)c->a[1]) ? send_info(c, c->a[0], c->a[1], c->a[2], c->a[3]) : -ESRCH;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

int64_t sys_pause(UNUSED const struct call *c)
{
    sched_sleep_interruptible(UINT64_MAX);
    return -ERESTARTNOHAND;
}

int64_t sys_rt_sigsuspend(const struct call *c)
{
    uint64_t set;

    if (c->a[1] != SET_BYTES)
        return -EINVAL;
    if (arch_copy_from_user(&set, c->a[0], sizeof(set)))
        return -EFAULT;
    signal_mask_for_call(set);
    return sys_pause(c);
}

int64_t sys_rt_sigtimedwait(const struct call *c)
{
    uint64_t set, ns, deadline_ns = UINT64_MAX;
    siginfo_t info;

    if (c->a[3] != SET_BYTES)
        return -EINVAL;
    if (arch_copy_from_user(&set, c->a[0], sizeof(set)))
        return -EFAULT;
    if (c->a[2]) {
        int err = user_get_time(c->a[2], &ns);
        if (err)
            return err;
        deadline_ns = deadline_after(ns);
    }
    int64_t number = signal_wait(set, deadline_ns, &info);
    if (number > 0 && c->a[1] && arch_copy_to_user(c->a[1], &info, sizeof(info)))
        return -EFAULT;
    return number;
}
