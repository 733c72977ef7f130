/*
 * Signals that come to the caller on its way to user mode: its handler begins, or what a signal
 * does without one; calls that they interrupted, and the return from a handler. See signal.h.
 */
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/signal_deliver.h"
#include "kernel/vdso/vdso.h"
#include <linux/signal.h>

/* Takes the next signal that does something. Returns its number and what is done, or 0. */
static int next_locked(struct process *p, struct thread *t, siginfo_t *info,
                       struct signal_action *action)
{
    int number;

    do
        number = signal_take_locked(p, t, ~t->signals->mask, info);
    while (number && signal_is_ignored(p, number));
    if (number) {
        struct signal_action *a = &p->signals.action[number - 1];
        *action = *a;
        if (a->flags & SA_RESETHAND)
            a->handler = (vaddr_t)SIG_DFL;
    }
    return number;
}

uint32_t signals_stack_flags(const struct thread_signals *ts, vaddr_t sp)
{
    if (ts->alt_flags & SS_DISABLE)
        return SS_DISABLE;
    bool on =
        !(ts->alt_flags & SS_AUTODISARM) && sp > ts->alt_sp && sp - ts->alt_sp <= ts->alt_bytes;
    return (ts->alt_flags & SS_AUTODISARM) | (on ? SS_ONSTACK : 0);
}

/* Decides what an interrupted call returns, now that a handler with these flags begins. */
static void end_call(struct thread_signals *ts, struct arch_frame *frame, uint64_t flags)
{
    if (!ts->again)
        return;
    if (ts->again == ERESTARTNOINTR || (ts->again == ERESTARTSYS && flags & SA_RESTART))
        arch_call_again(frame, ts->call, ts->first);
    else
        arch_call_result(frame, -EINTR);
    ts->again = 0;
}

#define CAUSED                                                                            \
    (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) | \
     SIGNAL_BIT(SIGTRAP))

/* Makes the caller begin a handler. */
static void begin_handler(struct thread *t, struct arch_frame *frame, const siginfo_t *info,
                          const struct signal_action *a)
{
    struct thread_signals *ts = t->signals;
    int number = info->si_signo;
    uint32_t stack = signals_stack_flags(ts, arch_frame_sp(frame));
    struct arch_signal s = {
        .number = number,
        .handler = a->handler,
        .restorer = a->flags & SA_RESTORER ? a->restorer : vdso_function("__kernel_rt_sigreturn"),
        .stack_end = a->flags & SA_ONSTACK && !(stack & (SS_DISABLE | SS_ONSTACK))
                         ? ts->alt_sp + ts->alt_bytes
                         : 0,
        .stack_low =
            !(stack & SS_DISABLE) && (a->flags & SA_ONSTACK || stack & SS_ONSTACK) ? ts->alt_sp : 0,
        .info = info,
        .mask = ts->masked ? ts->old_mask : ts->mask,
        .alt_sp = ts->alt_sp,
        .alt_bytes = ts->alt_bytes,
        .alt_flags = stack,
        .fault = ts->fault_now && CAUSED & SIGNAL_BIT(number),
        .fault_addr = ts->fault_addr,
    };

    end_call(ts, frame, a->flags);
    ts->keeps_deadline = false;
    if (arch_signal_push(frame, &s)) {
        siginfo_t failed = {.si_signo = SIGSEGV, .si_code = SI_KERNEL};
        if (number == SIGSEGV) {
            bool irq = spin_lock(&t->process->lock);
            t->process->signals.action[SIGSEGV - 1].handler = (vaddr_t)SIG_DFL;
            spin_unlock(&t->process->lock, irq);
        }
        signal_force(&failed);
        return;
    }
    if (ts->alt_flags & SS_AUTODISARM)
        ts->alt_flags = SS_DISABLE;
    ts->masked = false;
    ts->fault_now = false;
    signal_set_mask(ts->mask | a->mask | (a->flags & SA_NODEFER ? 0 : SIGNAL_BIT(number)));
}

/* Does what a signal without a handler does. */
static void do_default(struct process *p, int number)
{
    bool stops = SIGNALS_STOPPING & SIGNAL_BIT(number);

    if (stops && (number == SIGSTOP || !proctree_orphaned(proctree_group(p))))
        signals_stop(p, number);
    else if (stops)
        return; /* no shell is there that could continue it */
    else if (process_end(p, 128 + number))
        signal_report_end(p, number);
}

/* No signal is left: a call that was interrupted is made again. Returns whether signals may wait
 * behind the mask that this gives back. */
static bool settle(struct process *p, struct thread *t, struct arch_frame *frame)
{
    struct thread_signals *ts = t->signals;
    bool unmasked = ts->masked;

    if (ts->again) {
        ts->keeps_deadline = ts->again == ERESTART_RESTARTBLOCK;
        arch_call_again(frame, ts->call, ts->first);
        ts->again = 0;
    }
    ts->fault_now = false;
    bool irq = spin_lock(&p->lock);
    if (unmasked) {
        ts->masked = false;
        signal_set_mask_locked(p, t, ts->old_mask);
    } else {
        signals_settle_locked(p, t);
    }
    spin_unlock(&p->lock, irq);
    return unmasked;
}

void signals_deliver(struct arch_frame *frame)
{
    struct thread *t = thread_current();
    struct process *p = t->process;
    struct signal_action action;
    siginfo_t info;

    while (!uthread_ends()) {
        bool irq = spin_lock(&p->lock);
        signals_wait_stopped_locked(p, &irq);
        int number = next_locked(p, t, &info, &action);
        spin_unlock(&p->lock, irq);
        if (number && action.handler != (vaddr_t)SIG_DFL)
            begin_handler(t, frame, &info, &action);
        else if (number)
            do_default(p, number);
        else if (!settle(p, t, frame))
            return;
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

void signals_call_ends(uint64_t number, uint64_t first, int64_t result)
{
    struct thread *t = thread_current();

    t->signals->again = (int)-result;
    t->signals->call = number;
    t->signals->first = first;
    sched_signal_thread(t);
}

uint64_t signals_deadline(uint64_t deadline_ns)
{
    struct thread_signals *ts = thread_current()->signals;

    if (!ts->keeps_deadline)
        ts->deadline_ns = deadline_ns;
    ts->keeps_deadline = false;
    return ts->deadline_ns;
}

int64_t signals_return(struct arch_frame *frame)
{
    struct thread *t = thread_current();
    struct arch_signal s;
    int err = arch_signal_return(frame, &s);

    if (err) {
        siginfo_t bad = {.si_signo = SIGSEGV, .si_code = SI_KERNEL};
        signal_force(&bad);
        return 0;
    }
    struct thread_signals *ts = t->signals;
    if (!(s.alt_flags & ~(SS_ONSTACK | SS_DISABLE | SS_AUTODISARM)) &&
        !(signals_stack_flags(ts, arch_frame_sp(frame)) & SS_ONSTACK)) {
        ts->alt_sp = s.alt_sp;
        ts->alt_bytes = s.alt_bytes;
        ts->alt_flags = s.alt_flags & ~(uint32_t)SS_ONSTACK;
    }
    signal_set_mask(s.mask);
    return arch_call_result_of(frame);
}
