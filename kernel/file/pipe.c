/* Pipes: a ring of bytes between two files. One with a name in a folder, a FIFO, lives while it is
 * open: its vnode stands for that of the name. */
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/file/pipe.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/poll.h>

#define ROOM 65536 /* of a new pipe */

/* Both ends are openings of one vnode: for reading, for writing, or, by /proc/PID/fd, once more. */
struct pipe {
    struct vnode v;
    struct spinlock lock;
    char *bytes;                      /* [lock] `room` of them, a power of 2 */
    uint64_t room;                    /* [lock] */
    uint64_t taken, put;              /* [lock] bytes so far */
    uint64_t held;                    /* [lock] bytes that were taken and may be put back */
    unsigned readers, writers;        /* [lock] openings */
    uint64_t ever_read, ever_written; /* [lock] openings so far */
    struct wait_queue waiting; /* [lock] for bytes or room, or for the other end to be opened */
    struct poll_source changes;
    struct vnode *named;  /* [-] of a FIFO: what has the name, referenced; NULL: a pipe */
    struct list in_fifos; /* fifos_lock */
};

/* Of an opening's state: how it was opened, and behind that `ever_written` at that time. */
#define STATE_FLAGS ((uintptr_t)0xff)
#define STATE_SHIFT 8

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

static unsigned flags_of(const void *state)
{
    return (unsigned)((uintptr_t)state & STATE_FLAGS);
}

/* Counts an opening. Lock held. */
static void enter_pipe(struct pipe *p, unsigned flags, void **state)
{
    *state = (void *)((uintptr_t)p->ever_written << STATE_SHIFT | flags);
    p->readers += (flags & VNODE_READ) != 0;
    p->writers += (flags & VNODE_WRITE) != 0;
    p->ever_read += (flags & VNODE_READ) != 0;
    p->ever_written += (flags & VNODE_WRITE) != 0;
}

/* An opening's state tells which ends it is. */
static int open_pipe(struct vnode *v, unsigned flags, void **state)
{
    struct pipe *p = pipe_of(v);
    bool irq = spin_lock(&p->lock);

    enter_pipe(p, flags, state);
    spin_unlock(&p->lock, irq);
    return 0;
}

/* Takes an opening back. Lock held. */
static void leave_pipe(struct pipe *p, const void *state)
{
    p->readers -= (flags_of(state) & VNODE_READ) != 0;
    p->writers -= (flags_of(state) & VNODE_WRITE) != 0;
    wake_pipe(p, POLLHUP | POLLERR | POLLIN | POLLOUT);
}

static void close_pipe(struct vnode *v, void *state)
{
    struct pipe *p = pipe_of(v);
    bool irq = spin_lock(&p->lock);

    leave_pipe(p, state);
    spin_unlock(&p->lock, irq);
}

/* Returns how many bytes it has, and how many it can take. Lock held. */
static uint64_t bytes_in(const struct pipe *p)
{
    return p->put - p->taken;
}

static uint64_t room_in(const struct pipe *p)
{
    return p->room - bytes_in(p) - p->held;
}

/* Copies into or out of the ring from byte `at` on. */
static void copy_ring(struct pipe *p, uint64_t at, char *to, const char *from, size_t n)
{
    size_t first = MIN(n, (size_t)(p->room - at % p->room));

    if (to) {
        memcpy(to, p->bytes + at % p->room, first);
        memcpy(to + first, p->bytes, n - first);
    } else {
        memcpy(p->bytes + at % p->room, from, first);
        memcpy(p->bytes, from + first, n - first);
    }
}

/* What becomes of the bytes that are copied out. */
enum taking { LOOK, TAKE, TAKE_AND_HOLD };

/* Copies up to n bytes out. Returns as pipe_take. */
static int64_t copy_out(struct pipe *p, bool waits, void *to, size_t n, enum taking taking)
{
    int err = 0;
    bool irq = spin_lock(&p->lock);

    while (n && !bytes_in(p) && p->writers && !err)
        err = waits ? wait_sleep_interruptible(&p->waiting, &p->lock, &irq, UINT64_MAX) : -EAGAIN;
    n = err ? 0 : MIN(n, (size_t)bytes_in(p));
    copy_ring(p, p->taken, to, NULL, n);
    bool was_full = room_in(p) < PIPE_BUF;
    p->taken += taking == LOOK ? 0 : n;
    p->held += taking == TAKE_AND_HOLD ? n : 0;
    if (n && taking == TAKE)
        wake_pipe(p, was_full ? POLLOUT | POLLWRNORM : 0);
    spin_unlock(&p->lock, irq);
    return err ? err : (int64_t)n;
}

static int64_t read_pipe(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                         void *to, size_t n)
{
    return copy_out(pipe_of(v), !(flags & VNODE_NONBLOCK), to, n, TAKE);
}

/* Sleeps until at least `least` bytes can be put, if it `waits`. Returns 0, -EAGAIN, -EPIPE or
 * -ERESTARTSYS. Lock held. */
static int wait_for_room(struct pipe *p, uint64_t least, bool waits, bool *irq)
{
    int err = 0;

    while (p->readers && room_in(p) < least && !err)
        err = waits ? wait_sleep_interruptible(&p->waiting, &p->lock, irq, UINT64_MAX) : -EAGAIN;
    return err ? err : p->readers ? 0 : -EPIPE;
}

/* Up to PIPE_BUF bytes are put at once. */
static int64_t write_pipe(struct vnode *v, UNUSED void *state, unsigned flags, UNUSED uint64_t at,
                          const void *from, size_t n)
{
    struct pipe *p = pipe_of(v);
    bool irq = spin_lock(&p->lock);
    int err = wait_for_room(p, n <= PIPE_BUF ? n : 1, !(flags & VNODE_NONBLOCK), &irq);

    n = err ? 0 : MIN(n, (size_t)room_in(p));
    copy_ring(p, p->put, NULL, from, n);
    p->put += n;
    if (n)
        wake_pipe(p, POLLIN | POLLRDNORM);
    spin_unlock(&p->lock, irq);
    return err ? err : (int64_t)n;
}

/* A reader learns that there is no writer once one has been there. */
static unsigned poll_pipe(struct vnode *v, void *state)
{
    struct pipe *p = pipe_of(v);
    unsigned flags = flags_of(state), found = 0;
    bool irq = spin_lock(&p->lock);
    bool written = !p->named || p->ever_written != (uintptr_t)state >> STATE_SHIFT;

    if (flags & VNODE_READ)
        found |=
            (p->put != p->taken ? POLLIN | POLLRDNORM : 0) | (!p->writers && written ? POLLHUP : 0);
    if (flags & VNODE_WRITE)
        found |= (room_in(p) >= PIPE_BUF ? POLLOUT | POLLWRNORM : 0) | (p->readers ? 0 : POLLERR);
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
    VNODE_OPS_NOWHERE, .two_ends = true,    .name = name_pipe,       .stat = vnode_stat,
    .open = open_pipe, .close = close_pipe, .read = read_pipe,       .write = write_pipe,
    .poll = poll_pipe, .ioctl = ioctl_pipe, .release = release_pipe,
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
    p->room = ROOM;
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

static const struct vnode_ops fifo_ops;

/* Returns the pipe of a file, or NULL. */
static struct pipe *pipe_of_file(const struct file *f)
{
    return f->v->ops == &pipe_ops || f->v->ops == &fifo_ops ? pipe_of(f->v) : NULL;
}

int64_t pipe_room(const struct file *f)
{
    struct pipe *p = pipe_of_file(f);

    if (!p)
        return -EBADF;
    bool irq = spin_lock(&p->lock);
    uint64_t room = p->room;
    spin_unlock(&p->lock, irq);
    return (int64_t)room;
}

int64_t pipe_set_room(struct file *f, uint64_t bytes)
{
    struct pipe *p = pipe_of_file(f);
    uint64_t room = PAGE_SIZE;

    if (!p)
        return -EBADF;
    if (bytes > INT32_MAX)
        return -EINVAL;
    while (room < bytes)
        room *= 2;
    if (room > PIPE_ROOM_MAX)
        return -EPERM;
    char *new = kmalloc_unfilled(room);
    if (!new)
        return -ENOMEM;
    bool irq = spin_lock(&p->lock);
    size_t held = (size_t)bytes_in(p);
    bool fits = held + p->held <= room;
    if (fits) {
        char *old = p->bytes;
        copy_ring(p, p->taken, new, NULL, held);
        p->bytes = new;
        p->room = room;
        p->taken = 0;
        p->put = held;
        wake_pipe(p, POLLOUT | POLLWRNORM);
        new = old;
    }
    spin_unlock(&p->lock, irq);
    kfree(new);
    return fits ? (int64_t)room : -EBUSY;
}

/* ---- Splicing -------------------------------------------------------------------------------- */

bool pipe_is(const struct file *f)
{
    return pipe_of_file(f);
}

bool pipe_is_same(const struct file *a, const struct file *b)
{
    return a->v == b->v;
}

int64_t pipe_look(struct file *f, void *to, uint64_t n, bool waits)
{
    return copy_out(pipe_of_file(f), waits, to, n, LOOK);
}

int64_t pipe_take(struct file *f, void *to, uint64_t n, bool waits)
{
    return copy_out(pipe_of_file(f), waits, to, n, TAKE_AND_HOLD);
}

void pipe_settle(struct file *f, const void *bytes, uint64_t taken, uint64_t used)
{
    struct pipe *p = pipe_of_file(f);
    bool irq = spin_lock(&p->lock);

    p->held -= taken;
    p->taken -= taken - used;
    copy_ring(p, p->taken, NULL, (const char *)bytes + used, (size_t)(taken - used));
    wake_pipe(p, (used < taken ? POLLIN | POLLRDNORM : 0) | POLLOUT | POLLWRNORM);
    spin_unlock(&p->lock, irq);
}

int64_t pipe_put(struct file *f, const void *from, uint64_t n, bool waits)
{
    return write_pipe(f->v, NULL, waits ? 0 : VNODE_NONBLOCK, 0, from, n);
}

int64_t pipe_wait_room(struct file *f, bool waits)
{
    struct pipe *p = pipe_of_file(f);
    bool irq = spin_lock(&p->lock);
    int64_t result = wait_for_room(p, 1, waits, &irq) ?: (int64_t)room_in(p);

    spin_unlock(&p->lock, irq);
    return result;
}

/* ---- FIFOs ----------------------------------------------------------------------------------- */

static struct spinlock fifos_lock = SPINLOCK(LOCK_FILE, "FIFOs");
static struct list fifos = {&fifos, &fifos}; /* fifos_lock: those that are open */

/* Opens an end, once the other one has been opened too. */
static int open_fifo(struct vnode *v, unsigned flags, void **state)
{
    struct pipe *p = pipe_of(v);
    int err = 0;
    bool irq = spin_lock(&p->lock);

    if (!(flags & VNODE_READ) && flags & VNODE_NONBLOCK && !p->readers) {
        spin_unlock(&p->lock, irq);
        return -ENXIO;
    }
    uint64_t read = p->ever_read, written = p->ever_written;
    enter_pipe(p, flags, state);
    wake_pipe(p, 0);
    bool both = flags & VNODE_READ && flags & VNODE_WRITE;
    while (!both && !(flags & VNODE_NONBLOCK) && !err &&
           (flags & VNODE_READ ? !p->writers && p->ever_written == written
                               : !p->readers && p->ever_read == read))
        err = wait_sleep_interruptible(&p->waiting, &p->lock, &irq, UINT64_MAX);
    if (err)
        leave_pipe(p, *state);
    spin_unlock(&p->lock, irq);
    return err;
}

static void stat_fifo(struct vnode *v, struct vnode_stat *out)
{
    struct vnode *named = pipe_of(v)->named;

    named->ops->stat(named, out);
}

static struct vnode *parent_of_fifo(struct vnode *v)
{
    struct vnode *named = pipe_of(v)->named;

    return named->ops->parent(named);
}

static size_t name_fifo(struct vnode *v, char *to, size_t room)
{
    struct vnode *named = pipe_of(v)->named;

    return named->ops->name(named, to, room);
}

static int change_fifo(struct vnode *v, uint32_t mode)
{
    struct vnode *named = pipe_of(v)->named;

    return named->ops->change(named, mode);
}

static int give_fifo(struct vnode *v, uint32_t uid, uint32_t gid)
{
    struct vnode *named = pipe_of(v)->named;

    return named->ops->give(named, uid, gid);
}

static int stamp_fifo(struct vnode *v, const struct vnode_time *accessed,
                      const struct vnode_time *modified)
{
    struct vnode *named = pipe_of(v)->named;

    return named->ops->stamp(named, accessed, modified);
}

static void release_fifo(struct vnode *v)
{
    struct pipe *p = pipe_of(v);
    bool irq = spin_lock(&fifos_lock);

    list_remove(&p->in_fifos);
    spin_unlock(&fifos_lock, irq);
    vnode_put(p->named);
    release_pipe(v);
}

static const struct vnode_ops fifo_ops = {
    .stream = true,
    .two_ends = true,
    .lookup = vnode_no_lookup,
    .parent = parent_of_fifo,
    .name = name_fifo,
    .list = vnode_no_list,
    .readlink = vnode_no_readlink,
    .follow = vnode_no_follow,
    .stat = stat_fifo,
    .open = open_fifo,
    .close = close_pipe,
    .read = read_pipe,
    .write = write_pipe,
    .poll = poll_pipe,
    .ioctl = ioctl_pipe,
    .set_size = vnode_no_resize,
    .change = change_fifo,
    .give = give_fifo,
    .stamp = stamp_fifo,
    VNODE_OPS_FIXED_BUT_ATTRIBUTES,
    .release = release_fifo,
};

/* Returns the open FIFO of this name, referenced, or NULL. One that is being released is none. Lock
 * held. */
static struct pipe *find_fifo(const struct vnode *named)
{
    list_for_each (it, &fifos) {
        struct pipe *p = container_of(it, struct pipe, in_fifos);
        uint32_t refs = __atomic_load_n(&p->v.refs, __ATOMIC_RELAXED);
        if (p->named->mount != named->mount || p->named->id != named->id)
            continue;
        while (refs && !__atomic_compare_exchange_n(&p->v.refs, &refs, refs + 1, false,
                                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            ;
        if (refs)
            return p;
    }
    return NULL;
}

int fifo_find(struct vnode *named, struct vnode **out)
{
    if (named->ops == &pipe_ops || named->ops == &fifo_ops) { /* by /proc/PID/fd */
        *out = vnode_get(named);
        return 0;
    }
    struct pipe *new = make_pipe();
    if (!new)
        return -ENOMEM;
    new->v.ops = &fifo_ops;
    new->v.mount = named->mount;
    new->v.id = named->id;
    new->v.mode = named->mode;
    new->named = named;
    bool irq = spin_lock(&fifos_lock);
    struct pipe *p = find_fifo(named);
    if (!p) {
        vnode_get(named);
        list_push_back(&fifos, &new->in_fifos);
    }
    spin_unlock(&fifos_lock, irq);
    if (p)
        release_pipe(&new->v);
    *out = p ? &p->v : &new->v;
    return 0;
}
