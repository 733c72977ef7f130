/* System calls of Linux: from a file to a socket, pipe or file without a way through the program
 * (sendfile(2)). */
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
