/*
 * Waiting for several files. What can change has a source (struct poll_source), and who waits for
 * it a link there: a thread for as long as it sleeps, an epoll for as long as it has the file. A
 * thread that waits is woken by its sources, then looks at all its files; and now and then at those
 * that nothing tells of, as the console.
 *
 * No change is lost: a link is there before the file is looked at, with the lock of the file, and a
 * change looks for links with that lock or after it.
 */
#include "kernel/file/poll.h"
#include "kernel/arch/arch.h"
#include <linux/poll.h>

struct spinlock poll_lock = SPINLOCK(LOCK_POLL, "pollers");

void poll_source_init(struct poll_source *s)
{
    list_init(&s->links);
}

/* Tells all that are linked; but of the epolls with EPOLLEXCLUSIVE those up to the first in which a
 * thread waits. */
static void tell_locked(struct poll_source *s, unsigned mask, struct list *told)
{
    bool served = false;

    list_for_each (it, &s->links) {
        struct poll_link *l = container_of(it, struct poll_link, in_source);
        if (l->item) {
            bool shares = epoll_shares(l->item);
            if (!shares || !served)
                served |= epoll_notice_locked(l->item, mask, told) && shares;
        } else {
            l->poller->told = true;
            wait_wake(&l->poller->queue, ~0u);
        }
    }
}

void poll_changed(struct poll_source *s, unsigned mask)
{
    struct list told;

    if (__atomic_load_n(&s->links.next, __ATOMIC_RELAXED) == &s->links)
        return;
    list_init(&told);
    bool irq = spin_lock(&poll_lock);
    tell_locked(s, mask, &told);
    for (struct list *l; (l = list_pop_front(&told));)
        tell_locked(epoll_source_of(l), POLLIN | POLLRDNORM, &told);
    spin_unlock(&poll_lock, irq);
}

void poll_link_locked(struct poll_link *l, struct vnode *v)
{
    list_init(&l->in_source);
    if (v->changes)
        list_push_back(&v->changes->links, &l->in_source);
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

static void link_files(struct poll_entry *entries, unsigned n, struct poller *self)
{
    for (unsigned i = 0; i < n; i++) {
        if (!entries[i].file)
            continue;
        entries[i].link = (struct poll_link){.poller = self};
        bool irq = spin_lock(&poll_lock);
        poll_link_locked(&entries[i].link, entries[i].file->v);
        spin_unlock(&poll_lock, irq);
    }
}

static void unlink_files(struct poll_entry *entries, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (!entries[i].file)
            continue;
        bool irq = spin_lock(&poll_lock);
        list_remove(&entries[i].link.in_source);
        spin_unlock(&poll_lock, irq);
    }
}

/* Sleeps until a file is ready. The files are linked to self. */
static int64_t wait_linked(struct poll_entry *entries, unsigned n, uint64_t deadline_ns,
                           struct poller *self)
{
    for (;;) {
        bool asked;
        int64_t found = look_at_files(entries, n, &asked);
        uint64_t now = arch_clock_ns();
        if (found || now >= deadline_ns)
            return found;
        int err = 0;
        bool irq = spin_lock(&poll_lock);
        if (!self->told)
            err = wait_sleep_interruptible(&self->queue, &poll_lock, &irq,
                                           asked ? MIN(deadline_ns, now + POLL_LOOK_NS)
                                                 : deadline_ns);
        self->told = false;
        spin_unlock(&poll_lock, irq);
        if (err == -ERESTARTSYS)
            return -ERESTART_RESTARTBLOCK;
    }
}

int64_t poll_wait(struct poll_entry *entries, unsigned n, uint64_t deadline_ns)
{
    struct poller self = {.told = false};
    bool asked;
    int64_t found = look_at_files(entries, n, &asked);

    if (found || arch_clock_ns() >= deadline_ns)
        return found;
    wait_init(&self.queue);
    link_files(entries, n, &self);
    found = wait_linked(entries, n, deadline_ns, &self);
    unlink_files(entries, n);
    return found;
}
