/*
 * Stopped processes.
 *
 * A process that a signal stops stays so until it gets SIGCONT, and its threads
 * sleep on their way to user mode. Only another process can send that. So processes of which none
 * runs go on at once, as if SIGCONT had been sent: no other process is there to do it.
 */
#include "kernel/core/printf.h"
#include "kernel/proc/internal.h"
#include <linux/signal.h>

void signals_sent_locked(struct process *p, int number)
{
    if (number == SIGCONT) {
        signal_forget_locked(p, SIGNALS_STOPPING);
        p->signals.stopped = false;
        wait_wake(&p->signals.continued, ~0u);
    } else if (SIGNALS_STOPPING & SIGNAL_BIT(number)) {
        signal_forget_locked(p, SIGNAL_BIT(SIGCONT));
    }
}

void signals_wait_stopped_locked(struct process *p, bool *irq)
{
    while (p->signals.stopped && !uthread_ends())
        wait_sleep(&p->signals.continued, &p->lock, irq, UINT64_MAX);
}

static bool is_stopped(struct process *p)
{
    return __atomic_load_n(&p->signals.stopped, __ATOMIC_ACQUIRE);
}

/* Returns whether there are processes, and all are stopped. */
static bool all_stopped(void)
{
    uint32_t pid = 0;
    bool any = false, all = true;

    for (struct process *p; (p = process_after(pid)); process_put(p)) {
        pid = p->pid;
        any |= is_stopped(p);
        all &= is_stopped(p);
    }
    return any && all;
}

void signals_check_stopped(void)
{
    siginfo_t info = {.si_signo = SIGCONT, .si_code = SI_KERNEL};
    uint32_t pid = 0;

    if (!all_stopped())
        return;
    for (struct process *p; (p = process_after(pid)); process_put(p)) {
        pid = p->pid;
        if (!is_stopped(p))
            continue;
        kprintf("process: event=continued reason=alone pid=%u app=%s: no process runs that could "
                "continue it; it goes on\n",
                p->pid, p->name);
        signal_send(p, &info);
    }
}

void signals_stop(struct process *p, int number)
{
    bool irq = spin_lock(&p->lock);

    __atomic_store_n(&p->signals.stopped, true, __ATOMIC_RELEASE);
    list_for_each (it, &p->threads)
        sched_signal_thread(container_of(it, struct thread, siblings));
    spin_unlock(&p->lock, irq);
    proctree_stopped(p, number);
    signals_check_stopped();
}
