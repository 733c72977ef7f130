/*
 * Signals of perf events, for each sample if the program wants that. While an event is hastened, a
 * thread that is counted by any looks on its way to user mode whether its CPU has taken samples,
 * and writes them; others are written a hundred times a second.
 */
#include "kernel/core/cpu.h"
#include "kernel/proc/perf_internal.h"
#include "kernel/proc/signal.h"
#include <asm/signal.h>
#include <linux/fcntl.h>

static uint32_t hastened;         /* atomic: events */
static uint64_t seen_by[CPU_MAX]; /* the CPU itself: hpm_sampled_here() when it looked last */

void perf_hasten(struct perf_event *e, bool goes)
{
    bool is = e->hastened;
    bool irq = spin_lock(&perf_lock);

    e->hastened = !goes && e->sampler && (e->told.id || e->left);
    spin_unlock(&perf_lock, irq);
    __atomic_fetch_add(&hastened, (uint32_t)e->hastened - is, __ATOMIC_RELAXED);
}

bool perf_is_due(void)
{
    if (!__atomic_load_n(&hastened, __ATOMIC_RELAXED))
        return false;
    uint64_t *seen = &seen_by[this_cpu()->index], now = hpm_sampled_here();
    bool due = now != *seen;
    *seen = now;
    return due;
}

void perf_deliver(void)
{
    mutex_lock(&perf_rings);
    perf_pump_locked();
    mutex_unlock(&perf_rings);
    /* Interrupts that came meanwhile are not looked at: with a short period there would always be
     * more, and the program would never go on. */
    bool irq = arch_irq_save();
    seen_by[this_cpu()->index] = hpm_sampled_here();
    arch_irq_restore(irq);
}

void perf_told_owner(struct file *f)
{
    struct perf_event *e = perf_of(f->v);
    bool async = __atomic_load_n(&f->flags, __ATOMIC_RELAXED) & FASYNC;
    struct file_owner owner = async ? file_owner(f) : (struct file_owner){0};

    mutex_lock(&perf_rings);
    bool irq = spin_lock(&perf_lock);
    e->told = owner;
    spin_unlock(&perf_lock, irq);
    perf_hasten(e, false);
    mutex_unlock(&perf_rings);
}

void perf_signal(struct perf_event *e, int news)
{
    siginfo_t info = {.si_signo = SIGIO, .si_code = SI_KERNEL};
    bool irq = spin_lock(&perf_lock);
    struct file_owner owner = e->told;

    spin_unlock(&perf_lock, irq);
    if (!owner.id)
        return;
    if (owner.signal) {
        info = (siginfo_t){.si_signo = owner.signal, .si_code = news};
        info.si_band = news == POLL_HUP ? POLLHUP | POLLERR : PERF_READY;
        info.si_fd = owner.fd;
    }
    if (owner.type == F_OWNER_PGRP) {
        signal_send_group((uint32_t)owner.id, &info);
        return;
    }
    struct process *p = process_find(owner.process);
    if (!p)
        return;
    /* Signals beyond those that may wait are lost, as on Linux. */
    (void)(owner.type == F_OWNER_TID ? signal_send_thread(p, (uint32_t)owner.id, &info)
                                     : signal_send(p, &info));
    process_put(p);
}
