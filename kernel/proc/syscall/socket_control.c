/* Descriptors and credentials in the control data of messages: SCM_RIGHTS, SCM_CREDENTIALS. */
#include "kernel/arch/arch.h"
#include "kernel/core/wall_clock.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/syscall/sockets.h"

/* ---- Sending --------------------------------------------------------------------------------- */

void socket_drop_rights(struct socket_rights *r)
{
    for (unsigned i = 0; r && i < r->n; i++)
        file_put(r->file[i]);
    kfree(r);
}

/* Takes the files of n descriptors. */
static int take_files(const struct call *c, struct socket_message *m, const char *from, size_t n)
{
    if (!n)
        return 0;
    if (n > RIGHTS_MAX)
        return -EINVAL;
    if (!m->rights) {
        m->rights = kmalloc(sizeof(*m->rights));
        if (!m->rights)
            return -ENOMEM;
    }
    if (n > RIGHTS_MAX - m->rights->n)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        uint32_t fd;
        memcpy(&fd, from + i * sizeof(fd), sizeof(fd));
        struct file *f = files_find_any(c->p->files, fd);
        if (!f)
            return -EBADF;
        m->rights->file[m->rights->n++] = f;
    }
    return 0;
}

/* The process must be there; its numbers are not checked, as all have those of root. */
static int take_credentials(const struct call *c, struct socket_message *m, const char *from,
                            size_t n)
{
    struct socket_credentials given;

    if (n != sizeof(given))
        return -EINVAL;
    memcpy(&given, from, n);
    if ((uint32_t)given.pid != c->p->pid) {
        struct process *p = process_find((uint32_t)given.pid);
        process_put(p);
        if (!p)
            return -ESRCH;
    }
    if (given.uid == (uint32_t)-1 || given.gid == (uint32_t)-1)
        return -EINVAL;
    m->credentials = given;
    return 0;
}

static int take_part(const struct call *c, struct socket_message *m, const struct cmsghdr *head,
                     const char *data)
{
    size_t n = head->cmsg_len - sizeof(*head);

    if (head->cmsg_level != SOL_SOCKET)
        return 0;
    switch (head->cmsg_type) {
    case SCM_RIGHTS:
        return take_files(c, m, data, n / sizeof(int));
    case SCM_CREDENTIALS:
        return take_credentials(c, m, data, n);
    default:
        return -EINVAL;
    }
}

int socket_take_passed(const struct call *c, struct socket_message *m)
{
    size_t at = 0;
    int err = 0;

    m->credentials = m->caller->is;
    while (!err && m->control_bytes - at >= sizeof(struct cmsghdr)) {
        struct cmsghdr head;
        memcpy(&head, m->control + at, sizeof(head));
        if (head.cmsg_len < sizeof(head) || head.cmsg_len > m->control_bytes - at)
            err = -EINVAL;
        else
            err = take_part(c, m, &head, m->control + at + sizeof(head));
        at += err ? 0 : MIN(CMSG_ALIGN(head.cmsg_len), m->control_bytes - at);
    }
    if (err) {
        socket_drop_rights(m->rights);
        m->rights = NULL;
    }
    return err;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static void put_stamp(struct socket *s, struct socket_message *m)
{
    uint64_t ns = m->stamp_ns;
    int64_t stamp[2] = {(int64_t)(ns / NS_PER_S), (int64_t)(ns % NS_PER_S)};

    if (!ns)
        return;
    if (s->options.stamps_ns) {
        socket_put_control(m, SOL_SOCKET, SO_TIMESTAMPNS, stamp, sizeof(stamp));
    } else if (s->options.stamps) {
        stamp[1] /= NS_PER_US;
        socket_put_control(m, SOL_SOCKET, SO_TIMESTAMP, stamp, sizeof(stamp));
    }
}

/* Gives files descriptors, as many as there is room for. */
static void put_files(const struct call *c, struct socket_message *m, bool closes)
{
    struct socket_rights *r = m->rights;
    size_t room = m->control ? m->control_room - m->control_bytes : 0;
    size_t most = room > sizeof(struct cmsghdr) ? (room - sizeof(struct cmsghdr)) / sizeof(int) : 0;
    int *fds = kmalloc_unfilled(RIGHTS_MAX * sizeof(int));
    unsigned n = 0;

    while (fds && n < r->n && n < most) {
        int fd = files_add(c->p->files, file_get(r->file[n]), 0, closes);
        if (fd < 0) {
            file_put(r->file[n]);
            break;
        }
        fds[n++] = fd;
    }
    if (n)
        socket_put_control(m, SOL_SOCKET, SCM_RIGHTS, fds, n * sizeof(int));
    if (n < r->n)
        m->flags |= MSG_CTRUNC;
    kfree(fds);
}

void socket_put_passed(const struct call *c, struct socket *s, struct socket_message *m,
                       bool closes)
{
    put_stamp(s, m);
    if (m->has_credentials)
        socket_put_control(m, SOL_SOCKET, SCM_CREDENTIALS, &m->credentials, sizeof(m->credentials));
    if (m->rights && m->rights->n)
        put_files(c, m, closes);
    socket_drop_rights(m->rights);
    m->rights = NULL;
}
