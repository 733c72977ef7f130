/* See jobs.h. */
#include "kernel/proc/jobs.h"
#include "kernel/file/terminal.h"
#include "kernel/proc/internal.h"
#include <asm/ioctls.h>
#include <linux/signal.h>

/* Guards changes of a terminal's `session` and `front`. */
static struct spinlock jobs_lock = SPINLOCK(LOCK_PROC, "sessions of terminals");

static uint32_t now(const uint32_t *number)
{
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}

/* Sets both, if the session is still `old`. A session keeps its terminal. */
static bool change(struct terminal *t, uint32_t old, uint32_t new, uint32_t group)
{
    bool irq = spin_lock(&jobs_lock), is = t->session == old;

    if (is) {
        __atomic_store_n(&t->session, new, __ATOMIC_RELAXED);
        __atomic_store_n(&t->front, group, __ATOMIC_RELAXED);
        if (new)
            terminal_get(t);
    }
    spin_unlock(&jobs_lock, irq);
    if (is && old)
        terminal_put(t);
    return is;
}

static void send_to(uint32_t group, int number)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_KERNEL};

    if (group)
        signal_send_group(group, &info);
}

void jobs_begin(const struct process *p)
{
    struct terminal *t = tty_terminal();

    while (!change(t, now(&t->session), p->pid, p->pid))
        ;
}

/* Takes the terminal from the session. Its jobs are told. */
static void take_away(struct terminal *t, uint32_t of)
{
    uint32_t group = now(&t->front);

    if (!change(t, of, 0, 0))
        return;
    terminal_session_ended(t);
    send_to(group, SIGHUP);
    send_to(group, SIGCONT);
}

void jobs_end(const struct process *p)
{
    for (struct terminal *t; (t = terminal_of_session(p->pid, false)); terminal_put(t))
        take_away(t, p->pid);
}

uint32_t jobs_terminal(uint32_t session, uint32_t *front)
{
    struct terminal *t = session ? terminal_of_session(session, true) : NULL;
    uint32_t device = t ? t->device : 0;

    *front = t ? now(&t->front) : 0;
    terminal_put(t);
    return device;
}

static const struct process *caller(void)
{
    return thread_current()->process;
}

/* Returns whether it is the terminal of the process. */
static bool has(const struct process *p, const struct terminal *t)
{
    uint32_t session = now(&t->session);

    return session && !terminal_has_hung_up(t) && proctree_session(p) == session;
}

static struct terminal *of_caller(void)
{
    return terminal_of_session(proctree_session(caller()), true);
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

static bool typed(struct terminal *t, int number)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_KERNEL};
    const struct process *reader = t->end->shared ? caller() : NULL;
    uint32_t front = now(&t->front);

    if (reader && !has(reader, t))
        send_to_family(reader, &info);
    else if (front)
        signal_send_group(front, &info);
    else
        return false;
    return true;
}

/* The leader is told; the group in front is once the leader has ended. */
static void hung_up(struct terminal *t)
{
    struct process *leader = now(&t->session) ? process_find(now(&t->session)) : NULL;

    if (!leader)
        return;
    signal_send(leader, &(siginfo_t){.si_signo = SIGHUP, .si_code = SI_KERNEL});
    signal_send(leader, &(siginfo_t){.si_signo = SIGCONT, .si_code = SI_KERNEL});
    process_put(leader);
}

/* ---- Access by jobs that are not in front ---------------------------------------------------- */

static int access_by(struct terminal *t, int number)
{
    const struct process *p = caller();
    uint32_t group = proctree_group(p);

    if (!has(p, t) || group == now(&t->front))
        return 0;
    if (signal_is_refused(number))
        return number == SIGTTIN ? -EIO : 0;
    if (proctree_orphaned(group))
        return -EIO;
    send_to(group, number);
    return -ERESTARTSYS;
}

static int set_front(struct terminal *t, const struct process *p, uint64_t arg)
{
    int32_t group;
    int err = access_by(t, SIGTTOU);

    if (err)
        return err;
    if (arch_copy_from_user(&group, arg, sizeof(group)))
        return -EFAULT;
    if (group < 0)
        return -EINVAL;
    uint32_t session = proctree_session(p), of = proctree_session_of((uint32_t)group);
    if (of != session)
        return of ? -EPERM : -ESRCH;
    change(t, session, session, (uint32_t)group);
    return 0;
}

/* Makes it the terminal of the session that p leads. `steals`: also if it is another session's. */
static int take(struct terminal *t, const struct process *p, bool steals)
{
    uint32_t of = now(&t->session);

    if (has(p, t) && of == p->pid)
        return 0;
    struct terminal *other = of_caller();
    terminal_put(other);
    if (proctree_session(p) != p->pid || other || (of && !steals))
        return -EPERM;
    return change(t, of, p->pid, proctree_group(p)) ? 0 : -EPERM;
}

static void opened(struct terminal *t)
{
    take(t, caller(), false);
}

static int put_number(uint64_t arg, uint32_t number)
{
    return arch_copy_to_user(arg, &number, sizeof(number)) ? -EFAULT : 0;
}

static int64_t control(struct terminal *t, bool master, uint32_t request, uint64_t arg)
{
    const struct process *p = caller();
    bool owns = has(p, t);

    switch (request) {
    case TIOCSCTTY:
        return take(t, p, arg == 1);
    case TIOCGPGRP:
        return owns || master ? put_number(arg, now(&t->front)) : -ENOTTY;
    case TIOCSPGRP:
        return owns ? set_front(t, p, arg) : -ENOTTY;
    case TIOCGSID:
        return (owns || master) && now(&t->session) ? put_number(arg, now(&t->session)) : -ENOTTY;
    case TIOCNOTTY:
        if (!owns || master)
            return -ENOTTY;
        jobs_end(p);
        return 0;
    default:
        return -ENOTTY;
    }
}

static int64_t add_file(struct file *f, bool closes)
{
    int64_t fd = files_add(caller()->files, f, 0, closes);

    if (fd < 0)
        file_put(f);
    return fd;
}

const struct terminal_jobs jobs_of_terminals = {
    .typed = typed,
    .access = access_by,
    .control = control,
    .opened = opened,
    .hung_up = hung_up,
    .of_caller = of_caller,
    .add_file = add_file,
};
