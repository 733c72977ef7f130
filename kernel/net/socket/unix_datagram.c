/* Sockets of AF_UNIX that keep messages apart: datagrams and sequenced packets. */
#include "kernel/net/socket/unix.h"
#include <linux/poll.h>

/* ---- Connecting ------------------------------------------------------------------------------ */

/* Returns whether `to` takes datagrams of u: it has no other peer. Its lock is held. */
static bool takes_from(const struct unix_socket *to, const struct unix_socket *u)
{
    return !to->peer || to->peer == u;
}

/* u has left a peer: what it was sent is lost. The peer hears of that, if it still sends to u. */
static void part_from(struct unix_socket *u, struct unix_socket *old)
{
    struct list packets;

    unix_leave_refused(u, old);
    mutex_lock(&u->reading); /* what is being received stays until it is */
    unix_take_packets(u, &packets);
    mutex_unlock(&u->reading);
    bool lost = !list_empty(&packets);
    unix_free_packets(&packets);
    unix_not_full_unlock(u, spin_lock(&u->s.lock));
    bool irq = spin_lock(&old->s.lock);
    if (lost && !old->dead && old->peer == u) {
        old->s.error = -ECONNRESET;
        socket_changed(&old->s, POLLERR);
    }
    spin_unlock(&old->s.lock, irq);
    socket_put(&old->s);
}

/* Makes `to`, which may be NULL, what u sends to. Takes its reference. */
static void set_peer(struct unix_socket *u, struct unix_socket *to)
{
    bool irq = spin_lock(&u->s.lock);
    struct unix_socket *old = u->peer;

    u->peer = to;
    u->state = to ? UNIX_CONNECTED : UNIX_ALONE;
    socket_changed(&u->s, POLLOUT);
    spin_unlock(&u->s.lock, irq);
    if (old && old != to)
        part_from(u, old);
    else
        socket_put(old ? &old->s : NULL);
}

int unix_connect_datagram(struct socket *s, const struct socket_address *to, UNUSED bool nonblock,
                          const struct socket_caller *by)
{
    struct unix_socket *u = unix_of(s), *other;

    if (to->bytes < sizeof(to->is.ss_family))
        return -EINVAL;
    if (to->is.ss_family == AF_UNSPEC) {
        set_peer(u, NULL);
        return 0;
    }
    int err = unix_check_address(to);
    if (!err && s->options.pass_credentials)
        err = unix_autobind(u);
    if (!err)
        err = unix_find(to, s->type, by, &other);
    if (err)
        return err;
    bool irq = spin_lock(&other->s.lock);
    err = other->dead ? -ECONNREFUSED : takes_from(other, u) ? 0 : -EPERM;
    spin_unlock(&other->s.lock, irq);
    if (err)
        socket_put(&other->s);
    else
        set_peer(u, other);
    return err;
}

/* ---- Full queues ----------------------------------------------------------------------------- */

/* The queue of a socket takes any number of datagrams of its own peer, whose send buffer limits
 * them. Lock of `to` held. */
static bool is_full_for(const struct unix_socket *to, const struct unix_socket *u)
{
    return to != u && to->peer != u && to->queued > to->backlog;
}

void unix_leave_refused(struct unix_socket *u, struct unix_socket *to)
{
    bool irq = spin_lock(&to->s.lock), was = u->refused_by == to;

    if (was) {
        u->refused_by = NULL;
        list_remove(&u->in_refused);
    }
    spin_unlock(&to->s.lock, irq);
    if (was)
        socket_put(&u->s);
}

/* Takes one that has found u full out of its list. */
static struct unix_socket *take_refused(struct unix_socket *u)
{
    bool irq = spin_lock(&u->s.lock);
    bool room = u->dead || u->queued <= u->backlog;
    struct list *l = room ? list_pop_front(&u->refused) : NULL;
    struct unix_socket *refused = l ? container_of(l, struct unix_socket, in_refused) : NULL;

    if (refused)
        refused->refused_by = NULL;
    spin_unlock(&u->s.lock, irq);
    return refused;
}

void unix_tell_refused(struct unix_socket *u)
{
    struct unix_socket *told;

    while ((told = take_refused(u))) {
        bool irq = spin_lock(&told->s.lock);
        socket_changed(&told->s, POLLOUT | POLLWRNORM | POLLWRBAND);
        spin_unlock(&told->s.lock, irq);
        socket_put(&told->s);
    }
}

void unix_not_full_unlock(struct unix_socket *u, bool irq)
{
    bool tells = u->queued <= u->backlog && !list_empty(&u->refused);

    if (u->queued <= u->backlog)
        wait_wake(&u->senders, ~0u);
    spin_unlock(&u->s.lock, irq);
    if (tells)
        unix_tell_refused(u);
}

static bool has_peer(struct unix_socket *u, const struct unix_socket *to)
{
    bool irq = spin_lock(&u->s.lock), has = u->peer == to;

    spin_unlock(&u->s.lock, irq);
    return has;
}

/* Returns whether the peer of u is full; then u is told when it is no more. */
static bool peer_is_full(struct unix_socket *u)
{
    struct unix_socket *to = unix_peer(u);

    if (!to)
        return false;
    bool irq = spin_lock(&to->s.lock), full = !to->dead && is_full_for(to, u);
    if (full && !u->refused_by) {
        socket_get(&u->s);
        u->refused_by = to;
        list_push_back(&to->refused, &u->in_refused);
    }
    spin_unlock(&to->s.lock, irq);
    if (full && !has_peer(u, to)) /* it has another now */
        unix_leave_refused(u, to);
    socket_put(&to->s);
    return full;
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* A send's way to where it goes. */
struct delivery {
    struct unix_socket *u, *to; /* `to` referenced */
    uint64_t deadline_ns;
};

/* Returns what keeps a packet out of the queue: 0: nothing; -EAGAIN: the queue is full. Lock of
 * d->to held. */
static int check_delivery(const struct delivery *d)
{
    const struct unix_socket *to = d->to;

    return !takes_from(to, d->u)     ? -EPERM
           : to->dead                ? (d->u->s.type == SOCK_SEQPACKET ? -EPIPE : -ECONNREFUSED)
           : to->shut & UNIX_RECEIVE ? -EPIPE
           : is_full_for(to, d->u)   ? -EAGAIN
                                     : 0;
}

/* Puts p into the queue, if nothing keeps it out. */
static int try_to_put(const struct delivery *d, struct unix_packet *p)
{
    struct unix_socket *to = d->to;
    bool passes = p->rights;

    if (passes)
        mutex_lock(&rights_turn);
    bool irq = spin_lock(&to->s.lock);
    int err = check_delivery(d);
    if (!err)
        unix_put_packet_locked(to, p);
    spin_unlock(&to->s.lock, irq);
    if (passes)
        mutex_unlock(&rights_turn);
    return err;
}

static int deliver(const struct delivery *d, struct unix_packet *p)
{
    struct unix_socket *to = d->to;
    int err;

    while ((err = try_to_put(d, p)) == -EAGAIN) {
        bool irq = spin_lock(&to->s.lock);
        err = 0;
        while (!err && check_delivery(d) == -EAGAIN)
            err = socket_wait_in(&to->senders, &to->s, &irq, d->deadline_ns);
        spin_unlock(&to->s.lock, irq);
        if (err)
            break;
    }
    return err;
}

/* The peer is closed: u has none any more. */
static void lose_peer(struct unix_socket *u, struct unix_socket *to)
{
    bool irq = spin_lock(&u->s.lock), was = u->peer == to;

    if (was) {
        u->peer = NULL;
        u->state = UNIX_ALONE;
    }
    spin_unlock(&u->s.lock, irq);
    if (was)
        part_from(u, to);
}

/* Makes a packet of the message, and delivers it. If the message names where to, that is found
 * last. */
static int64_t send_whole(struct delivery *d, struct socket_message *m)
{
    uint64_t n = m->data.left;
    struct unix_packet *p;

    if (n + 32 > d->u->s.options.send_bytes)
        return -EMSGSIZE;
    int err = unix_make_packet(d->u, m, (uint32_t)n, true, d->deadline_ns, &p);
    if (err)
        return err;
    if (!d->to)
        err = unix_find(&m->address, d->u->s.type, m->caller, &d->to);
    if (!err) {
        err = deliver(d, p);
        if (err == -ECONNREFUSED)
            lose_peer(d->u, d->to);
    }
    if (err)
        unix_free_packet(p);
    return err ? err : (int64_t)n;
}

int64_t unix_send_datagram(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct delivery d = {.u = unix_of(s)};
    int err = flags & MSG_OOB ? -EOPNOTSUPP : 0;

    if (!err && m->address.bytes)
        err = unix_check_address(&m->address);
    if (!err && !m->address.bytes) {
        d.to = unix_peer(d.u);
        err = d.to ? 0 : -ENOTCONN;
    }
    if (!err && s->options.pass_credentials)
        err = unix_autobind(d.u);
    d.deadline_ns = socket_send_deadline(s, flags & MSG_DONTWAIT);
    int64_t result = err ? err : send_whole(&d, m);
    socket_put(d.to ? &d.to->s : NULL);
    return result;
}

/* Takes the pending error, or says that it is not connected. */
static int check_connected(struct unix_socket *u)
{
    bool irq = spin_lock(&u->s.lock);
    int err = socket_error(&u->s);

    if (!err && u->state != UNIX_CONNECTED)
        err = -ENOTCONN;
    spin_unlock(&u->s.lock, irq);
    return err;
}

int64_t unix_send_seqpacket(struct socket *s, struct socket_message *m, unsigned flags)
{
    int err = check_connected(unix_of(s));

    m->address.bytes = 0;
    return err ? err : unix_send_datagram(s, m, flags);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Waits for a packet. Returns 1; 0: none will come; or an error. It is still in the queue, and the
 * turn to read is held. */
static int wait_for_packet(struct unix_socket *u, uint64_t deadline_ns, struct unix_packet **out)
{
    struct socket *s = &u->s;

    for (;;) {
        bool irq = spin_lock(&s->lock);
        int err = socket_error(s);
        bool found = !err && !list_empty(&u->queue), ends = found || err;
        if (found)
            *out = container_of(u->queue.next, struct unix_packet, in_queue);
        if (!ends && !deadline_ns) {
            err = s->type == SOCK_SEQPACKET && u->shut & UNIX_RECEIVE ? 0 : -EAGAIN;
            ends = true;
        }
        ends |= (bool)(u->shut & UNIX_RECEIVE);
        spin_unlock(&s->lock, irq);
        if (ends)
            return err ? err : found;
        mutex_unlock(&u->reading);
        irq = spin_lock(&s->lock);
        while (!err && list_empty(&u->queue) && !s->error && !(u->shut & UNIX_RECEIVE))
            err = socket_wait(s, &irq, deadline_ns);
        spin_unlock(&s->lock, irq);
        mutex_lock(&u->reading);
        if (err)
            return err;
    }
}

/* Takes a packet out of the queue, and tells those that have found it full. */
static void remove_packet(struct unix_socket *u, struct unix_packet *p)
{
    bool irq = spin_lock(&u->s.lock);

    unix_remove_packet_locked(u, p);
    unix_not_full_unlock(u, irq);
}

/* Gives the program a packet that stays in its queue if it only looks, and else is freed. */
static int64_t give_packet(struct unix_socket *u, struct unix_packet *p, struct socket_message *m,
                           unsigned flags)
{
    uint64_t n = MIN((uint64_t)p->bytes, m->data.left);
    bool looks = flags & MSG_PEEK;
    int64_t result = flags & MSG_TRUNC ? p->bytes : (int64_t)n;

    if (!looks)
        remove_packet(u, p);
    unix_tell_source(u, p, m);
    if (n < p->bytes)
        m->flags |= MSG_TRUNC;
    if (!socket_give(m, p->data, n)) {
        m->rights = unix_rights_arrive(p, looks);
    } else {
        result = -EFAULT;
        if (p->rights && !looks)
            unix_rights_land(p);
    }
    if (!looks)
        unix_free_packet(p);
    return result;
}

int64_t unix_receive_datagram(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct unix_socket *u = unix_of(s);
    struct unix_packet *p = NULL;

    if (flags & MSG_OOB)
        return -EOPNOTSUPP;
    uint64_t deadline_ns = socket_receive_deadline(s, flags & MSG_DONTWAIT);
    mutex_lock(&u->reading);
    int found = wait_for_packet(u, deadline_ns, &p);
    int64_t result = found > 0 ? give_packet(u, p, m, flags) : found;
    mutex_unlock(&u->reading);
    return result;
}

int64_t unix_receive_seqpacket(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct unix_socket *u = unix_of(s);

    if (__atomic_load_n(&u->state, __ATOMIC_ACQUIRE) != UNIX_CONNECTED)
        return -ENOTCONN;
    return unix_receive_datagram(s, m, flags);
}

unsigned unix_poll_datagram(struct socket *s)
{
    struct unix_socket *u = unix_of(s);
    bool irq = spin_lock(&s->lock), packets = s->type == SOCK_SEQPACKET;
    unsigned found = (s->error ? POLLERR : 0) | (u->shut == UNIX_BOTH ? POLLHUP : 0) |
                     (u->shut & UNIX_RECEIVE ? POLLRDHUP | POLLIN | POLLRDNORM : 0) |
                     (list_empty(&u->queue) && list_empty(&u->pending) ? 0 : POLLIN | POLLRDNORM) |
                     (packets && u->state == UNIX_ALONE ? POLLHUP : 0);
    bool writes = u->state != UNIX_LISTENS && u->sent * 4 <= s->options.send_bytes;

    spin_unlock(&s->lock, irq);
    if (writes && !peer_is_full(u))
        found |= POLLOUT | POLLWRNORM | POLLWRBAND;
    return found;
}
