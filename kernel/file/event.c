/* Counters that can be read, written and polled: eventfd. */
#include "kernel/core/printf.h"
#include "kernel/file/file.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include <linux/fcntl.h>
#include <linux/poll.h>

#define MOST (UINT64_MAX - 1)

struct event {
    struct vnode v;
    struct spinlock lock;
    uint64_t value;            /* [lock] */
    bool semaphore;            /* [-] a read takes 1 */
    struct wait_queue waiting; /* [lock] */
    struct poll_source changes;
};

static struct event *event_of(struct vnode *v)
{
    return container_of(v, struct event, v);
}

static int64_t read_event(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                          void *to, size_t n)
{
    struct event *e = event_of(v);
    int err = n < sizeof(e->value) ? -EINVAL : 0;
    bool irq = spin_lock(&e->lock);

    while (!err && !e->value)
        err = flags & VNODE_NONBLOCK
                  ? -EAGAIN
                  : wait_sleep_interruptible(&e->waiting, &e->lock, &irq, UINT64_MAX);
    if (!err) {
        uint64_t got = e->semaphore ? 1 : e->value;
        memcpy(to, &got, sizeof(got));
        e->value -= got;
        wait_wake(&e->waiting, ~0u);
        poll_changed(&e->changes, POLLOUT);
    }
    spin_unlock(&e->lock, irq);
    return err ? err : (int64_t)sizeof(e->value);
}

static int64_t write_event(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                           const void *from, size_t n)
{
    struct event *e = event_of(v);
    uint64_t more = UINT64_MAX;

    if (n >= sizeof(more))
        memcpy(&more, from, sizeof(more));
    int err = more > MOST ? -EINVAL : 0;
    bool irq = spin_lock(&e->lock);
    while (!err && more > MOST - e->value)
        err = flags & VNODE_NONBLOCK
                  ? -EAGAIN
                  : wait_sleep_interruptible(&e->waiting, &e->lock, &irq, UINT64_MAX);
    if (!err) {
        e->value += more;
        wait_wake(&e->waiting, ~0u);
        poll_changed(&e->changes, POLLIN);
    }
    spin_unlock(&e->lock, irq);
    return err ? err : (int64_t)sizeof(more);
}

static unsigned poll_event(struct vnode *v, UNUSED void *state)
{
    struct event *e = event_of(v);
    bool irq = spin_lock(&e->lock);
    unsigned found = (e->value ? POLLIN : 0) | (e->value < MOST ? POLLOUT : 0);

    spin_unlock(&e->lock, irq);
    return found;
}

static size_t name_event(UNUSED struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "anon_inode:[eventfd]"), room);
}

static void release_event(struct vnode *v)
{
    kfree(event_of(v));
}

static const struct vnode_ops event_ops = {
    VNODE_OPS_NOWHERE,       .name = name_event,       .stat = vnode_stat,   .open = vnode_open,
    .close = vnode_close,    .read = read_event,       .write = write_event, .poll = poll_event,
    .ioctl = vnode_no_ioctl, .release = release_event,
};

int event_make(uint64_t value, bool semaphore, uint32_t flags, struct file **out)
{
    struct event *e = kmalloc(sizeof(*e));

    if (!e)
        return -ENOMEM;
    e->v = (struct vnode){.ops = &event_ops, .refs = 1, .mode = 0600, .changes = &e->changes};
    poll_source_init(&e->changes);
    spin_init(&e->lock, LOCK_FILE, "event counter");
    wait_init(&e->waiting);
    e->value = value;
    e->semaphore = semaphore;
    int err = file_make(&e->v, O_RDWR | flags, out);
    vnode_put(&e->v);
    return err;
}
