/* Timers that can be read and polled: timerfd. A timer that comes again is set anew when it is
 * read, so a short period costs no more than the program reads. */
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/file/file.h"
#include "kernel/lib/period.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include <linux/fcntl.h>
#include <linux/poll.h>

struct timer_file {
    struct vnode v;
    struct spinlock lock;
    struct ktimer ktimer;      /* lock */
    struct wait_queue waiting; /* [lock] until it has come */
    struct poll_source changes;
    bool of_date;         /* [-] */
    bool has_come;        /* [lock] and was not read since */
    uint64_t at_ns;       /* [lock] the next time, or the one that came; 0: not set */
    uint64_t interval_ns; /* [lock] */
};

static struct timer_file *timer_of(struct vnode *v)
{
    return container_of(v, struct timer_file, v);
}

static void expire_timer(struct ktimer *k)
{
    struct timer_file *t = container_of(k, struct timer_file, ktimer);
    bool irq = spin_lock(&t->lock);

    if (t->at_ns && arch_clock_ns() >= t->at_ns) {
        t->has_come = true;
        wait_wake(&t->waiting, ~0u);
        poll_changed(&t->changes, POLLIN);
    }
    spin_unlock(&t->lock, irq);
}

/* Returns how often it has come, and waits for the next time. */
static uint64_t take_times_locked(struct timer_file *t)
{
    uint64_t times = 1;

    t->has_come = false;
    if (t->interval_ns)
        times = period_forward(&t->at_ns, t->interval_ns, MAX(arch_clock_ns(), t->at_ns));
    else
        t->at_ns = 0;
    if (t->at_ns)
        ktimer_set(&t->ktimer, t->at_ns);
    return times;
}

static int64_t read_timer(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                          void *to, size_t n)
{
    struct timer_file *t = timer_of(v);
    uint64_t times;
    int err = n < sizeof(times) ? -EINVAL : 0;
    bool irq = spin_lock(&t->lock);

    while (!err && !t->has_come)
        err = flags & VNODE_NONBLOCK
                  ? -EAGAIN
                  : wait_sleep_interruptible(&t->waiting, &t->lock, &irq, UINT64_MAX);
    if (!err) {
        times = take_times_locked(t);
        memcpy(to, &times, sizeof(times));
    }
    spin_unlock(&t->lock, irq);
    return err ? err : (int64_t)sizeof(times);
}

static unsigned poll_timer(struct vnode *v, UNUSED void *state)
{
    struct timer_file *t = timer_of(v);
    bool irq = spin_lock(&t->lock), has_come = t->has_come;

    spin_unlock(&t->lock, irq);
    return has_come ? POLLIN : 0;
}

static size_t name_timer(UNUSED struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "anon_inode:[timerfd]"), room);
}

static void release_timer(struct vnode *v)
{
    struct timer_file *t = timer_of(v);

    ktimer_finish(&t->ktimer);
    kfree(t);
}

static const struct vnode_ops timer_ops = {
    VNODE_OPS_NOWHERE,       .name = name_timer,       .stat = vnode_stat,      .open = vnode_open,
    .close = vnode_close,    .read = read_timer,       .write = vnode_no_write, .poll = poll_timer,
    .ioctl = vnode_no_ioctl, .release = release_timer,
};

int timer_file_make(bool of_date, uint32_t flags, struct file **out)
{
    struct timer_file *t = kmalloc(sizeof(*t));

    if (!t)
        return -ENOMEM;
    t->v = (struct vnode){.ops = &timer_ops, .refs = 1, .mode = 0600, .changes = &t->changes};
    poll_source_init(&t->changes);
    spin_init(&t->lock, LOCK_FILE, "timer file");
    ktimer_init(&t->ktimer, expire_timer);
    wait_init(&t->waiting);
    t->of_date = of_date;
    int err = file_make(&t->v, O_RDWR | flags, out);
    vnode_put(&t->v);
    return err;
}

bool timer_file_is(const struct file *f)
{
    return f->v->ops == &timer_ops;
}

bool timer_file_of_date(const struct file *f)
{
    return timer_of(f->v)->of_date;
}

static void read_locked(const struct timer_file *t, uint64_t *left_ns, uint64_t *interval_ns)
{
    *interval_ns = t->interval_ns;
    *left_ns = t->at_ns ? period_left(t->at_ns, t->interval_ns, arch_clock_ns()) : 0;
    if (t->at_ns && !*left_ns && !t->has_come)
        *left_ns = 1; /* it is set, and about to come */
}

void timer_file_read(const struct file *f, uint64_t *left_ns, uint64_t *interval_ns)
{
    struct timer_file *t = timer_of(f->v);
    bool irq = spin_lock(&t->lock);

    read_locked(t, left_ns, interval_ns);
    spin_unlock(&t->lock, irq);
}

void timer_file_set(struct file *f, uint64_t at_ns, uint64_t interval_ns, uint64_t *old_left_ns,
                    uint64_t *old_interval_ns)
{
    struct timer_file *t = timer_of(f->v);
    bool irq = spin_lock(&t->lock);

    read_locked(t, old_left_ns, old_interval_ns);
    t->has_come = false;
    t->at_ns = at_ns;
    t->interval_ns = interval_ns;
    ktimer_set(&t->ktimer, at_ns ? at_ns : UINT64_MAX);
    spin_unlock(&t->lock, irq);
}
