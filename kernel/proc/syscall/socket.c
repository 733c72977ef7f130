/* System calls of Linux: sockets, but for messages (socket_message.c). */
#include "kernel/arch/arch.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/syscall/sockets.h"
#include <linux/fcntl.h>

_Static_assert(SOCK_NONBLOCK == O_NONBLOCK && SOCK_CLOEXEC == O_CLOEXEC, "one flag, two names");

#define MAKING (SOCK_CLOEXEC | SOCK_NONBLOCK) /* flags of a socket that is made */

void socket_called_by(const struct call *c, struct socket_caller *out)
{
    *out = (struct socket_caller){c->p->files, c->p->kernel, {c->p->pid, 0, 0}};
}

int socket_find(const struct call *c, uint64_t fd, struct file **f, struct socket **out)
{
    *f = files_find(c->p->files, (uint32_t)fd);
    if (!*f)
        return -EBADF;
    *out = socket_of(*f);
    if (*out)
        return 0;
    file_put(*f);
    return -ENOTSOCK;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

int socket_take_address(struct socket_address *a, vaddr_t from, int bytes)
{
    if (bytes < 0 || bytes > (int)sizeof(a->is))
        return -EINVAL;
    memset(&a->is, 0, sizeof(a->is));
    a->bytes = (uint32_t)bytes;
    return arch_copy_from_user(&a->is, from, a->bytes) ? -EFAULT : 0;
}

int socket_put_address(const struct socket_address *a, vaddr_t to, vaddr_t length)
{
    int room, whole = (int)a->bytes;

    if (arch_copy_from_user(&room, length, sizeof(room)))
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    if (arch_copy_to_user(to, &a->is, MIN((size_t)room, (size_t)a->bytes)))
        return -EFAULT;
    return arch_copy_to_user(length, &whole, sizeof(whole)) ? -EFAULT : 0;
}

/* ---- Making ---------------------------------------------------------------------------------- */

int64_t sys_socket(const struct call *c)
{
    uint32_t type = (uint32_t)c->a[1], flags = type & ~(uint32_t)SOCK_TYPE_MASK;
    struct socket_caller by;
    struct socket *s;
    struct file *f;

    if (flags & ~(uint32_t)MAKING)
        return -EINVAL;
    socket_called_by(c, &by);
    int err = socket_make((int)c->a[0], (int)type & SOCK_TYPE_MASK, (int)c->a[2], &by, &s)
                  ?: socket_open(s, flags, &f);
    return err ? err : file_give(c, f, flags & SOCK_CLOEXEC);
}

/* Gives both files a descriptor, or drops them. */
static int64_t give_pair(const struct call *c, struct file *const pair[2], bool closes)
{
    int fds[2];

    fds[0] = (int)file_give(c, pair[0], closes);
    if (fds[0] < 0) {
        file_put(pair[1]);
        return fds[0];
    }
    fds[1] = (int)file_give(c, pair[1], closes);
    int64_t err = fds[1] < 0 ? fds[1] : arch_copy_to_user(c->a[3], fds, sizeof(fds)) ? -EFAULT : 0;
    if (err)
        files_close(c->p->files, (uint64_t)fds[0]);
    if (err && fds[1] >= 0)
        files_close(c->p->files, (uint64_t)fds[1]);
    return err;
}

static int open_pair(struct socket *const s[2], uint32_t flags, struct file *out[2])
{
    int err = socket_open(s[0], flags, &out[0]);

    if (err) {
        socket_drop(s[1]);
        return err;
    }
    err = socket_open(s[1], flags, &out[1]);
    if (err)
        file_put(out[0]);
    return err;
}

static int make_pair(const struct call *c, uint32_t type, struct socket *s[2])
{
    struct socket_caller by;
    struct socket *a, *b;

    socket_called_by(c, &by);
    int domain = (int)c->a[0], protocol = (int)c->a[2];
    int err = socket_make(domain, (int)type & SOCK_TYPE_MASK, protocol, &by, &a);
    if (err)
        return err;
    err = socket_make(domain, (int)type & SOCK_TYPE_MASK, protocol, &by, &b);
    if (err) {
        socket_drop(a);
        return err;
    }
    err = a->ops->pair(a, b, &by);
    if (err) {
        socket_drop(a);
        socket_drop(b);
    }
    s[0] = a;
    s[1] = b;
    return err;
}

int64_t sys_socketpair(const struct call *c)
{
    uint32_t type = (uint32_t)c->a[1], flags = type & ~(uint32_t)SOCK_TYPE_MASK;
    struct socket *s[2];
    struct file *f[2];
    int fds[2];

    if (flags & ~(uint32_t)MAKING)
        return -EINVAL;
    /* The numbers are stored before there are sockets. */
    int err = files_free(c->p->files, fds, 2);
    if (err)
        return err;
    if (arch_copy_to_user(c->a[3], fds, sizeof(fds)))
        return -EFAULT;
    err = make_pair(c, type, s) ?: open_pair(s, flags, f);
    return err ? err : give_pair(c, f, flags & SOCK_CLOEXEC);
}

/* ---- Connecting ------------------------------------------------------------------------------ */

int64_t sys_bind(const struct call *c)
{
    struct socket_address a;
    struct socket_caller by;
    struct socket *s;
    struct file *f;
    int err = socket_find(c, c->a[0], &f, &s);

    if (err)
        return err;
    socket_called_by(c, &by);
    err = socket_take_address(&a, c->a[1], (int)c->a[2]) ?: s->ops->bind(s, &a, &by);
    file_put(f);
    return err;
}

int64_t sys_connect(const struct call *c)
{
    struct socket_address a;
    struct socket_caller by;
    struct socket *s;
    struct file *f;
    int err = socket_find(c, c->a[0], &f, &s);

    if (err && err != -ENOTSOCK)
        return err;
    int bad = socket_take_address(&a, c->a[1], (int)c->a[2]); /* it is told first, as by Linux */
    if (err)
        return bad ?: err;
    socket_called_by(c, &by);
    err = bad ?: s->ops->connect(s, &a, socket_nonblocking(f), &by);
    file_put(f);
    return err;
}

int64_t sys_listen(const struct call *c)
{
    struct socket_caller by;
    struct socket *s;
    struct file *f;
    int err = socket_find(c, c->a[0], &f, &s);

    if (err)
        return err;
    socket_called_by(c, &by);
    err = s->ops->listen(s, MIN((uint32_t)c->a[1], (uint32_t)SOMAXCONN), &by);
    file_put(f);
    return err;
}

/* Takes a connection from the socket of f, and opens it. */
static int accept_file(const struct call *c, struct file *f, uint32_t flags, struct file **out)
{
    struct socket *s = socket_of(f), *new;
    struct socket_address a;
    struct socket_caller by;

    if (!s)
        return -ENOTSOCK;
    socket_called_by(c, &by);
    int err = s->ops->accept(s, socket_nonblocking(f), &by, &new) ?: socket_open(new, flags, out);
    if (err)
        return err;
    new = socket_of(*out);
    if (new->connector)
        sharing_connected(by.is.pid, new->connector);
    if (!c->a[1])
        return 0;
    err = new->ops->peer(new, &a) ? -ECONNABORTED : socket_put_address(&a, c->a[1], c->a[2]);
    if (err)
        file_put(*out);
    return err;
}

static int64_t accept_with(const struct call *c, uint32_t flags)
{
    struct file *f = files_find(c->p->files, (uint32_t)c->a[0]), *new;
    int fd;

    if (!f)
        return -EBADF;
    /* No connection is taken that could get no descriptor. */
    int err = flags & ~(uint32_t)MAKING ? -EINVAL : files_free(c->p->files, &fd, 1);
    if (!err)
        err = accept_file(c, f, flags, &new);
    file_put(f);
    return err ? err : file_give(c, new, flags & SOCK_CLOEXEC);
}

int64_t sys_accept(const struct call *c)
{
    return accept_with(c, 0);
}

int64_t sys_accept4(const struct call *c)
{
    return accept_with(c, (uint32_t)c->a[3]);
}

int64_t sys_shutdown(const struct call *c)
{
    struct socket *s;
    struct file *f;
    int err = socket_find(c, c->a[0], &f, &s);

    if (err)
        return err;
    err = (uint32_t)c->a[1] > SHUT_RDWR ? -EINVAL : s->ops->shutdown(s, (unsigned)c->a[1]);
    file_put(f);
    return err;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int64_t tell_name(const struct call *c, bool of_peer)
{
    struct socket_address a;
    struct socket *s;
    struct file *f;
    int err = socket_find(c, c->a[0], &f, &s);

    if (err)
        return err;
    err =
        (of_peer ? s->ops->peer : s->ops->name)(s, &a) ?: socket_put_address(&a, c->a[1], c->a[2]);
    file_put(f);
    return err;
}

int64_t sys_getsockname(const struct call *c)
{
    return tell_name(c, false);
}

int64_t sys_getpeername(const struct call *c)
{
    return tell_name(c, true);
}

/* ---- Options --------------------------------------------------------------------------------- */

static int set_option(struct socket *s, int level, int name, vaddr_t from, unsigned bytes)
{
    char value[SOCKET_OPTION_MAX] = {0};
    unsigned most =
        level == SOL_SOCKET ? sizeof(struct socket_credentials) + sizeof(int) : sizeof(value);

    if (level != SOL_SOCKET && s->ops->set_option == socket_no_set_option)
        return -EOPNOTSUPP;
    bytes = MIN(bytes, most);
    if (level == SOL_SOCKET && name != SO_BINDTODEVICE && bytes < sizeof(int))
        return -EINVAL;
    if (arch_copy_from_user(value, from, bytes))
        return -EFAULT;
    return socket_set_option(s, level, name, value, bytes);
}

int64_t sys_setsockopt(const struct call *c)
{
    struct socket *s;
    struct file *f;

    if ((int)c->a[4] < 0)
        return -EINVAL;
    int err = socket_find(c, c->a[0], &f, &s);
    if (err)
        return err;
    err = set_option(s, (int)c->a[1], (int)c->a[2], c->a[3], (uint32_t)c->a[4]);
    file_put(f);
    return err;
}

static int get_option(struct socket *s, int level, int name, vaddr_t to, vaddr_t length)
{
    char value[SOCKET_OPTION_MAX] = {0};
    int room;

    if (level != SOL_SOCKET && s->ops->get_option == socket_no_get_option)
        return -EOPNOTSUPP;
    if (arch_copy_from_user(&room, length, sizeof(room)))
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    unsigned bytes = MIN((unsigned)room, (unsigned)sizeof(value));
    int err = socket_get_option(s, level, name, value, &bytes);
    if (err)
        return err;
    room = (int)bytes;
    return arch_copy_to_user(to, value, bytes) || arch_copy_to_user(length, &room, sizeof(room))
               ? -EFAULT
               : 0;
}

int64_t sys_getsockopt(const struct call *c)
{
    struct socket *s;
    struct file *f;
    int err = socket_find(c, c->a[0], &f, &s);

    if (err)
        return err;
    err = get_option(s, (int)c->a[1], (int)c->a[2], c->a[3], c->a[4]);
    file_put(f);
    return err;
}
