/* Sockets of AF_UNIX: the family, pairs, listening, closing; see unix.h. */
#include "kernel/arch/arch.h"
#include "kernel/net/socket/unix.h"
#include <linux/poll.h>
#include <asm/ioctls.h>
#include <linux/sockios.h>

struct unix_socket *unix_peer(struct unix_socket *u)
{
    bool irq = spin_lock(&u->s.lock);
    struct unix_socket *peer = u->peer;

    if (peer)
        socket_get(&peer->s);
    spin_unlock(&u->s.lock, irq);
    return peer;
}

/* Returns whether the two ends of a connection hear of each other's end. */
static bool is_joined(const struct unix_socket *u)
{
    return u->s.type != SOCK_DGRAM;
}

/* ---- Pairs and listening --------------------------------------------------------------------- */

static void join(struct unix_socket *u, struct unix_socket *peer,
                 const struct socket_credentials *is)
{
    bool irq = spin_lock(&u->s.lock);

    socket_get(&peer->s);
    u->peer = peer;
    u->state = UNIX_CONNECTED;
    u->s.peer = *is;
    spin_unlock(&u->s.lock, irq);
}

static int pair_unix(struct socket *a, struct socket *b, const struct socket_caller *by)
{
    join(unix_of(a), unix_of(b), &by->is);
    join(unix_of(b), unix_of(a), &by->is);
    return 0;
}

static int listen_unix(struct socket *s, unsigned backlog, const struct socket_caller *by)
{
    struct unix_socket *u = unix_of(s);
    bool irq = spin_lock(&s->lock);
    int err = !u->name || u->state == UNIX_CONNECTED ? -EINVAL : 0;

    if (!err) {
        if (backlog > u->backlog)
            wait_wake(&u->senders, ~0u);
        u->backlog = backlog;
        u->state = UNIX_LISTENS;
        s->listens = true;
        s->peer = by->is;
    }
    spin_unlock(&s->lock, irq);
    return err;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

#define ALL \
    (POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLWRBAND | POLLHUP | POLLRDHUP | POLLERR)

/* Lock held. */
static void shut_locked(struct unix_socket *u, unsigned how)
{
    u->shut |= how;
    wait_wake(&u->senders, ~0u);
    socket_changed(&u->s, ALL);
}

static int shutdown_unix(struct socket *s, unsigned how)
{
    static const uint8_t own[] = {UNIX_RECEIVE, UNIX_SEND, UNIX_BOTH};
    static const uint8_t peers[] = {UNIX_SEND, UNIX_RECEIVE, UNIX_BOTH};
    struct unix_socket *u = unix_of(s), *peer = unix_peer(u);
    bool irq = spin_lock(&s->lock);

    shut_locked(u, own[how]);
    spin_unlock(&s->lock, irq);
    if (peer && is_joined(u)) {
        irq = spin_lock(&peer->s.lock);
        shut_locked(peer, peers[how]);
        spin_unlock(&peer->s.lock, irq);
    }
    socket_put(peer ? &peer->s : NULL);
    return 0;
}

/* The end of u, of which its peer hears. `lost`: of data that was not received. */
static void tell_peer(struct unix_socket *u, struct unix_socket *peer, bool lost)
{
    bool irq = spin_lock(&peer->s.lock);

    if (is_joined(u)) {
        if (lost)
            peer->s.error = -ECONNRESET;
        shut_locked(peer, UNIX_BOTH);
    }
    spin_unlock(&peer->s.lock, irq);
    unix_leave_refused(u, peer);
    socket_put(&peer->s);
}

/* Ends u; `waits`: it was never accepted. Connections that wait at it are left. */
static void end_socket(struct unix_socket *u, bool waits)
{
    struct list packets;

    unix_unbind(u);
    bool irq = spin_lock(&u->s.lock);
    struct unix_socket *peer = u->peer;
    bool lost = waits || !list_empty(&u->queue);
    u->peer = NULL;
    u->dead = true;
    u->state = UNIX_ALONE;
    shut_locked(u, UNIX_BOTH);
    spin_unlock(&u->s.lock, irq);
    unix_tell_refused(u);
    if (peer)
        tell_peer(u, peer, lost);
    unix_take_packets(u, &packets);
    unix_free_packets(&packets);
}

static struct unix_socket *take_pending(struct unix_socket *u)
{
    bool irq = spin_lock(&u->s.lock);
    struct list *l = list_pop_front(&u->pending);

    spin_unlock(&u->s.lock, irq);
    return l ? container_of(l, struct unix_socket, in_pending) : NULL;
}

static void close_unix(struct socket *s)
{
    struct unix_socket *u = unix_of(s), *end;

    end_socket(u, false);
    while ((end = take_pending(u))) {
        end_socket(end, true);
        socket_put(&end->s);
    }
    unix_collect();
}

static void release_unix(struct socket *s)
{
    struct unix_socket *u = unix_of(s);

    unix_name_put(u->name);
    memory_uncharge(s->account, u->reserved);
}

/* ---- Telling --------------------------------------------------------------------------------- */

static int name_unix(struct socket *s, struct socket_address *out)
{
    unix_put_address(unix_of(s), out, false);
    return 0;
}

static int peer_unix(struct socket *s, struct socket_address *out)
{
    struct unix_socket *peer = unix_peer(unix_of(s));

    if (!peer)
        return -ENOTCONN;
    unix_put_address(peer, out, false);
    socket_put(&peer->s);
    return 0;
}

/* Returns the bytes that a receive could get, of messages the first's. Lock held. */
static int64_t ahead_locked(const struct unix_socket *u)
{
    if (u->s.type != SOCK_DGRAM)
        return u->state == UNIX_LISTENS ? -EINVAL : (int64_t)u->queued_bytes;
    return list_empty(&u->queue) ? 0
                                 : container_of(u->queue.next, struct unix_packet, in_queue)->bytes;
}

static int64_t ioctl_unix(struct socket *s, uint32_t request, vaddr_t arg)
{
    struct unix_socket *u = unix_of(s);

    if (request != SIOCINQ && request != SIOCOUTQ)
        return -ENOTTY;
    bool irq = spin_lock(&s->lock);
    int64_t found = request == SIOCINQ ? ahead_locked(u) : (int64_t)u->sent;
    spin_unlock(&s->lock, irq);
    if (found < 0)
        return found;
    int n = (int)found;
    return arch_copy_to_user(arg, &n, sizeof(n)) ? -EFAULT : 0;
}

/* ---- The family ------------------------------------------------------------------------------ */

static const struct socket_ops stream_ops = {
    .pair = pair_unix,
    .bind = unix_bind,
    .shutdown = shutdown_unix,
    .name = name_unix,
    .peer = peer_unix,
    .get_option = socket_no_get_option,
    .set_option = socket_no_set_option,
    .option_set = socket_no_option_set,
    .ioctl = ioctl_unix,
    .close = close_unix,
    .linger = socket_no_linger,
    .release = release_unix,
    .breaks = true,
    .connect = unix_connect_stream,
    .listen = listen_unix,
    .accept = unix_accept,
    .send = unix_send_stream,
    .receive = unix_receive_stream,
    .poll = unix_poll_stream,
};

static const struct socket_ops datagram_ops = {
    .pair = pair_unix,
    .bind = unix_bind,
    .shutdown = shutdown_unix,
    .name = name_unix,
    .peer = peer_unix,
    .get_option = socket_no_get_option,
    .set_option = socket_no_set_option,
    .option_set = socket_no_option_set,
    .ioctl = ioctl_unix,
    .close = close_unix,
    .linger = socket_no_linger,
    .release = release_unix,
    .connect = unix_connect_datagram,
    .listen = socket_no_listen,
    .accept = socket_no_accept,
    .send = unix_send_datagram,
    .receive = unix_receive_datagram,
    .poll = unix_poll_datagram,
};

static const struct socket_ops seqpacket_ops = {
    .pair = pair_unix,
    .bind = unix_bind,
    .shutdown = shutdown_unix,
    .name = name_unix,
    .peer = peer_unix,
    .get_option = socket_no_get_option,
    .set_option = socket_no_set_option,
    .option_set = socket_no_option_set,
    .ioctl = ioctl_unix,
    .close = close_unix,
    .linger = socket_no_linger,
    .release = release_unix,
    .connect = unix_connect_stream,
    .listen = listen_unix,
    .accept = unix_accept,
    .send = unix_send_seqpacket,
    .receive = unix_receive_seqpacket,
    .poll = unix_poll_datagram,
};

static int create_unix(struct socket *s, UNUSED const struct socket_caller *by)
{
    struct unix_socket *u = unix_of(s);

    if (s->protocol && s->protocol != AF_UNIX)
        return -EPROTONOSUPPORT;
    s->protocol = 0;
    if (s->type == SOCK_RAW) /* as BSD has it */
        s->type = SOCK_DGRAM;
    s->ops = s->type == SOCK_STREAM      ? &stream_ops
             : s->type == SOCK_DGRAM     ? &datagram_ops
             : s->type == SOCK_SEQPACKET ? &seqpacket_ops
                                         : NULL;
    if (!s->ops)
        return -ESOCKTNOSUPPORT;
    list_init(&u->queue);
    list_init(&u->pending);
    list_init(&u->in_pending);
    list_init(&u->refused);
    list_init(&u->in_refused);
    list_init(&u->in_all_flights);
    list_init(&u->to_visit);
    wait_init(&u->senders);
    mutex_init(&u->reading, "turn to receive");
    u->backlog = UNIX_QUEUE;
    return 0;
}

const struct socket_family unix_family = {
    .domain = AF_UNIX,
    .name = "unix",
    .bytes = sizeof(struct unix_socket),
    .passes = true,
    .create = create_unix,
};
