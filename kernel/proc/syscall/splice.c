/* System calls of Linux: between pipes, and between pipes and files, sockets or memory, by the
 * kernel (splice(2), tee(2), vmsplice(2)). Bytes are copied, once. */
#include "kernel/arch/arch.h"
#include "kernel/file/pipe.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/syscall/sockets.h"
#include <linux/fcntl.h>
#include <linux/uio.h>

#define PART (4 * PAGE_SIZE) /* bytes moved at a time */

/* The flags of splice(2), which no header of Linux's for programs has. */
enum { SPLICE_MOVE = 1, SPLICE_NONBLOCK = 2, SPLICE_MORE = 4, SPLICE_GIFT = 8, SPLICE_ALL = 15 };

/* One end of a splice. */
struct end {
    struct file *f;
    bool pipe;
    vaddr_t user; /* of its offset; 0: it has its position, or none */
    uint64_t at;  /* FILE_HERE, or the offset */
};

struct splice {
    const struct call *c;
    struct end in, out;
    bool waits;
    char *buffer; /* of PART bytes */
};

static uint32_t flags_of(const struct file *f)
{
    return __atomic_load_n(&f->flags, __ATOMIC_RELAXED);
}

/* ---- One part -------------------------------------------------------------------------------- */

/* Puts bytes into what is no pipe. Returns how many. */
static int64_t put_out(const struct splice *s, uint64_t n)
{
    const struct end *out = &s->out;

    if (socket_of(out->f))
        return socket_send_kernel(s->c, out->f, s->buffer, n);
    struct mutex *end = file_enter(out->f, out->at, true);
    int64_t result = file_write_kernel(out->f, out->at, s->buffer, n);
    file_leave(out->f, out->at, end);
    return result;
}

/* Gets bytes from what is no pipe. Returns how many; 0 at the end. */
static int64_t get_in(const struct splice *s, uint64_t n)
{
    const struct end *in = &s->in;

    if (socket_of(in->f))
        return socket_receive_kernel(s->c, in->f, s->buffer, n, !s->waits);
    file_enter(in->f, in->at, false);
    int64_t result = file_read_kernel(in->f, in->at, s->buffer, n);
    file_leave(in->f, in->at, NULL);
    return result;
}

/* Moves up to n bytes out of a pipe. `waits`: for the first ones. */
static int64_t from_pipe(const struct splice *s, uint64_t n, bool waits)
{
    int64_t got = 0, put = 0, room = s->out.pipe ? pipe_wait_room(s->out.f, waits) : (int64_t)n;

    if (room > 0)
        got = pipe_take(s->in.f, s->buffer, MIN(n, (uint64_t)room), waits);
    if (room <= 0 || got <= 0)
        return room <= 0 ? room : got;
    put = s->out.pipe ? pipe_put(s->out.f, s->buffer, (uint64_t)got, waits)
                      : put_out(s, (uint64_t)got);
    pipe_settle(s->in.f, s->buffer, (uint64_t)got, put > 0 ? (uint64_t)put : 0);
    return put;
}

/* Moves up to n bytes into a pipe. */
static int64_t to_pipe(const struct splice *s, uint64_t n, bool waits)
{
    int64_t room = pipe_wait_room(s->out.f, waits);
    int64_t got = room < 0 ? room : get_in(s, MIN(n, (uint64_t)room));
    uint64_t done = 0;

    while (got > 0 && done < (uint64_t)got) { /* others may have taken the room */
        int64_t put = pipe_put(s->out.f, s->buffer + done, (uint64_t)got - done, true);
        if (put < 0)
            return done ? (int64_t)done : put;
        done += (uint64_t)put;
    }
    return got;
}

/* ---- splice ---------------------------------------------------------------------------------- */

static int64_t move(struct splice *s, uint64_t n)
{
    uint64_t done = 0;
    int64_t moved;

    do {
        uint64_t part = MIN(n - done, PART);
        bool waits = s->waits && !done;
        moved = s->in.pipe ? from_pipe(s, part, waits) : to_pipe(s, part, waits);
        if (moved > 0) {
            done += (uint64_t)moved;
            s->in.at += s->in.at == FILE_HERE ? 0 : (uint64_t)moved;
            s->out.at += s->out.at == FILE_HERE ? 0 : (uint64_t)moved;
        }
        sched_point();
    } while (moved > 0 && done < n && !sched_interrupted() &&
             (s->in.pipe || vnode_is(s->in.f->v, S_IFREG)));
    if (moved == -EPIPE && !done)
        pipe_signal(s->c);
    return done ? (int64_t)done : moved;
}

static int find_end(const struct call *c, uint64_t fd, vaddr_t offset, struct end *e)
{
    *e = (struct end){.f = files_find(c->p->files, fd), .user = offset, .at = FILE_HERE};
    e->pipe = e->f && pipe_is(e->f);
    return e->f ? 0 : -EBADF;
}

static int take_offset(struct end *e)
{
    if (!e->user)
        return 0;
    if (e->pipe)
        return -ESPIPE;
    if (e->f->v->ops->stream)
        return -EINVAL;
    if (arch_copy_from_user(&e->at, e->user, sizeof(e->at)))
        return -EFAULT;
    return e->at > INT64_MAX ? -EINVAL : 0;
}

static int put_offset(const struct end *e)
{
    return e->user && arch_copy_to_user(e->user, &e->at, sizeof(e->at)) ? -EFAULT : 0;
}

static bool is_open_for(const struct file *in, const struct file *out)
{
    return (flags_of(in) & O_ACCMODE) != O_WRONLY && (flags_of(out) & O_ACCMODE) != O_RDONLY;
}

static int check_splice(struct splice *s)
{
    const struct file *in = s->in.f, *out = s->out.f;

    if (!is_open_for(in, out))
        return -EBADF;
    int err = take_offset(&s->in) ?: take_offset(&s->out);
    if (err)
        return err;
    if ((!s->in.pipe && !s->out.pipe) || (s->in.pipe && s->out.pipe && pipe_is_same(in, out)))
        return -EINVAL;
    if (s->in.pipe && !s->out.pipe && (flags_of(out) & O_APPEND))
        return -EINVAL;
    return vnode_is(in->v, S_IFDIR) ? -EINVAL : 0;
}

static int64_t splice(struct splice *s, uint64_t n)
{
    int64_t result = check_splice(s);

    if (result)
        return result;
    s->waits = s->waits && !(s->in.pipe && (flags_of(s->in.f) & O_NONBLOCK)) &&
               !(s->out.pipe && (flags_of(s->out.f) & O_NONBLOCK));
    s->buffer = kmalloc_unfilled(PART);
    result = s->buffer ? move(s, MIN(n, FILE_BYTES_MAX)) : -ENOMEM;
    kfree(s->buffer);
    return result > 0 ? put_offset(&s->in) ?: put_offset(&s->out) ?: result : result;
}

int64_t sys_splice(const struct call *c)
{
    uint64_t n = c->a[4], flags = (uint32_t)c->a[5];
    struct splice s = {.c = c, .waits = !(flags & SPLICE_NONBLOCK)};

    if (!n)
        return 0;
    if (flags & ~(uint64_t)SPLICE_ALL)
        return -EINVAL;
    int64_t result = find_end(c, c->a[0], c->a[1], &s.in) ?: find_end(c, c->a[2], c->a[3], &s.out);
    if (!result)
        result = splice(&s, n);
    file_put(s.in.f);
    file_put(s.out.f);
    return result;
}

/* ---- tee ------------------------------------------------------------------------------------- */

/* Copies what is in one pipe to another. */
static int64_t tee(struct file *in, struct file *out, uint64_t n, bool waits)
{
    int64_t room = pipe_wait_room(out, waits), result;

    if (room < 0)
        return room;
    n = MIN(MIN(n, (uint64_t)room), (uint64_t)PIPE_ROOM_MAX);
    char *buffer = kmalloc_unfilled(n);
    if (!buffer)
        return -ENOMEM;
    result = pipe_look(in, buffer, n, waits);
    if (result > 0)
        result = pipe_put(out, buffer, (uint64_t)result, waits);
    kfree(buffer);
    return result;
}

int64_t sys_tee(const struct call *c)
{
    uint64_t flags = (uint32_t)c->a[3];

    if (flags & ~(uint64_t)SPLICE_ALL)
        return -EINVAL;
    if (!c->a[2])
        return 0;
    struct file *in = files_find(c->p->files, c->a[0]), *out = files_find(c->p->files, c->a[1]);
    int64_t result = !in || !out || !is_open_for(in, out)                     ? -EBADF
                     : !pipe_is(in) || !pipe_is(out) || pipe_is_same(in, out) ? -EINVAL
                                                                              : 0;
    if (!result)
        result = tee(in, out, c->a[2],
                     !(flags & SPLICE_NONBLOCK) && !((flags_of(in) | flags_of(out)) & O_NONBLOCK));
    if (result == -EPIPE)
        pipe_signal(c);
    file_put(in);
    file_put(out);
    return result;
}

/* ---- vmsplice -------------------------------------------------------------------------------- */

/* Moves up to n bytes from user memory into a pipe, or out of it. */
static int64_t move_memory(struct file *f, char *buffer, vaddr_t user, uint64_t n, bool waits)
{
    if ((flags_of(f) & O_ACCMODE) == O_RDONLY) {
        int64_t got = pipe_take(f, buffer, n, waits);
        bool bad = got > 0 && arch_copy_to_user(user, buffer, (size_t)got);
        if (got > 0)
            pipe_settle(f, buffer, (uint64_t)got, bad ? 0 : (uint64_t)got);
        return bad ? -EFAULT : got;
    }
    int64_t room = pipe_wait_room(f, waits);
    if (room < 0)
        return room;
    n = MIN(n, (uint64_t)room);
    return arch_copy_from_user(buffer, user, n) ? -EFAULT : pipe_put(f, buffer, n, waits);
}

static int64_t move_parts(struct file *f, const struct iovec *parts, uint64_t count, bool waits)
{
    char *buffer = kmalloc_unfilled(PART);
    uint64_t done = 0, in_part = 0;
    int64_t moved = buffer ? 1 : -ENOMEM;

    for (uint64_t i = 0; i < count && moved > 0 && !sched_interrupted();) {
        uint64_t left = parts[i].iov_len - in_part;
        if (!left) {
            i++;
            in_part = 0;
            continue;
        }
        moved = move_memory(f, buffer, (vaddr_t)parts[i].iov_base + in_part, MIN(left, PART),
                            waits && !done);
        done += moved > 0 ? (uint64_t)moved : 0;
        in_part += moved > 0 ? (uint64_t)moved : 0;
        sched_point();
    }
    kfree(buffer);
    return done ? (int64_t)done : moved > 0 ? 0 : moved;
}

int64_t sys_vmsplice(const struct call *c)
{
    uint64_t n = c->a[2], flags = (uint32_t)c->a[3];

    if (flags & ~(uint64_t)SPLICE_ALL)
        return -EINVAL;
    struct file *f = files_find(c->p->files, c->a[0]);
    struct iovec *parts = NULL;
    int64_t result = !f || !pipe_is(f) ? -EBADF : n > UIO_MAXIOV ? -EINVAL : 0;
    if (!result && !(parts = kmalloc(MAX(n, 1ull) * sizeof(*parts))))
        result = -ENOMEM;
    if (!result && arch_copy_from_user(parts, c->a[1], n * sizeof(*parts)))
        result = -EFAULT;
    if (!result)
        result = parts_check(parts, n) ?: move_parts(f, parts, n, !(flags & SPLICE_NONBLOCK));
    if (result == -EPIPE)
        pipe_signal(c);
    kfree(parts);
    file_put(f);
    return result;
}
