/* Open files; see file.h. */
#include "kernel/file/lock.h"
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"
#include <linux/fcntl.h>
#include <linux/fs.h>

#define PART PAGE_SIZE /* copied at a time */

int file_make(struct vnode *v, uint32_t flags, struct file **out)
{
    struct file *f = kmalloc(sizeof(*f));

    if (!f)
        return -ENOMEM;
    f->flags = flags & ~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC);
    f->refs = 1;
    f->v = vnode_get(v);
    list_init(&f->watched);
    mutex_init(&f->turn, "file position");
    spin_init(&f->lock, LOCK_FILE, "file");
    unsigned access = flags & O_ACCMODE;
    unsigned opened =
        (access != O_WRONLY ? VNODE_READ : 0) | (access != O_RDONLY ? VNODE_WRITE : 0) |
        (flags & O_NONBLOCK ? VNODE_NONBLOCK : 0) | (flags & O_NOCTTY ? VNODE_NO_CONTROL : 0);
    int err = flags & O_PATH ? 0 : v->ops->open(v, opened, &f->state);
    if (err) {
        vnode_put(v);
        kfree(f);
        return err;
    }
    *out = f;
    return 0;
}

struct file *file_get(struct file *f)
{
    __atomic_fetch_add(&f->refs, 1, __ATOMIC_RELAXED);
    return f;
}

void file_put(struct file *f)
{
    if (!f || __atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
        return;
    lock_release(f->v, f);
    if (!list_empty(&f->watched))
        epoll_forget(f);
    if (!(f->flags & O_PATH))
        f->v->ops->close(f->v, f->state);
    vnode_put(f->v);
    kfree(f);
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static uint32_t flags_of(const struct file *f)
{
    return __atomic_load_n(&f->flags, __ATOMIC_RELAXED);
}

static unsigned vnode_flags(const struct file *f)
{
    uint32_t flags = flags_of(f);

    return (flags & O_NONBLOCK ? VNODE_NONBLOCK : 0) | (flags & O_APPEND ? VNODE_APPEND : 0);
}

/* Writes to the end of one file take turns; files share these by their vnode's address. */
#define END(i) MUTEX(ends[i], "end of a file")
static struct mutex ends[] = {END(0), END(1), END(2), END(3), END(4), END(5), END(6), END(7)};

/* Returns the mutex of the end of a file that is written to its end, or NULL. */
static struct mutex *end_of(const struct file *f, bool writes)
{
    if (!writes || f->v->ops->stream || !(flags_of(f) & O_APPEND))
        return NULL;
    return &ends[(uintptr_t)f->v / sizeof(*f->v) % ARRAY_SIZE(ends)];
}

/* Returns whether others at the same position wait: what a device has is no matter of positions. */
static bool takes_turns(const struct file *f, uint64_t at)
{
    return at == FILE_HERE && !f->v->ops->stream &&
           (vnode_is(f->v, S_IFREG) || vnode_is(f->v, S_IFDIR));
}

struct mutex *file_enter(struct file *f, uint64_t at, bool writes)
{
    if (takes_turns(f, at))
        mutex_lock(&f->turn);
    struct mutex *end = end_of(f, writes);
    if (end)
        mutex_lock(end);
    return end;
}

void file_leave(struct file *f, uint64_t at, struct mutex *end)
{
    if (end)
        mutex_unlock(end);
    if (takes_turns(f, at))
        mutex_unlock(&f->turn);
}

/* Checks a transfer, and finds where it begins. Returns 0 or an error. */
static int begin_transfer(struct file *f, unsigned refused, uint64_t at, uint64_t *n,
                          uint64_t *start)
{
    uint32_t flags = flags_of(f);

    if (at != FILE_HERE && f->v->ops->stream)
        return -ESPIPE;
    if ((flags & O_ACCMODE) == refused)
        return -EBADF;
    if (at != FILE_HERE && at > INT64_MAX)
        return -EINVAL;
    *n = MIN(*n, FILE_BYTES_MAX);
    bool irq = spin_lock(&f->lock);
    *start = at != FILE_HERE ? at : f->at;
    spin_unlock(&f->lock, irq);
    return 0;
}

static int64_t end_transfer(struct file *f, uint64_t at, uint64_t start, int64_t result)
{
    if (result > 0 && at == FILE_HERE && !f->v->ops->stream) {
        bool irq = spin_lock(&f->lock);
        f->at = start + (uint64_t)result;
        spin_unlock(&f->lock, irq);
    }
    return result;
}

/* Reads contents that lie in memory, without a copy in between. */
static int64_t read_data(const struct vnode *v, uint64_t at, vaddr_t to, uint64_t n)
{
    uint64_t done = 0;

    n = at < v->size ? MIN(n, v->size - at) : 0;
    while (done < n) {
        uint64_t part = MIN(n - done, PART - (to + done) % PART);
        if (arch_copy_to_user(to + done, (const char *)v->data + at + done, part))
            return done ? (int64_t)done : -EFAULT;
        done += part;
        sched_point();
    }
    return (int64_t)done;
}

/* Tells whether a transfer ends behind a part. A signal ends that of a stream only: of a file
 * programs expect all that there is. */
static bool ends_early(const struct file *f)
{
    return f->v->ops->stream ? sched_interrupted() : sched_ending();
}

/* Behind the first part of a stream, what there is already is taken, but not waited for. */
static unsigned part_flags(const struct file *f, uint64_t done)
{
    return vnode_flags(f) | (done && f->v->ops->stream ? VNODE_NONBLOCK : 0);
}

static int64_t read_parts(struct file *f, void *buffer, uint64_t at, vaddr_t to, uint64_t n)
{
    const struct vnode_ops *ops = f->v->ops;
    uint64_t done = 0, asked;
    int64_t got;

    do {
        asked = MIN(n - done, PART);
        got = ops->read(f->v, f->state, part_flags(f, done), at + done, buffer, asked);
        if (got > 0 && arch_copy_to_user(to + done, buffer, (size_t)got))
            got = -EFAULT;
        if (got < 0)
            return done ? (int64_t)done : got;
        done += (uint64_t)got;
        sched_point();
    } while (done < n && got == (int64_t)asked && !ends_early(f));
    return (int64_t)done;
}

int64_t file_read(struct file *f, uint64_t at, vaddr_t to, uint64_t n)
{
    uint64_t start;
    char byte;
    int err = begin_transfer(f, O_WRONLY, at, &n, &start);

    if (err)
        return err;
    if (f->v->data && vnode_is(f->v, S_IFREG))
        return end_transfer(f, at, start, read_data(f->v, start, to, n));
    /* A bad buffer is refused before something is taken for it. */
    if (n && f->v->ops->stream &&
        (arch_copy_from_user(&byte, to, 1) || arch_copy_to_user(to, &byte, 1)))
        return -EFAULT;
    void *buffer = kmalloc_unfilled(MAX(MIN(n, PART), 1ull));
    if (!buffer)
        return -ENOMEM;
    int64_t result = read_parts(f, buffer, start, to, n);
    kfree(buffer);
    return end_transfer(f, at, start, result);
}

static int64_t write_parts(struct file *f, void *buffer, uint64_t at, vaddr_t from, uint64_t n)
{
    const struct vnode_ops *ops = f->v->ops;
    uint64_t done = 0, asked;
    int64_t put;

    do {
        asked = MIN(n - done, PART);
        put = arch_copy_from_user(buffer, from + done, asked)
                  ? -EFAULT
                  : ops->write(f->v, f->state, vnode_flags(f), at + done, buffer, asked);
        if (put < 0)
            return done ? (int64_t)done : put;
        done += (uint64_t)put;
        sched_point();
    } while (done < n && put == (int64_t)asked && !ends_early(f));
    return (int64_t)done;
}

static uint64_t end_of_file(const struct file *f)
{
    struct vnode_stat s;

    f->v->ops->stat(f->v, &s);
    return s.size;
}

int64_t file_write(struct file *f, uint64_t at, vaddr_t from, uint64_t n)
{
    uint64_t start;
    int err = begin_transfer(f, O_RDONLY, at, &n, &start);

    if (err)
        return err;
    void *buffer = kmalloc_unfilled(MAX(MIN(n, PART), 1ull));
    if (!buffer)
        return -ENOMEM;
    /* As on Linux also with an offset, pwrite(2). */
    if ((flags_of(f) & O_APPEND) && !f->v->ops->stream)
        start = end_of_file(f);
    int64_t result = write_parts(f, buffer, start, from, n);
    kfree(buffer);
    return end_transfer(f, at, start, result);
}

int64_t file_read_kernel(struct file *f, uint64_t at, void *to, uint64_t n)
{
    uint64_t start;
    int err = begin_transfer(f, O_WRONLY, at, &n, &start);

    if (err)
        return err;
    return end_transfer(f, at, start,
                        f->v->ops->read(f->v, f->state, vnode_flags(f), start, to, n));
}

int64_t file_write_kernel(struct file *f, uint64_t at, const void *from, uint64_t n)
{
    uint64_t start;
    int err = begin_transfer(f, O_RDONLY, at, &n, &start);

    if (err)
        return err;
    return end_transfer(f, at, start,
                        f->v->ops->write(f->v, f->state, vnode_flags(f), start, from, n));
}

uint64_t file_position(struct file *f)
{
    bool irq = spin_lock(&f->lock);
    uint64_t at = f->at;

    spin_unlock(&f->lock, irq);
    return at;
}

int64_t file_seek(struct file *f, int64_t offset, unsigned whence)
{
    struct vnode_stat s;
    int64_t result;

    if (whence > SEEK_HOLE)
        return -EINVAL;
    if (f->v->ops->stream)
        return -ESPIPE;
    f->v->ops->stat(f->v, &s);
    file_enter(f, FILE_HERE, false);
    int64_t found = whence < SEEK_DATA ? 0
                    : offset < 0       ? -ENXIO
                                 : f->v->ops->find(f->v, (uint64_t)offset, whence == SEEK_HOLE);
    bool irq = spin_lock(&f->lock);
    uint64_t from = whence == SEEK_CUR ? f->at : whence == SEEK_END ? s.size : 0;
    switch (whence) {
    case SEEK_SET:
    case SEEK_CUR:
    case SEEK_END:
        result =
            __builtin_add_overflow((int64_t)from, offset, &result) || result < 0 ? -EINVAL : result;
        break;
    default: /* SEEK_DATA, SEEK_HOLE */
        result = found;
    }
    if (result >= 0)
        f->at = (uint64_t)result;
    spin_unlock(&f->lock, irq);
    file_leave(f, FILE_HERE, NULL);
    return result;
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* Cursors of a file are those of its folder, and 2 more: 0 and 1 stand in front of `.` and `..`. */
#define OWN_ENTRIES 2

/* As Linux lays an entry out (linux_dirent64); the name follows, with a NUL. */
struct listed {
    uint64_t id;
    int64_t cursor;
    uint16_t bytes;
    uint8_t type;
    char name[];
} PACKED;

struct listing {
    char *to;
    size_t room, used;
    uint64_t cursor; /* behind what was taken */
    bool full;
};

static bool take_listed(void *arg, const char *name, size_t n, uint64_t id, uint32_t type,
                        uint64_t cursor)
{
    struct listing *l = arg;
    size_t bytes = ALIGN_UP(offsetof(struct listed, name) + n + 1, 8);

    if (bytes > l->room - l->used) {
        l->full = true;
        return false;
    }
    struct listed *e = (void *)(l->to + l->used);
    memset(e, 0, bytes);
    *e = (struct listed){id, (int64_t)(cursor + OWN_ENTRIES), (uint16_t)bytes,
                         (uint8_t)(type >> 12)};
    memcpy(e->name, name, n);
    l->used += bytes;
    l->cursor = cursor + OWN_ENTRIES;
    return true;
}

static int take_all(struct vnode *v, struct listing *l)
{
    struct vnode *up = v->ops->parent(v);
    uint64_t up_id = up ? up->id : v->id;
    bool taken = true;

    vnode_put(up);
    if (l->cursor == 0)
        taken = take_listed(l, ".", 1, v->id, S_IFDIR, -1ull);
    if (taken && l->cursor == 1)
        taken = take_listed(l, "..", 2, up_id, S_IFDIR, 0);
    return taken ? v->ops->list(v, l->cursor - OWN_ENTRIES, take_listed, l) : 0;
}

int64_t file_list(struct file *f, vaddr_t to, uint64_t n)
{
    struct listing l = {.room = MIN(n, PART)};

    if (!vnode_is(f->v, S_IFDIR))
        return -ENOTDIR;
    l.to = kmalloc_unfilled(PART);
    if (!l.to)
        return -ENOMEM;
    bool irq = spin_lock(&f->lock);
    l.cursor = f->at;
    spin_unlock(&f->lock, irq);
    int64_t result = take_all(f->v, &l);
    if (!result)
        result = !l.used && l.full ? -EINVAL : (int64_t)l.used;
    if (result > 0 && arch_copy_to_user(to, l.to, l.used))
        result = -EFAULT;
    kfree(l.to);
    if (result > 0) {
        irq = spin_lock(&f->lock);
        f->at = l.cursor;
        spin_unlock(&f->lock, irq);
    }
    return result;
}
