/* System calls that read and write descriptors. */
#include "kernel/core/cpu.h"
#include "kernel/file/pipe.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/limits.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/syscall/sockets.h"
#include <asm/signal.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/uio.h>

typedef int64_t transfer(struct file *f, uint64_t at, vaddr_t user, uint64_t n);

static void send_itself(const struct call *c, int number)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_USER};

    info.si_pid = (int)c->p->pid;
    signal_send_thread(c->p, c->t->tid, &info);
}

void pipe_signal(const struct call *c)
{
    send_itself(c, SIGPIPE);
}

/* A file would become larger than the caller's limit. */
static int refuse_size(const struct call *c)
{
    send_itself(c, SIGXFSZ);
    return -EFBIG;
}

int size_check(const struct call *c, const struct vnode *v, uint64_t bytes)
{
    uint64_t limit = process_limit(c->p, RLIMIT_FSIZE);

    return bytes > limit && bytes > v->size ? refuse_size(c) : 0;
}

/* A socket's bytes are one message, whatever their parts. */
static bool is_socket_transfer(const struct file *f, uint64_t at)
{
    return at == FILE_HERE && socket_of(f);
}

/* Cuts a write of *n bytes to a file where the caller's limit is (RLIMIT_FSIZE). Entered, or `at`
 * is not FILE_HERE. Returns 0, or -EFBIG, with a signal: nothing of it is allowed. */
static int limit_write(const struct call *c, struct file *f, uint64_t at, uint64_t *n)
{
    uint64_t limit = process_limit(c->p, RLIMIT_FSIZE);
    struct vnode_stat s;

    if (limit == RLIM64_INFINITY || !vnode_is(f->v, S_IFREG) || !*n)
        return 0;
    f->v->ops->stat(f->v, &s);
    if (f->flags & O_APPEND)
        at = s.size;
    else if (at == FILE_HERE)
        at = file_position(f);
    if (at >= limit)
        return refuse_size(c);
    *n = MIN(*n, limit - at);
    return 0;
}

static int64_t transfer_one(const struct call *c, transfer *move, uint64_t at)
{
    struct file *f = files_find(c->p->files, c->a[0]);
    int64_t result = -EINVAL;

    if (!f)
        return -EBADF;
    if (c->a[2] <= INT64_MAX && is_socket_transfer(f, at)) {
        struct iovec part = {(void *)c->a[1], c->a[2]};
        result = parts_check(&part, 1) ?: socket_transfer(c, f, &part, 1, move == file_write);
    } else if (c->a[2] <= INT64_MAX) {
        struct mutex *end = file_enter(f, at, move == file_write);
        uint64_t n = c->a[2];
        result = move == file_write ? limit_write(c, f, at, &n) : 0;
        if (!result)
            result = move(f, at, c->a[1], n);
        file_leave(f, at, end);
        if (result == -EPIPE) /* it has no reader any more */
            pipe_signal(c);
    }
    file_put(f);
    return result;
}

int64_t sys_read(const struct call *c)
{
    return transfer_one(c, file_read, FILE_HERE);
}

int64_t sys_write(const struct call *c)
{
    return transfer_one(c, file_write, FILE_HERE);
}

int64_t sys_pread64(const struct call *c)
{
    return c->a[3] > INT64_MAX ? -EINVAL : transfer_one(c, file_read, c->a[3]);
}

int64_t sys_pwrite64(const struct call *c)
{
    return c->a[3] > INT64_MAX ? -EINVAL : transfer_one(c, file_write, c->a[3]);
}

/* Moves the parts one after the other, until one is not moved whole. */
static int64_t transfer_parts(const struct call *c, struct file *f, transfer *move, uint64_t at,
                              const struct iovec *parts, uint64_t n)
{
    int64_t done = 0, moved = 0;
    bool moves = false;

    for (uint64_t i = 0; i < n; i++) {
        if (!parts[i].iov_len)
            continue;
        moves = true;
        uint64_t here = at == FILE_HERE ? at : at + (uint64_t)done, part = parts[i].iov_len;
        moved = move == file_write ? limit_write(c, f, here, &part) : 0;
        if (!moved)
            moved = move(f, here, (vaddr_t)parts[i].iov_base, part);
        if (moved < 0)
            break;
        done += moved;
        if ((uint64_t)moved < parts[i].iov_len)
            break;
    }
    if (!moves) /* the descriptor is looked at even so */
        return move(f, at, 0, 0);
    return done ? done : moved;
}

int parts_check(const struct iovec *parts, uint64_t n)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t length = parts[i].iov_len;
        if (length > INT64_MAX - sum)
            return -EINVAL;
        sum += length;
    }
    for (uint64_t i = 0; i < n; i++)
        if (!arch_user_range((vaddr_t)parts[i].iov_base, parts[i].iov_len))
            return -EFAULT;
    return 0;
}

static int64_t transfer_checked(const struct call *c, struct file *f, transfer *move, uint64_t at,
                                const struct iovec *parts, unsigned n)
{
    if (is_socket_transfer(f, at))
        return socket_transfer(c, f, parts, n, move == file_write);
    struct mutex *end = file_enter(f, at, move == file_write);
    int64_t result = transfer_parts(c, f, move, at, parts, n);
    file_leave(f, at, end);
    if (result == -EPIPE)
        pipe_signal(c);
    return result;
}

static int64_t transfer_many(const struct call *c, transfer *move, uint64_t at)
{
    uint64_t n = c->a[2];
    struct file *f = files_find(c->p->files, c->a[0]);
    struct iovec *parts = NULL;
    int64_t result = -EBADF;

    if (!f)
        return -EBADF;
    if (n > UIO_MAXIOV) {
        result = -EINVAL;
    } else if (!(parts = kmalloc(MAX(n, 1ull) * sizeof(*parts)))) {
        result = -ENOMEM;
    } else if (arch_copy_from_user(parts, c->a[1], n * sizeof(*parts))) {
        result = -EFAULT;
    } else {
        result = parts_check(parts, n);
        if (!result)
            result = transfer_checked(c, f, move, at, parts, (unsigned)n);
    }
    kfree(parts);
    file_put(f);
    return result;
}

int64_t sys_readv(const struct call *c)
{
    return transfer_many(c, file_read, FILE_HERE);
}

int64_t sys_writev(const struct call *c)
{
    return transfer_many(c, file_write, FILE_HERE);
}

int64_t sys_preadv(const struct call *c)
{
    return c->a[3] > INT64_MAX ? -EINVAL : transfer_many(c, file_read, c->a[3]);
}

int64_t sys_pwritev(const struct call *c)
{
    return c->a[3] > INT64_MAX ? -EINVAL : transfer_many(c, file_write, c->a[3]);
}

/* preadv2 and pwritev2: at an offset, or, for -1, at the position. Of the flags there are none. */
static int64_t transfer_flagged(const struct call *c, transfer *move)
{
    if ((int64_t)c->a[3] < -1)
        return -EINVAL;
    if (c->a[5])
        return -EOPNOTSUPP;
    return transfer_many(c, move, (int64_t)c->a[3] == -1 ? FILE_HERE : c->a[3]);
}

int64_t sys_preadv2(const struct call *c)
{
    return transfer_flagged(c, file_read);
}

int64_t sys_pwritev2(const struct call *c)
{
    return transfer_flagged(c, file_write);
}
