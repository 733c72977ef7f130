/* System calls of Linux: messages of sockets, one and several at once. */
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/deadline.h"
#include "kernel/proc/syscall/sockets.h"
#include "kernel/proc/user.h"

#define PARTS_FEW    8    /* parts that need no memory of their own */
#define RECEIVE_ROOM 2048 /* bytes of control data that a message can have */

/* A message header of a program, and what it names. */
struct user_message {
    struct msghdr head;
    struct iovec few[PARTS_FEW], *parts; /* `few`, or freed */
    uint64_t bytes;
};

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint64_t sum_parts(const struct iovec *parts, unsigned n)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += parts[i].iov_len;
    return MIN(sum, FILE_BYTES_MAX);
}

static int take_parts(struct user_message *u)
{
    uint64_t n = u->head.msg_iovlen;

    if (n > UIO_MAXIOV)
        return -EMSGSIZE;
    if (n > PARTS_FEW) {
        u->parts = kmalloc_unfilled(n * sizeof(*u->parts));
        if (!u->parts)
            return -ENOMEM;
    }
    if (arch_copy_from_user(u->parts, (vaddr_t)u->head.msg_iov, n * sizeof(*u->parts)))
        return -EFAULT;
    u->bytes = sum_parts(u->parts, (unsigned)n);
    return parts_check(u->parts, n);
}

/* Leaves what take_message() has taken, or has begun to. */
static void leave_message(struct user_message *u)
{
    if (u->parts != u->few)
        kfree(u->parts);
}

/* Takes the header at a user address, its parts and, if `to` is not NULL, the address in it. */
static int take_message(struct user_message *u, vaddr_t at, struct socket_address *to)
{
    struct msghdr *h = &u->head;
    int err = 0;

    u->parts = u->few;
    if (arch_copy_from_user(h, at, sizeof(*h)))
        return -EFAULT;
    if (!h->msg_name)
        h->msg_namelen = 0;
    if (h->msg_namelen < 0)
        return -EINVAL;
    h->msg_namelen = MIN(h->msg_namelen, (int)sizeof(to->is));
    if (to && h->msg_namelen)
        err = socket_take_address(to, (vaddr_t)h->msg_name, h->msg_namelen);
    return err ?: take_parts(u);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static int64_t send_message(const struct call *c, struct file *f, struct socket *s,
                            struct socket_message *m, unsigned flags)
{
    struct socket_caller by;

    socket_called_by(c, &by);
    m->caller = &by;
    int64_t result = s->family->passes ? socket_take_passed(c, m) : 0;
    if (!result)
        result = s->ops->send(s, m, flags | (socket_nonblocking(f) ? MSG_DONTWAIT : 0));
    socket_drop_rights(m->rights);
    if (result == -EPIPE && s->ops->breaks && !(flags & MSG_NOSIGNAL))
        pipe_signal(c);
    return result;
}

int64_t socket_send_kernel(const struct call *c, struct file *f, const void *from, uint64_t n)
{
    struct socket_message m;

    memset(&m, 0, sizeof(m));
    m.data = (struct socket_data){.kernel = (char *)from, .left = n};
    return send_message(c, f, socket_of(f), &m, 0);
}

/* Takes the control data of what is sent. */
static int take_control(const struct msghdr *h, struct socket_message *m)
{
    if (h->msg_controllen > INT32_MAX || (h->msg_control && h->msg_controllen > CONTROL_MAX))
        return -ENOBUFS;
    if (!h->msg_control || !h->msg_controllen)
        return 0;
    m->control = kmalloc_unfilled(h->msg_controllen);
    if (!m->control)
        return -ENOBUFS;
    m->control_bytes = h->msg_controllen;
    return arch_copy_from_user(m->control, (vaddr_t)h->msg_control, m->control_bytes) ? -EFAULT : 0;
}

/* Sends the message whose header is at a user address. *cut: not all of it was sent. */
static int64_t send_header(const struct call *c, struct file *f, struct socket *s, vaddr_t at,
                           unsigned flags, bool *cut)
{
    struct user_message u;
    struct socket_message m;

    memset(&m, 0, sizeof(m));
    int64_t result = take_message(&u, at, &m.address);
    if (!result) {
        m.data = (struct socket_data){.parts = u.parts, .left = u.bytes};
        result = take_control(&u.head, &m) ?: send_message(c, f, s, &m, flags);
        kfree(m.control);
        *cut = result >= 0 && (uint64_t)result < u.bytes;
    }
    leave_message(&u);
    return result;
}

/* Returns -EINVAL for a flag that is Linux's own, of calls by 32-bit programs, else 0. */
static int of_kernels(uint64_t flags)
{
    const uint32_t compat = 0x80000000; /* MSG_CMSG_COMPAT */

    return flags & compat ? -EINVAL : 0;
}

int64_t sys_sendmsg(const struct call *c)
{
    struct socket *s;
    struct file *f;
    bool cut;
    int err = of_kernels(c->a[2]) ?: socket_find(c, c->a[0], &f, &s);

    if (err)
        return err;
    int64_t result = send_header(c, f, s, c->a[1], (uint32_t)c->a[2], &cut);
    file_put(f);
    return result;
}

int64_t sys_sendmmsg(const struct call *c)
{
    unsigned n = MIN((uint32_t)c->a[2], (uint32_t)UIO_MAXIOV), sent = 0;
    struct socket *s;
    struct file *f;
    bool cut = false;
    int64_t result = of_kernels(c->a[3]) ?: socket_find(c, c->a[0], &f, &s);

    if (result)
        return result;
    while (sent < n && !cut) {
        vaddr_t at = c->a[1] + sent * sizeof(struct mmsghdr);
        result = send_header(c, f, s, at, (uint32_t)c->a[3], &cut);
        uint32_t bytes = (uint32_t)result;
        if (result >= 0 &&
            arch_copy_to_user(at + offsetof(struct mmsghdr, msg_len), &bytes, sizeof(bytes)))
            result = -EFAULT;
        if (result < 0)
            break;
        sent++;
        sched_point();
    }
    file_put(f);
    return sent ? sent : MIN(result, (int64_t)0);
}

/* One part of user memory, as sendto(2) and recvfrom(2) have it. */
static int take_part(const struct call *c, struct iovec *part)
{
    *part = (struct iovec){(void *)c->a[1], MIN(c->a[2], FILE_BYTES_MAX)};
    return parts_check(part, 1);
}

int64_t sys_sendto(const struct call *c)
{
    struct socket_message m;
    struct iovec part;
    struct socket *s;
    struct file *f;
    int64_t result = take_part(c, &part) ?: socket_find(c, c->a[0], &f, &s);

    if (result)
        return result;
    memset(&m, 0, sizeof(m));
    m.data = (struct socket_data){.parts = &part, .left = part.iov_len};
    if (c->a[4])
        result = socket_take_address(&m.address, c->a[4], (int)c->a[5]);
    if (!result)
        result = send_message(c, f, s, &m, (uint32_t)c->a[3]);
    file_put(f);
    return result;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static int64_t receive_message(const struct call *c, struct file *f, struct socket *s,
                               struct socket_message *m, unsigned flags)
{
    struct socket_caller by;

    socket_called_by(c, &by);
    m->caller = &by;
    int64_t result = s->ops->receive(s, m, flags | (socket_nonblocking(f) ? MSG_DONTWAIT : 0));
    if (result >= 0)
        socket_put_passed(c, s, m, flags & MSG_CMSG_CLOEXEC);
    return result;
}

int64_t socket_receive_kernel(const struct call *c, struct file *f, void *to, uint64_t n, bool now)
{
    struct socket_message m;

    memset(&m, 0, sizeof(m));
    m.data = (struct socket_data){.kernel = to, .left = n};
    return receive_message(c, f, socket_of(f), &m, now ? MSG_DONTWAIT : 0);
}

int64_t sys_recvfrom(const struct call *c)
{
    struct socket_message m;
    struct iovec part;
    struct socket *s;
    struct file *f;
    int64_t result = take_part(c, &part) ?: socket_find(c, c->a[0], &f, &s);

    if (result)
        return result;
    memset(&m, 0, sizeof(m));
    m.data = (struct socket_data){.parts = &part, .left = part.iov_len};
    result = receive_message(c, f, s, &m, (uint32_t)c->a[3]);
    if (result >= 0 && c->a[4]) {
        int err = socket_put_address(&m.address, c->a[4], c->a[5]);
        result = err ? err : result;
    }
    file_put(f);
    return result;
}

/* Tells the program what came with the data; its header is at a user address. */
static int put_header(const struct msghdr *h, vaddr_t at, const struct socket_message *m,
                      unsigned flags)
{
    unsigned told = m->flags | (flags & MSG_CMSG_CLOEXEC);
    int err = h->msg_name ? socket_put_address(&m->address, (vaddr_t)h->msg_name,
                                               at + offsetof(struct msghdr, msg_namelen))
                          : 0;

    if (err)
        return err;
    if (arch_copy_to_user((vaddr_t)h->msg_control, m->control, m->control_bytes) ||
        arch_copy_to_user(at + offsetof(struct msghdr, msg_flags), &told, sizeof(told)) ||
        arch_copy_to_user(at + offsetof(struct msghdr, msg_controllen), &m->control_bytes,
                          sizeof(m->control_bytes)))
        return -EFAULT;
    return 0;
}

static int64_t receive_header(const struct call *c, struct file *f, struct socket *s, vaddr_t at,
                              unsigned flags)
{
    struct user_message u;
    struct socket_message m;

    memset(&m, 0, sizeof(m));
    int64_t result = take_message(&u, at, NULL);
    if (!result && u.head.msg_control && u.head.msg_controllen) {
        m.control_room = MIN(u.head.msg_controllen, (size_t)RECEIVE_ROOM);
        m.control = kmalloc_unfilled(m.control_room);
        result = m.control ? 0 : -ENOBUFS;
    }
    if (!result) {
        m.data = (struct socket_data){.parts = u.parts, .left = u.bytes};
        result = receive_message(c, f, s, &m, flags);
    }
    if (result >= 0) {
        int err = put_header(&u.head, at, &m, flags);
        result = err ? err : result;
    }
    kfree(m.control);
    leave_message(&u);
    return result;
}

int64_t sys_recvmsg(const struct call *c)
{
    struct socket *s;
    struct file *f;
    int err = of_kernels(c->a[2]) ?: socket_find(c, c->a[0], &f, &s);

    if (err)
        return err;
    int64_t result = receive_header(c, f, s, c->a[1], (uint32_t)c->a[2]);
    file_put(f);
    return result;
}

static int take_error(struct socket *s)
{
    bool irq = spin_lock(&s->lock);
    int err = socket_error(s);

    spin_unlock(&s->lock, irq);
    return err;
}

/* Receives up to n messages, until the deadline is past when one has come. An error behind the
 * first is kept for the next call. */
static int64_t receive_many(const struct call *c, struct file *f, struct socket *s, unsigned n,
                            uint64_t deadline_ns)
{
    unsigned flags = (uint32_t)c->a[3], got = 0;
    int64_t result = take_error(s);

    if (result)
        return result;
    while (got < n) {
        vaddr_t at = c->a[1] + got * sizeof(struct mmsghdr);
        result = receive_header(c, f, s, at, flags & ~(unsigned)MSG_WAITFORONE);
        uint32_t bytes = (uint32_t)result;
        if (result >= 0 &&
            arch_copy_to_user(at + offsetof(struct mmsghdr, msg_len), &bytes, sizeof(bytes)))
            result = -EFAULT;
        if (result < 0)
            break;
        got++;
        if (flags & MSG_WAITFORONE)
            flags |= MSG_DONTWAIT;
        if (arch_clock_ns() >= deadline_ns)
            break;
        sched_point();
    }
    if (got && result < 0 && result != -EAGAIN && result > -ERESTARTSYS) {
        bool irq = spin_lock(&s->lock);
        s->error = (int)result;
        spin_unlock(&s->lock, irq);
    }
    return got ? got : result;
}

/* Stores how much time is left. */
static int put_time_left(vaddr_t to, uint64_t deadline_ns)
{
    uint64_t now = arch_clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    int64_t t[2] = {(int64_t)(left / NS_PER_S), (int64_t)(left % NS_PER_S)};

    return arch_copy_to_user(to, t, sizeof(t)) ? -EFAULT : 0;
}

int64_t sys_recvmmsg(const struct call *c)
{
    uint64_t deadline_ns = UINT64_MAX, ns;
    struct socket *s;
    struct file *f;
    int err = c->a[4] ? user_get_time(c->a[4], &ns) : 0;

    if (err)
        return err;
    if (c->a[4])
        deadline_ns = deadline_after(ns);
    err = of_kernels(c->a[3]) ?: socket_find(c, c->a[0], &f, &s);
    if (err)
        return err;
    int64_t got = receive_many(c, f, s, (uint32_t)c->a[2], deadline_ns);
    file_put(f);
    if (got > 0 && c->a[4] && put_time_left(c->a[4], deadline_ns))
        return -EFAULT;
    return got;
}

/* ---- Reading and writing --------------------------------------------------------------------- */

int64_t socket_transfer(const struct call *c, struct file *f, const struct iovec *parts, unsigned n,
                        bool writes)
{
    struct socket *s = socket_of(f);
    struct socket_message m;

    memset(&m, 0, sizeof(m));
    m.data = (struct socket_data){.parts = parts, .left = sum_parts(parts, n)};
    if (!m.data.left && (!writes || n != 1))
        return 0;
    return writes ? send_message(c, f, s, &m, s->type == SOCK_SEQPACKET ? MSG_EOR : 0)
                  : receive_message(c, f, s, &m, 0);
}
