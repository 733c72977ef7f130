/*
 * Waiting for several files. A thread that waits sleeps in one queue, looks at all its files when
 * any file has changed, and now and then at those that nothing tells of, as the console.
 */
#include "kernel/arch/arch.h"
#include "kernel/file/file.h"
#include "sched/sched.h"
#include <linux/poll.h>

#define LOOK_NS (10 * NS_PER_MS)

static struct spinlock poll_lock = SPINLOCK(LOCK_POLL, "pollers");
static struct wait_queue pollers = {{&pollers.waiters, &pollers.waiters}}; /* poll_lock */
static uint64_t changes;                                                   /* poll_lock */

void poll_changed(void)
{
    bool irq = spin_lock(&poll_lock);

    changes++;
    wait_wake(&pollers, ~0u);
    spin_unlock(&poll_lock, irq);
}

static uint64_t changes_now(void)
{
    bool irq = spin_lock(&poll_lock);
    uint64_t now = changes;

    spin_unlock(&poll_lock, irq);
    return now;
}

/* Looks at each file. Returns how many have something; *asked: one must be asked again. */
static int64_t look_at_files(struct poll_entry *entries, unsigned n, bool *asked)
{
    int64_t found = 0;

    *asked = false;
    for (unsigned i = 0; i < n; i++) {
        struct poll_entry *e = &entries[i];
        e->found = e->bad ? POLLNVAL : 0;
        if (e->file) {
            *asked |= e->file->v->ops->asked;
            e->found = (uint16_t)(e->file->v->ops->poll(e->file->v, e->file->state) &
                                  (e->wanted | POLLERR | POLLHUP));
        }
        found += e->found != 0;
    }
    return found;
}

int64_t poll_wait(struct poll_entry *entries, unsigned n, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t seen = changes_now();
        bool asked;
        int64_t found = look_at_files(entries, n, &asked);
        uint64_t now = arch_clock_ns();
        if (found || now >= deadline_ns)
            return found;
        int err = 0;
        bool irq = spin_lock(&poll_lock);
        if (changes == seen)
            err = wait_sleep_interruptible(&pollers, &poll_lock, &irq,
                                           asked ? MIN(deadline_ns, now + LOOK_NS) : deadline_ns);
        spin_unlock(&poll_lock, irq);
        if (err == -ERESTARTSYS)
            return -ERESTART_RESTARTBLOCK;
    }
}
