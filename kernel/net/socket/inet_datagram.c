/* Datagrams of AF_INET; see inet.h. */
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/net/socket/inet.h"
#include <linux/in.h>
#include <linux/poll.h>

static struct inet_socket *of_port(struct net_port *t)
{
    return container_of(t, struct inet_socket, port);
}

static void port_changed(struct net_port *t, unsigned mask)
{
    socket_changed(&of_port(t)->s, mask);
}

/* One with a peer hears of it, and one that wants to (IP_RECVERR). */
static void port_refused(struct net_port *t)
{
    struct inet_socket *n = of_port(t);
    bool irq = spin_lock(&n->s.lock);

    if (t->peer.port || n->options.receive_error) {
        n->s.error = -ECONNREFUSED;
        socket_changed(&n->s, POLLERR);
    }
    spin_unlock(&n->s.lock, irq);
}

static const struct net_port_owner owner = {.changed = port_changed, .refused = port_refused};

void inet_init_datagram(struct inet_socket *n)
{
    n->port.owner = &owner;
    n->port.lock = &n->s.lock;
    net_port_init(&n->port);
    n->port.room = n->s.options.receive_bytes;
}

static int connect_port(struct socket *s, const struct socket_address *to, UNUSED bool nonblock,
                        UNUSED const struct socket_caller *by)
{
    struct inet_socket *n = inet_of(s);
    struct net_address peer;

    if (to->bytes >= sizeof(to->is.ss_family) && to->is.ss_family == AF_UNSPEC)
        return net_port_connect(&n->port, NULL);
    int err = inet_take_address(to, &peer);
    if (err)
        return err;
    if (!peer.ip)
        peer.ip = NET_LOOPBACK;
    return net_port_connect(&n->port, &peer);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static int64_t send_data(struct inet_socket *n, const struct net_address *to,
                         struct socket_message *m)
{
    uint32_t bytes = (uint32_t)m->data.left;
    char *data = kmalloc_unfilled(MAX(bytes, 1u));

    if (!data)
        return -ENOBUFS;
    int err = socket_take(m, data, bytes) ?: net_port_send(&n->port, to, data, bytes);
    kfree(data);
    return err ? err : (int64_t)bytes;
}

static int64_t send_datagram(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct inet_socket *n = inet_of(s);
    struct net_address to;
    int err = 0;

    if (m->data.left > NET_DATAGRAM_MAX)
        return -EMSGSIZE;
    if (flags & MSG_OOB)
        return -EOPNOTSUPP;
    if (m->address.bytes)
        err = inet_take_address(&m->address, &to);
    if (err)
        return err;
    if (m->address.bytes && !to.port)
        return -EINVAL;
    if (m->address.bytes && !to.ip)
        to.ip = NET_LOOPBACK;
    bool irq = spin_lock(&s->lock);
    err = socket_error(s);
    if (!err && !m->address.bytes && !n->port.peer.port)
        err = -EDESTADDRREQ;
    spin_unlock(&s->lock, irq);
    return err ? err : send_data(n, m->address.bytes ? &to : NULL, m);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Waits for a datagram, which stays in the queue. The turn to read is held, but while it waits. */
static int wait_for_datagram(struct inet_socket *n, uint64_t deadline_ns, struct net_datagram **out)
{
    struct socket *s = &n->s;
    int err = 0;

    for (;;) {
        bool irq = spin_lock(&s->lock);
        err = socket_error(s);
        bool found = !err && !list_empty(&n->port.queue);
        if (found)
            *out = container_of(n->port.queue.next, struct net_datagram, in_queue);
        spin_unlock(&s->lock, irq);
        if (found || err)
            return err;
        if (!deadline_ns)
            return -EAGAIN;
        mutex_unlock(&n->reading);
        irq = spin_lock(&s->lock);
        while (!err && list_empty(&n->port.queue) && !s->error)
            err = socket_wait(s, &irq, deadline_ns);
        spin_unlock(&s->lock, irq);
        mutex_lock(&n->reading);
        if (err)
            return err;
    }
}

static void remove_datagram(struct inet_socket *n, struct net_datagram *d)
{
    bool irq = spin_lock(&n->s.lock);

    list_remove(&d->in_queue);
    n->port.queued -= sizeof(*d) + d->bytes;
    spin_unlock(&n->s.lock, irq);
}

static void give_info(const struct net_datagram *d, struct socket_message *m)
{
    const struct in_pktinfo info = {
        .ipi_ifindex = (int)d->interface, .ipi_spec_dst.s_addr = d->to, .ipi_addr.s_addr = d->to};

    socket_put_control(m, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
}

static int64_t give_datagram(struct inet_socket *n, struct net_datagram *d,
                             struct socket_message *m, unsigned flags)
{
    uint64_t bytes = MIN((uint64_t)d->bytes, m->data.left);
    int64_t result = flags & MSG_TRUNC ? d->bytes : (int64_t)bytes;
    bool looks = flags & MSG_PEEK;

    if (!looks)
        remove_datagram(n, d);
    inet_put_address(&d->from, &m->address);
    m->stamp_ns = d->stamp_ns;
    if (n->options.packet_info)
        give_info(d, m);
    if (bytes < d->bytes)
        m->flags |= MSG_TRUNC;
    if (socket_give(m, d->data, bytes))
        result = -EFAULT;
    if (!looks)
        kfree(d);
    return result;
}

static int64_t receive_datagram(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct inet_socket *n = inet_of(s);
    struct net_datagram *d;

    if (flags & (MSG_OOB | MSG_ERRQUEUE))
        return flags & MSG_OOB ? -EOPNOTSUPP : -EAGAIN;
    uint64_t deadline_ns = socket_receive_deadline(s, flags & MSG_DONTWAIT);
    mutex_lock(&n->reading);
    int64_t result = wait_for_datagram(n, deadline_ns, &d) ?: give_datagram(n, d, m, flags);
    mutex_unlock(&n->reading);
    return result;
}

/* ---- Telling and ending ---------------------------------------------------------------------- */

static unsigned poll_port(struct socket *s)
{
    bool irq = spin_lock(&s->lock);
    unsigned found = POLLOUT | POLLWRNORM | (s->error ? POLLERR : 0) |
                     (list_empty(&inet_of(s)->port.queue) ? 0 : POLLIN | POLLRDNORM);

    spin_unlock(&s->lock, irq);
    return found;
}

static int shutdown_port(struct socket *s, UNUSED unsigned how)
{
    bool irq = spin_lock(&s->lock), joined = inet_of(s)->port.peer.port;

    spin_unlock(&s->lock, irq);
    return joined ? 0 : -ENOTCONN;
}

static int name_port(struct socket *s, struct socket_address *out)
{
    bool irq = spin_lock(&s->lock);
    struct net_address own = inet_of(s)->port.own;

    spin_unlock(&s->lock, irq);
    inet_put_address(&own, out);
    return 0;
}

static int peer_port(struct socket *s, struct socket_address *out)
{
    bool irq = spin_lock(&s->lock);
    struct net_address peer = inet_of(s)->port.peer;

    spin_unlock(&s->lock, irq);
    if (!peer.port)
        return -ENOTCONN;
    inet_put_address(&peer, out);
    return 0;
}

static void close_port(struct socket *s)
{
    net_port_close(&inet_of(s)->port);
}

static void release_port(struct socket *s)
{
    struct list *l;

    while ((l = list_pop_front(&inet_of(s)->port.queue)))
        kfree(container_of(l, struct net_datagram, in_queue));
}

const struct socket_ops inet_datagram_ops = {
    .pair = socket_no_pair,
    .bind = inet_bind,
    .shutdown = shutdown_port,
    .name = name_port,
    .peer = peer_port,
    .get_option = inet_get_option,
    .set_option = inet_set_option,
    .option_set = inet_apply_options,
    .ioctl = inet_ioctl,
    .close = close_port,
    .linger = socket_no_linger,
    .release = release_port,
    .connect = connect_port,
    .listen = socket_no_listen,
    .accept = socket_no_accept,
    .send = send_datagram,
    .receive = receive_datagram,
    .poll = poll_port,
};
