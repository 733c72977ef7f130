/* See jobs.h. */
#include "kernel/proc/jobs.h"
#include "kernel/proc/internal.h"
#include <asm/ioctls.h>
#include <linux/signal.h>

/* 0: no session has the console. */
static uint32_t session, front; /* atomic; both change by jobs_lock */
static struct spinlock jobs_lock = SPINLOCK(LOCK_PROC, "console's session");

static uint32_t now(const uint32_t *number)
{
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}

/* Sets both, if the session is still `old`. */
static bool change(uint32_t old, uint32_t new, uint32_t group)
{
    bool irq = spin_lock(&jobs_lock), is = session == old;

    if (is) {
        __atomic_store_n(&session, new, __ATOMIC_RELAXED);
        __atomic_store_n(&front, group, __ATOMIC_RELAXED);
    }
    spin_unlock(&jobs_lock, irq);
    return is;
}

static void send_to(uint32_t group, int number)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_KERNEL};

    signal_send_group(group, &info);
}

void jobs_begin(const struct process *p)
{
    while (!change(now(&session), p->pid, p->pid))
        ;
}

/* Takes the console from the session. Its jobs are told. */
static void hang_up(uint32_t of)
{
    uint32_t group = now(&front);

    if (!change(of, 0, 0))
        return;
    send_to(group, SIGHUP);
    send_to(group, SIGCONT);
}

void jobs_end(const struct process *p)
{
    if (now(&session) == p->pid)
        hang_up(p->pid);
}

uint32_t jobs_front(uint32_t of)
{
    return of && of == now(&session) ? now(&front) : 0;
}

static bool has_console(const struct process *p)
{
    return now(&session) && proctree_session(p) == now(&session);
}

/* ---- Signals that are typed ------------------------------------------------------------------ */

/* Sends to the processes of the caller's application: it has no session with a console. */
static void send_to_family(const struct process *reader, const siginfo_t *info)
{
    uint32_t pid = 0;

    for (struct process *p; (p = process_after(pid)); process_put(p)) {
        pid = p->pid;
        if (p->family == reader->family)
            signal_send(p, info);
    }
}

static bool typed(int number)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_KERNEL};
    const struct process *reader = thread_current()->process;

    if (reader && !has_console(reader))
        send_to_family(reader, &info);
    else if (now(&front))
        signal_send_group(now(&front), &info);
    else
        return false;
    return true;
}

/* ---- Access by jobs that are not in front ---------------------------------------------------- */

static int access_by(int number)
{
    const struct process *p = thread_current()->process;
    uint32_t group = proctree_group(p);

    if (!has_console(p) || group == now(&front))
        return 0;
    if (signal_is_refused(number))
        return number == SIGTTIN ? -EIO : 0;
    if (proctree_orphaned(group))
        return -EIO;
    send_to(group, number);
    return -ERESTARTSYS;
}

static int set_front(const struct process *p, uint64_t arg)
{
    int32_t group;
    int err = access_by(SIGTTOU);

    if (err)
        return err;
    if (arch_copy_from_user(&group, arg, sizeof(group)))
        return -EFAULT;
    if (group < 0)
        return -EINVAL;
    uint32_t own = proctree_session(p), of = proctree_session_of((uint32_t)group);
    if (of != own)
        return of ? -EPERM : -ESRCH;
    change(own, own, (uint32_t)group);
    return 0;
}

static int take_console(const struct process *p)
{
    if (has_console(p))
        return 0;
    return proctree_session(p) == p->pid && change(0, p->pid, proctree_group(p)) ? 0 : -EPERM;
}

static int put_number(uint64_t arg, uint32_t number)
{
    return arch_copy_to_user(arg, &number, sizeof(number)) ? -EFAULT : 0;
}

static int64_t control(uint32_t request, uint64_t arg)
{
    const struct process *p = thread_current()->process;

    if (request == TIOCSCTTY)
        return take_console(p);
    if (!has_console(p))
        return -ENOTTY;
    switch (request) {
    case TIOCGPGRP:
        return put_number(arg, now(&front));
    case TIOCSPGRP:
        return set_front(p, arg);
    case TIOCGSID:
        return put_number(arg, now(&session));
    case TIOCNOTTY:
        jobs_end(p);
        return 0;
    default:
        return -ENOTTY;
    }
}

const struct tty_jobs jobs_of_console = {.typed = typed, .access = access_by, .control = control};
