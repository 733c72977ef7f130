/* The bytes of messages on their way to and from programs; see socket.h. */
#include "kernel/arch/arch.h"
#include "kernel/net/socket/socket.h"

#define CONTROL_ALIGN sizeof(size_t)

/* Moves on by n bytes of the present part. */
static void pass_bytes(struct socket_data *d, size_t n)
{
    d->in_part += n;
    d->left -= n;
}

/* Copies n bytes of user memory, part by part. Exactly one of `to` and `from` is not NULL. */
static int copy_parts(struct socket_data *d, char *to, const char *from, size_t n)
{
    while (n) {
        const struct iovec *part = &d->parts[d->part];
        size_t here = MIN(n, (size_t)(part->iov_len - d->in_part));
        vaddr_t at = (vaddr_t)part->iov_base + d->in_part;
        if (!here) {
            d->part++;
            d->in_part = 0;
            continue;
        }
        if (to ? arch_copy_from_user(to, at, here) : arch_copy_to_user(at, from, here))
            return -EFAULT;
        to = to ? to + here : NULL;
        from = from ? from + here : NULL;
        pass_bytes(d, here);
        n -= here;
    }
    return 0;
}

int socket_take(struct socket_message *m, void *to, size_t n)
{
    struct socket_data *d = &m->data;

    if (d->parts)
        return copy_parts(d, to, NULL, n);
    memcpy(to, d->kernel + d->in_part, n);
    pass_bytes(d, n);
    return 0;
}

int socket_give(struct socket_message *m, const void *from, size_t n)
{
    struct socket_data *d = &m->data;

    if (d->parts)
        return copy_parts(d, NULL, from, n);
    memcpy(d->kernel + d->in_part, from, n);
    pass_bytes(d, n);
    return 0;
}

void socket_put_control(struct socket_message *m, int level, int type, const void *from, size_t n)
{
    struct cmsghdr head = {.cmsg_level = level, .cmsg_type = type};
    size_t room = m->control_room - m->control_bytes;

    if (!m->control || room < sizeof(head)) {
        m->flags |= MSG_CTRUNC;
        return;
    }
    head.cmsg_len = sizeof(head) + n;
    if (room < head.cmsg_len) {
        m->flags |= MSG_CTRUNC;
        head.cmsg_len = room;
    }
    char *to = m->control + m->control_bytes;
    size_t space = MIN(ALIGN_UP(head.cmsg_len, CONTROL_ALIGN), room);
    memset(to, 0, space);
    memcpy(to, &head, sizeof(head));
    memcpy(to + sizeof(head), from, head.cmsg_len - sizeof(head));
    m->control_bytes += space;
}
