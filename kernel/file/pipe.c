/* Pipes: a ring of bytes between two files. */
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/file/file.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/poll.h>

#define ROOM 65536

/* Both ends are openings of one vnode: for reading, for writing, or, by /proc/PID/fd, once more. */
struct pipe {
    struct vnode v;
    struct spinlock lock;
    char *bytes;
    uint64_t taken, put;       /* [lock] bytes so far */
    unsigned readers, writers; /* [lock] openings */
    struct wait_queue waiting; /* [lock] for bytes or room */
    struct poll_source changes;
};

static uint64_t last_id; /* atomic */

static struct pipe *pipe_of(struct vnode *v)
{
    return container_of(v, struct pipe, v);
}

/* Something has changed, for which `mask` may hold now. Lock held. */
static void wake_pipe(struct pipe *p, unsigned mask)
{
    wait_wake(&p->waiting, ~0u);
    poll_changed(&p->changes, mask);
}

/* An opening's state tells which ends it is. */
static int open_pipe(struct vnode *v, unsigned flags, void **state)
{
    struct pipe *p = pipe_of(v);
    bool irq = spin_lock(&p->lock);

    *state = (void *)(uintptr_t)flags;
    p->readers += (flags & VNODE_READ) != 0;
    p->writers += (flags & VNODE_WRITE) != 0;
    spin_unlock(&p->lock, irq);
    return 0;
}

static void close_pipe(struct vnode *v, void *state)
{
    struct pipe *p = pipe_of(v);
    unsigned flags = (unsigned)(uintptr_t)state;
    bool irq = spin_lock(&p->lock);

    p->readers -= (flags & VNODE_READ) != 0;
    p->writers -= (flags & VNODE_WRITE) != 0;
    wake_pipe(p, POLLHUP | POLLERR | POLLIN | POLLOUT);
    spin_unlock(&p->lock, irq);
}

/* Copies into or out of the ring from byte `at` on. */
static void copy_ring(struct pipe *p, uint64_t at, char *to, const char *from, size_t n)
{
    size_t first = MIN(n, (size_t)(ROOM - at % ROOM));

    if (to) {
        memcpy(to, p->bytes + at % ROOM, first);
        memcpy(to + first, p->bytes, n - first);
    } else {
        memcpy(p->bytes + at % ROOM, from, first);
        memcpy(p->bytes, from + first, n - first);
    }
}

static int64_t read_pipe(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                         void *to, size_t n)
{
    struct pipe *p = pipe_of(v);
    int err = 0;
    bool irq = spin_lock(&p->lock);

    while (n && p->put == p->taken && p->writers && !err)
        err = flags & VNODE_NONBLOCK
                  ? -EAGAIN
                  : wait_sleep_interruptible(&p->waiting, &p->lock, &irq, UINT64_MAX);
    n = err ? 0 : MIN(n, (size_t)(p->put - p->taken));
    copy_ring(p, p->taken, to, NULL, n);
    bool was_full = ROOM - (p->put - p->taken) < PIPE_BUF;
    p->taken += n;
    if (n)
        wake_pipe(p, was_full ? POLLOUT | POLLWRNORM : 0);
    spin_unlock(&p->lock, irq);
    return err ? err : (int64_t)n;
}

/* Up to PIPE_BUF bytes are put at once. */
static int64_t write_pipe(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                          const void *from, size_t n)
{
    struct pipe *p = pipe_of(v);
    uint64_t least = n <= PIPE_BUF ? n : 1;
    int err = 0;
    bool irq = spin_lock(&p->lock);

    while (n && p->readers && ROOM - (p->put - p->taken) < least && !err)
        err = flags & VNODE_NONBLOCK
                  ? -EAGAIN
                  : wait_sleep_interruptible(&p->waiting, &p->lock, &irq, UINT64_MAX);
    if (!err && !p->readers)
        err = -EPIPE;
    n = err ? 0 : MIN(n, (size_t)(ROOM - (p->put - p->taken)));
    copy_ring(p, p->put, NULL, from, n);
    p->put += n;
    if (n)
        wake_pipe(p, POLLIN | POLLRDNORM);
    spin_unlock(&p->lock, irq);
    return err ? err : (int64_t)n;
}

static unsigned poll_pipe(struct vnode *v, void *state)
{
    struct pipe *p = pipe_of(v);
    unsigned flags = (unsigned)(uintptr_t)state, found = 0;
    bool irq = spin_lock(&p->lock);

    if (flags & VNODE_READ)
        found |= (p->put != p->taken ? POLLIN | POLLRDNORM : 0) | (p->writers ? 0 : POLLHUP);
    if (flags & VNODE_WRITE)
        found |= (ROOM - (p->put - p->taken) >= PIPE_BUF ? POLLOUT | POLLWRNORM : 0) |
                 (p->readers ? 0 : POLLERR);
    spin_unlock(&p->lock, irq);
    return found;
}

static int64_t ioctl_pipe(struct vnode *v, UNUSED void *state, uint32_t request, uint64_t arg)
{
    struct pipe *p = pipe_of(v);

    if (request != FIONREAD)
        return -ENOTTY;
    bool irq = spin_lock(&p->lock);
    int n = (int)(p->put - p->taken);
    spin_unlock(&p->lock, irq);
    return arch_copy_to_user(arg, &n, sizeof(n)) ? -EFAULT : 0;
}

static size_t name_pipe(struct vnode *v, char *to, size_t room)
{
    return MIN(ksnprintf(to, room, "pipe:[%llu]", (unsigned long long)v->id), room);
}

static void release_pipe(struct vnode *v)
{
    struct pipe *p = pipe_of(v);

    kfree(p->bytes);
    kfree(p);
}

static const struct vnode_ops pipe_ops = {
    VNODE_OPS_NOWHERE,   .name = name_pipe,       .stat = vnode_stat,  .open = open_pipe,
    .close = close_pipe, .read = read_pipe,       .write = write_pipe, .poll = poll_pipe,
    .ioctl = ioctl_pipe, .release = release_pipe,
};

static struct pipe *make_pipe(void)
{
    struct pipe *p = kmalloc(sizeof(*p));
    char *bytes = p ? kmalloc_unfilled(ROOM) : NULL;

    if (!bytes) {
        kfree(p);
        return NULL;
    }
    p->bytes = bytes;
    p->v = (struct vnode){.ops = &pipe_ops,
                          .id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED),
                          .refs = 1,
                          .mode = S_IFIFO | 0600,
                          .changes = &p->changes};
    poll_source_init(&p->changes);
    spin_init(&p->lock, LOCK_FILE, "pipe");
    wait_init(&p->waiting);
    return p;
}

int pipe_make(uint32_t flags, struct file *ends[2])
{
    struct pipe *p = make_pipe();

    if (!p)
        return -ENOMEM;
    int err = file_make(&p->v, O_RDONLY | flags, &ends[0]);
    if (!err) {
        err = file_make(&p->v, O_WRONLY | flags, &ends[1]);
        if (err)
            file_put(ends[0]);
    }
    vnode_put(&p->v);
    return err;
}
