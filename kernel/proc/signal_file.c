/* See signal_file.h. A reader takes what waits for itself and its process. */
#include "kernel/proc/signal_file.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/internal.h"
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/signal.h>
#include <linux/signalfd.h>

struct signal_file {
    struct vnode v;
    struct process *process; /* referenced: its source tells changes */
    uint64_t set;            /* atomic */
};

static struct signal_file *signal_of(struct vnode *v)
{
    return container_of(v, struct signal_file, v);
}

static uint64_t set_of(struct vnode *v)
{
    return __atomic_load_n(&signal_of(v)->set, __ATOMIC_RELAXED);
}

/* What a reader gets, as signalfd(2) says. */
static struct signalfd_siginfo describe(const siginfo_t *info)
{
    struct signalfd_siginfo s = {
        .ssi_signo = (uint32_t)info->si_signo,
        .ssi_errno = info->si_errno,
        .ssi_code = info->si_code,
    };

    if (info->si_code == SI_TIMER) {
        s.ssi_tid = (uint32_t)info->si_tid;
        s.ssi_overrun = (uint32_t)info->si_overrun;
        s.ssi_ptr = (uint64_t)info->si_ptr;
        s.ssi_int = info->si_int;
    } else if (info->si_code <= 0) {
        s.ssi_pid = (uint32_t)info->si_pid;
        s.ssi_uid = (uint32_t)info->si_uid;
        s.ssi_ptr = (uint64_t)info->si_ptr;
        s.ssi_int = info->si_int;
    }
    return s;
}

static int64_t read_signals(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                            void *to, size_t n)
{
    struct signalfd_siginfo s;
    size_t done = 0;
    int64_t number = 1;
    siginfo_t info;

    if (n < sizeof(s))
        return -EINVAL;
    for (; n - done >= sizeof(s); done += sizeof(s)) {
        number = done || flags & VNODE_NONBLOCK ? signal_take(set_of(v), &info)
                                                : signal_wait(set_of(v), UINT64_MAX, &info);
        if (number <= 0)
            break;
        s = describe(&info);
        memcpy((char *)to + done, &s, sizeof(s));
    }
    if (done)
        return (int64_t)done;
    return number == 0 ? -EAGAIN : number == -EINTR ? -ERESTARTSYS : number;
}

static unsigned poll_signals(struct vnode *v, UNUSED void *state)
{
    struct thread *t = thread_current();
    struct process *p = signal_of(v)->process;
    bool irq = spin_lock(&p->lock);
    uint64_t waits = p->signals.pending.set;

    if (t->process == p && t->signals)
        waits |= t->signals->pending.set;
    spin_unlock(&p->lock, irq);
    return waits & set_of(v) ? POLLIN : 0;
}

static size_t name_signals(UNUSED struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "anon_inode:[signalfd]"), room);
}

static void release_signals(struct vnode *v)
{
    process_put(signal_of(v)->process);
    kfree(signal_of(v));
}

static const struct vnode_ops signal_file_ops = {
    VNODE_OPS_NOWHERE,          .name = name_signals, .stat = vnode_stat,
    .open = vnode_open,         .close = vnode_close, .read = read_signals,
    .write = vnode_no_write,    .poll = poll_signals, .ioctl = vnode_no_ioctl,
    .release = release_signals,
};

/* KILL and STOP are left out, as on Linux. */
static uint64_t allowed(uint64_t set)
{
    return set & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP));
}

int signal_file_make(struct process *p, uint64_t set, uint32_t flags, struct file **out)
{
    struct signal_file *s = kmalloc(sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->v = (struct vnode){
        .ops = &signal_file_ops, .refs = 1, .mode = 0600, .changes = &p->signals.changes};
    s->set = allowed(set);
    s->process = p;
    process_get(p);
    int err = file_make(&s->v, O_RDWR | flags, out);
    vnode_put(&s->v);
    return err;
}

bool signal_file_set(struct file *f, uint64_t set)
{
    if (f->v->ops != &signal_file_ops)
        return false;
    __atomic_store_n(&signal_of(f->v)->set, allowed(set), __ATOMIC_RELAXED);
    poll_changed(f->v->changes, POLLIN);
    return true;
}
