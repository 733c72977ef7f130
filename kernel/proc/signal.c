/* See signal.h. */
#include "kernel/proc/signal_deliver.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include <linux/poll.h>
#include <linux/signal.h>

#define QUEUED_MAX   1024 /* entries that wait for one process */
#define NEVER_MASKED (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))

/* What signals do without a handler: most end the process. */
#define IGNORED_BY_DEFAULT \
    (SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH))
_Static_assert(SIGNALS_STOPPING == (SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) |
                                    SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU)),
               "numbers of signals that stop");

static const char *const names[] = {
    [SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",       [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
    [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT",     [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
    [SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1",     [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
    [SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM",     [SIGTERM] = "SIGTERM", [SIGCHLD] = "SIGCHLD",
    [SIGCONT] = "SIGCONT", [SIGSTOP] = "SIGSTOP",     [SIGTSTP] = "SIGTSTP", [SIGTTIN] = "SIGTTIN",
    [SIGTTOU] = "SIGTTOU", [SIGURG] = "SIGURG",       [SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ",
    [SIGPROF] = "SIGPROF", [SIGVTALRM] = "SIGVTALRM", [SIGIO] = "SIGIO",     [SIGSYS] = "SIGSYS",
    [SIGPWR] = "SIGPWR",   [SIGWINCH] = "SIGWINCH",
};

const char *signal_name(int number)
{
    const char *name = number > 0 && number < (int)ARRAY_SIZE(names) ? names[number] : NULL;

    return name ? name : number >= SIGNAL_REALTIME ? "SIGRT" : "unknown";
}

/* ---- What processes and threads have --------------------------------------------------------- */

struct thread_signals *signals_make(uint64_t mask)
{
    struct thread_signals *ts = kmalloc(sizeof(*ts));

    if (ts) {
        signal_queue_init(&ts->pending);
        ts->mask = mask;
        ts->alt_flags = SS_DISABLE;
    }
    return ts;
}

void signals_init(struct process_signals *s)
{
    signal_queue_init(&s->pending);
    poll_source_init(&s->changes);
    wait_init(&s->continued);
}

/* Frees an entry that waits no more, or tells its owner, with what the program gets, or NULL. */
static void free_entry_locked(struct process *p, struct signal_entry *e, siginfo_t *info)
{
    if (!e)
        return;
    if (e->taken) {
        e->taken(p, e, info);
        return;
    }
    p->signals.queued--;
    process_uncharge(p, sizeof(*e));
    kfree(e);
}

/* Lock of p held. */
static void drop_locked(struct process *p, struct signal_queue *q, uint64_t set)
{
    struct list dropped;

    list_init(&dropped);
    signal_queue_drop(q, set, &dropped);
    while (!list_empty(&dropped))
        free_entry_locked(p, container_of(list_pop_front(&dropped), struct signal_entry, link),
                          NULL);
}

void signals_free(struct process *p, struct thread *t)
{
    bool irq = spin_lock(&p->lock);

    if (t->signals)
        drop_locked(p, &t->signals->pending, ~0ull);
    spin_unlock(&p->lock, irq);
    kfree(t->signals);
    t->signals = NULL;
}

void signals_end(struct process *p)
{
    bool irq = spin_lock(&p->lock);

    drop_locked(p, &p->signals.pending, ~0ull);
    spin_unlock(&p->lock, irq);
}

void signal_forget_locked(struct process *p, uint64_t set)
{
    drop_locked(p, &p->signals.pending, set);
    list_for_each (it, &p->threads) {
        struct thread_signals *ts = container_of(it, struct thread, siblings)->signals;
        if (ts)
            drop_locked(p, &ts->pending, set);
    }
}

bool signal_is_ignored(const struct process *p, int number)
{
    vaddr_t handler = p->signals.action[number - 1].handler;

    return handler == (vaddr_t)SIG_IGN ||
           (handler == (vaddr_t)SIG_DFL && IGNORED_BY_DEFAULT & SIGNAL_BIT(number));
}

struct signal_action signal_act(int number, const struct signal_action *new)
{
    struct process *p = thread_current()->process;
    bool irq = spin_lock(&p->lock);
    struct signal_action *a = &p->signals.action[number - 1], old = *a;

    if (new) {
        *a = *new;
        a->mask &= ~NEVER_MASKED;
        if (signal_is_ignored(p, number))
            signal_forget_locked(p, SIGNAL_BIT(number));
    }
    spin_unlock(&p->lock, irq);
    return old;
}

bool signal_reaps_children(struct process *p)
{
    bool irq = spin_lock(&p->lock);
    const struct signal_action *a = &p->signals.action[SIGCHLD - 1];
    bool is = a->handler == (vaddr_t)SIG_IGN || a->flags & SA_NOCLDWAIT;

    spin_unlock(&p->lock, irq);
    return is;
}

bool signal_tells_stops(struct process *p)
{
    bool irq = spin_lock(&p->lock);
    const struct signal_action *a = &p->signals.action[SIGCHLD - 1];
    bool is = a->handler != (vaddr_t)SIG_IGN && !(a->flags & SA_NOCLDSTOP);

    spin_unlock(&p->lock, irq);
    return is;
}

void signals_reset_handlers(struct signal_action action[SIGNALS])
{
    for (unsigned i = 0; i < SIGNALS; i++)
        action[i] = (struct signal_action){
            .handler = (vaddr_t)(action[i].handler == (vaddr_t)SIG_IGN ? SIG_IGN : SIG_DFL)};
}

void signals_new_program(struct process *p)
{
    struct thread_signals *ts = thread_current()->signals;
    bool irq = spin_lock(&p->lock);

    signals_reset_handlers(p->signals.action);
    ts->alt_sp = ts->alt_bytes = 0;
    ts->alt_flags = SS_DISABLE;
    spin_unlock(&p->lock, irq);
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Returns whether t would take the signal, or is waiting for it. */
static bool wants(const struct thread *t, int number)
{
    const struct thread_signals *ts = t->signals;

    return ts && (!(ts->mask & SIGNAL_BIT(number)) || ts->awaited & SIGNAL_BIT(number));
}

/* Tells a thread of p, the first that wants it, that the signal waits for one of them. */
static void tell_one_locked(struct process *p, int number)
{
    list_for_each (it, &p->threads) {
        struct thread *t = container_of(it, struct thread, siblings);
        if (wants(t, number)) {
            sched_signal_thread(t);
            return;
        }
    }
}

/* Adds a signal, with or without an entry, for t, or for p if t is NULL. Returns whether the entry
 * is used. */
static bool send_locked(struct process *p, struct thread *t, int number, struct signal_entry *e)
{
    struct signal_queue *q = t ? &t->signals->pending : &p->signals.pending;
    bool blocked = false, awaited = false;

    signals_sent_locked(p, number);
    list_for_each (it, &p->threads) {
        struct thread *other = container_of(it, struct thread, siblings);
        if (!other->signals || (t && t != other))
            continue;
        blocked |= (other->signals->mask & SIGNAL_BIT(number)) != 0;
        awaited |= (other->signals->awaited & SIGNAL_BIT(number)) != 0;
    }
    if (p->ending || (signal_is_ignored(p, number) && !blocked && !awaited) ||
        !signal_queue_add(q, number, e))
        return false;
    poll_changed(&p->signals.changes, POLLIN);
    if (!t)
        tell_one_locked(p, number);
    else if (wants(t, number))
        sched_signal_thread(t);
    return true;
}

bool signal_send_entry_locked(struct process *p, uint32_t tid, struct signal_entry *e)
{
    struct thread *t = tid ? uthread_find_locked(p, tid) : NULL;

    return (t || !tid) && send_locked(p, t, e->info.si_signo, e);
}

static struct signal_entry *make_entry(struct process *p, const siginfo_t *info)
{
    struct signal_entry *e = NULL;

    if (process_charge(p, sizeof(*e)))
        return NULL;
    e = kmalloc(sizeof(*e));
    if (e)
        memcpy(&e->info, info, sizeof(*info));
    else
        process_uncharge(p, sizeof(*e));
    return e;
}

/* Sends a signal to p, or its thread `tid`; 0: any. */
static int send(struct process *p, uint32_t tid, const siginfo_t *info)
{
    int number = info->si_signo, err = 0;
    struct signal_entry *e = make_entry(p, info);
    bool irq = spin_lock(&p->lock);
    struct thread *t = tid ? uthread_find_locked(p, tid) : NULL;

    if (tid && !t) {
        err = -ESRCH;
    } else if ((!e || p->signals.queued >= QUEUED_MAX) && number >= SIGNAL_REALTIME &&
               info->si_code != SI_USER) {
        err = -EAGAIN;
    } else if (!e || p->signals.queued >= QUEUED_MAX) {
        send_locked(p, t, number, NULL);
    } else if (send_locked(p, t, number, e)) {
        p->signals.queued++;
        e = NULL;
    }
    spin_unlock(&p->lock, irq);
    if (e) {
        process_uncharge(p, sizeof(*e));
        kfree(e);
    }
    return err;
}

int signal_send_news(struct process *p, const siginfo_t *info)
{
    return send(p, 0, info);
}

void signal_report_end(struct process *p, int number)
{
    if (p == thread_current()->process)
        stdio_flush(p);
    kprintf("process: event=ended reason=signal signal=%s number=%d pid=%u app=%s tid=%u: ended by "
            "a signal that it does not handle\n",
            signal_name(number), number, p->pid, p->name, thread_current()->tid);
}

int signal_send_thread(struct process *p, uint32_t tid, const siginfo_t *info)
{
    if (info->si_signo != SIGKILL) {
        bool goes_on =
            info->si_signo == SIGCONT && __atomic_load_n(&p->signals.stopped, __ATOMIC_ACQUIRE);
        int err = send(p, tid, info);
        if (goes_on && !err)
            proctree_goes_on(p);
        return err;
    }
    if (process_end(p, 128 + SIGKILL))
        signal_report_end(p, SIGKILL);
    return 0;
}

int signal_send(struct process *p, const siginfo_t *info)
{
    return signal_send_thread(p, 0, info);
}

void signal_send_group(uint32_t group, const siginfo_t *info)
{
    uint32_t pid = 0;

    for (struct process *p; (p = proctree_next_of(group, pid)); process_put(p)) {
        pid = p->pid;
        signal_send(p, info);
    }
}

bool signal_is_refused(int number)
{
    struct thread *t = thread_current();
    struct process *p = t->process;
    bool irq = spin_lock(&p->lock);
    bool is = t->signals->mask & SIGNAL_BIT(number) || signal_is_ignored(p, number);

    spin_unlock(&p->lock, irq);
    return is;
}

bool signal_handled(int number)
{
    struct thread *t = thread_current();
    struct process *p = t->process;
    bool irq = spin_lock(&p->lock);
    vaddr_t handler = p->signals.action[number - 1].handler;
    bool handled = handler != (vaddr_t)SIG_DFL && handler != (vaddr_t)SIG_IGN &&
                   !(t->signals->mask & SIGNAL_BIT(number));

    spin_unlock(&p->lock, irq);
    return handled;
}

void signal_force(const siginfo_t *info)
{
    struct thread *t = thread_current();
    struct process *p = t->process;
    int number = info->si_signo;

    if (!signal_handled(number)) {
        bool irq = spin_lock(&p->lock);
        p->signals.action[number - 1] = (struct signal_action){.handler = (vaddr_t)SIG_DFL};
        t->signals->mask &= ~SIGNAL_BIT(number);
        spin_unlock(&p->lock, irq);
    }
    send(p, t->tid, info);
}

/* ---- Masks ----------------------------------------------------------------------------------- */

void signals_settle_locked(struct process *p, struct thread *t)
{
    if ((t->signals->pending.set | p->signals.pending.set) & ~t->signals->mask || t->signals->again)
        sched_signal_thread(t);
    else
        sched_signals_taken();
}

/* Tells threads that want it that signals of `set` wait. */
static void tell_locked(struct process *p, uint64_t set)
{
    for (int n; set; set &= ~SIGNAL_BIT(n)) {
        n = __builtin_ctzll(set) + 1;
        tell_one_locked(p, n);
    }
}

void signals_pass_on_locked(struct process *p)
{
    tell_locked(p, p->signals.pending.set);
}

void signal_set_mask_locked(struct process *p, struct thread *t, uint64_t mask)
{
    uint64_t more = mask & ~t->signals->mask & p->signals.pending.set;

    t->signals->mask = mask & ~NEVER_MASKED;
    tell_locked(p, more);
    signals_settle_locked(p, t);
}

void signal_set_mask(uint64_t mask)
{
    struct thread *t = thread_current();
    bool irq = spin_lock(&t->process->lock);

    signal_set_mask_locked(t->process, t, mask);
    spin_unlock(&t->process->lock, irq);
}

void signal_mask_for_call(uint64_t mask)
{
    struct thread_signals *ts = thread_current()->signals;

    ts->old_mask = ts->mask;
    ts->masked = true;
    signal_set_mask(mask);
}

void signal_unmask_call(int64_t result)
{
    struct thread_signals *ts = thread_current()->signals;

    if (!ts->masked || (result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK))
        return;
    ts->masked = false;
    signal_set_mask(ts->old_mask);
}

/* ---- Taking ---------------------------------------------------------------------------------- */

int signal_take_locked(struct process *p, struct thread *t, uint64_t set, siginfo_t *info)
{
    struct signal_queue *q = &t->signals->pending;
    int number = signal_queue_next(q, set);

    if (!number) {
        q = &p->signals.pending;
        number = signal_queue_next(q, set);
    }
    if (!number)
        return 0;
    struct signal_entry *e = signal_queue_take(q, number);
    memset(info, 0, sizeof(*info));
    if (e)
        memcpy(info, &e->info, sizeof(*info));
    info->si_signo = number;
    free_entry_locked(p, e, info);
    return number;
}

void signal_await(uint64_t set)
{
    struct thread *t = thread_current();
    bool irq = spin_lock(&t->process->lock);

    t->signals->awaited = set & ~NEVER_MASKED;
    spin_unlock(&t->process->lock, irq);
}

int signal_take(uint64_t set, siginfo_t *info)
{
    struct thread *t = thread_current();
    bool irq = spin_lock(&t->process->lock);
    int number = signal_take_locked(t->process, t, set & ~NEVER_MASKED, info);

    signals_settle_locked(t->process, t);
    spin_unlock(&t->process->lock, irq);
    return number;
}

int64_t signal_wait(uint64_t set, uint64_t deadline_ns, siginfo_t *info)
{
    for (;;) {
        signal_await(set);
        int number = signal_take(set, info);
        int err = number ? 0 : sched_sleep_interruptible(deadline_ns);
        signal_await(0);
        if (!number)
            number = signal_take(set, info);
        if (number)
            return number;
        if (!err)
            return -EAGAIN;
        if (sched_interrupted())
            return -EINTR;
    }
}
