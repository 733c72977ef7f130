/* System calls of Linux: from a file to a socket, pipe or file without a way through the program
 * (sendfile(2), copy_file_range(2)). */
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/syscall/sockets.h"
#include <linux/fcntl.h>
#include <linux/fs.h>

#define PART (4 * PAGE_SIZE) /* bytes moved at a time */

struct sending {
    const struct call *c;
    struct file *in, *out;
    uint64_t at;  /* in `in` */
    char *buffer; /* of PART bytes; NULL: the contents lie in memory */
};

static uint32_t flags_of(const struct file *f)
{
    return __atomic_load_n(&f->flags, __ATOMIC_RELAXED);
}

static int64_t put_part(const struct sending *s, const void *from, uint64_t n)
{
    if (socket_of(s->out))
        return socket_send_kernel(s->c, s->out, from, n);
    struct mutex *end = file_enter(s->out, FILE_HERE, true);
    int64_t result = file_write_kernel(s->out, FILE_HERE, from, n);
    file_leave(s->out, FILE_HERE, end);
    if (result == -EPIPE)
        pipe_signal(s->c);
    return result;
}

/* Moves up to n bytes. Returns how many; 0 at the end of the file; *all: as many as there were. */
static int64_t move_part(const struct sending *s, uint64_t n, bool *all)
{
    const struct vnode *v = s->in->v;
    const char *from = s->buffer;
    int64_t got;

    if (from) {
        got = file_read_kernel(s->in, s->at, s->buffer, n);
    } else {
        got = s->at < v->size ? (int64_t)MIN(n, v->size - s->at) : 0;
        from = (const char *)v->data + s->at;
    }
    if (got <= 0)
        return got;
    int64_t put = put_part(s, from, (uint64_t)got);
    *all = put == got;
    return put;
}

static int64_t move(struct sending *s, uint64_t n)
{
    uint64_t done = 0;
    int64_t moved;
    bool all = true;

    if (!s->in->v->data) {
        s->buffer = kmalloc_unfilled(PART);
        if (!s->buffer)
            return -ENOMEM;
    }
    do {
        moved = n > done ? move_part(s, MIN(n - done, PART), &all) : 0;
        if (moved > 0) {
            done += (uint64_t)moved;
            s->at += (uint64_t)moved;
        }
        sched_point();
    } while (moved > 0 && all && !sched_interrupted());
    kfree(s->buffer);
    return done ? (int64_t)done : moved;
}

/* Checks what is asked for, in Linux's order. */
static int check(const struct sending *s, bool has_offset, uint64_t n)
{
    if (!s->in || (flags_of(s->in) & O_ACCMODE) == O_WRONLY)
        return -EBADF;
    if (has_offset && s->in->v->ops->stream)
        return -ESPIPE;
    if (n > INT64_MAX || s->at > INT64_MAX || n > INT64_MAX - s->at)
        return -EINVAL;
    if (!s->out || (flags_of(s->out) & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    if (!vnode_is(s->in->v, S_IFREG) || (flags_of(s->out) & O_APPEND && !s->out->v->ops->stream))
        return -EINVAL;
    return 0;
}

int64_t sys_sendfile(const struct call *c)
{
    struct sending s = {.c = c};
    bool has_offset = c->a[2];

    if (has_offset && arch_copy_from_user(&s.at, c->a[2], sizeof(s.at)))
        return -EFAULT;
    s.in = files_find(c->p->files, c->a[1]);
    s.out = files_find(c->p->files, c->a[0]);
    if (s.in && !has_offset && !s.in->v->ops->stream)
        s.at = (uint64_t)file_seek(s.in, 0, SEEK_CUR);
    int64_t result = check(&s, has_offset, c->a[3]);
    if (!result)
        result = move(&s, MIN(c->a[3], FILE_BYTES_MAX));
    if (result > 0 && !has_offset)
        file_seek(s.in, (int64_t)s.at, SEEK_SET);
    file_put(s.in);
    file_put(s.out);
    if (has_offset && arch_copy_to_user(c->a[2], &s.at, sizeof(s.at)))
        return -EFAULT;
    return result;
}

/* ---- From file to file ----------------------------------------------------------------------- */

/* One end of copy_file_range(2). */
struct copy_end {
    struct file *f;
    vaddr_t user; /* of its offset; 0: the file's position */
    uint64_t at;
};

static int begin_copy(const struct call *c, uint64_t fd, vaddr_t user, struct copy_end *end)
{
    *end = (struct copy_end){.f = files_find(c->p->files, fd), .user = user};
    if (!end->f)
        return -EBADF;
    if (user && arch_copy_from_user(&end->at, user, sizeof(end->at)))
        return -EFAULT;
    if (!user && !end->f->v->ops->stream)
        end->at = (uint64_t)file_seek(end->f, 0, SEEK_CUR);
    return 0;
}

/* Puts the offset behind what was copied. */
static int end_copy(const struct copy_end *end)
{
    if (end->user)
        return arch_copy_to_user(end->user, &end->at, sizeof(end->at)) ? -EFAULT : 0;
    file_seek(end->f, (int64_t)end->at, SEEK_SET);
    return 0;
}

static int check_copy(const struct copy_end *in, const struct copy_end *out, uint64_t n)
{
    if (vnode_is(in->f->v, S_IFDIR) || vnode_is(out->f->v, S_IFDIR))
        return -EISDIR;
    if (!vnode_is(in->f->v, S_IFREG) || !vnode_is(out->f->v, S_IFREG))
        return -EINVAL;
    if ((flags_of(in->f) & O_ACCMODE) == O_WRONLY || (flags_of(out->f) & O_ACCMODE) == O_RDONLY ||
        flags_of(out->f) & O_APPEND)
        return -EBADF;
    if (in->at > INT64_MAX || out->at > INT64_MAX)
        return -EINVAL;
    if (n > INT64_MAX - in->at || n > INT64_MAX - out->at)
        return -EOVERFLOW;
    return in->f->v == out->f->v && in->at < out->at + n && out->at < in->at + n ? -EINVAL : 0;
}

static int64_t copy(struct copy_end *in, struct copy_end *out, uint64_t n)
{
    char *buffer = kmalloc_unfilled(PART);
    uint64_t done = 0;
    int64_t moved = buffer ? 1 : -ENOMEM;

    while (moved > 0 && done < n && !sched_interrupted()) {
        moved = file_read_kernel(in->f, in->at, buffer, MIN(n - done, PART));
        if (moved > 0)
            moved = file_write_kernel(out->f, out->at, buffer, (uint64_t)moved);
        if (moved > 0) {
            in->at += (uint64_t)moved;
            out->at += (uint64_t)moved;
            done += (uint64_t)moved;
        }
        sched_point();
    }
    kfree(buffer);
    return done ? (int64_t)done : moved < 0 ? moved : 0;
}

int64_t sys_copy_file_range(const struct call *c)
{
    struct copy_end in, out = {0};
    uint64_t n = MIN(c->a[4], FILE_BYTES_MAX);
    int64_t result = begin_copy(c, c->a[0], c->a[1], &in) ?: begin_copy(c, c->a[2], c->a[3], &out);

    if (!result)
        result = c->a[5] ? -EINVAL : check_copy(&in, &out, c->a[4]);
    if (!result)
        result = n ? copy(&in, &out, n) : 0;
    if (result > 0)
        result = end_copy(&in) ?: end_copy(&out) ?: result;
    file_put(in.f);
    file_put(out.f);
    return result;
}
