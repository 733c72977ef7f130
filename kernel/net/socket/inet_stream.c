/* Streams of AF_INET; see inet.h. */
#include "kernel/arch/arch.h"
#include "kernel/net/socket/inet.h"
#include <linux/in.h>
#include <linux/poll.h>

#define INPUT  (POLLIN | POLLRDNORM)
#define OUTPUT (POLLOUT | POLLWRNORM)

static struct inet_socket *of_stream(struct net_stream *t)
{
    return container_of(t, struct inet_socket, stream);
}

/* ---- What a stream asks ---------------------------------------------------------------------- */

static void stream_changed(struct net_stream *t, unsigned mask)
{
    struct socket *s = &of_stream(t)->s;

    if (t->error)
        s->error = t->error;
    t->error = 0;
    socket_changed(s, mask);
}

static struct net_stream *make_stream(struct net_stream *listener)
{
    struct inet_socket *l = of_stream(listener);
    struct socket *s;
    bool irq = spin_lock(&l->s.lock);
    bool full = listener->waiting > (uint64_t)l->backlog * net_instance_count();

    spin_unlock(&l->s.lock, irq);
    if (full || socket_make_like(&l->s, NULL, &s))
        return NULL;
    struct inet_socket *n = inet_of(s);
    n->options = l->options;
    n->told = true;
    return &n->stream;
}

static void keep_stream(struct net_stream *t)
{
    socket_get(&of_stream(t)->s);
}

static void let_go_stream(struct net_stream *t)
{
    socket_put(&of_stream(t)->s);
}

static const struct net_stream_owner owner = {
    .changed = stream_changed,
    .make = make_stream,
    .keep = keep_stream,
    .let_go = let_go_stream,
};

void inet_init_stream(struct inet_socket *n)
{
    n->stream.owner = &owner;
    n->stream.lock = &n->s.lock;
    n->stream.account = n->s.account;
    net_stream_init(&n->stream);
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static int listen_inet(struct socket *s, unsigned backlog, UNUSED const struct socket_caller *by)
{
    struct inet_socket *n = inet_of(s);

    inet_apply_options(s, 0);
    mutex_lock(&n->sending);
    int err = net_stream_listen(&n->stream, backlog);
    mutex_unlock(&n->sending);
    bool irq = spin_lock(&s->lock);
    if (!err) {
        n->backlog = backlog;
        s->listens = true;
    }
    spin_unlock(&s->lock, irq);
    return err;
}

/* Waits until a connection is made, or is not. */
static int wait_connected(struct inet_socket *n, uint64_t deadline_ns)
{
    struct socket *s = &n->s;
    bool irq = spin_lock(&s->lock);
    int err = 0;

    while (!err && n->stream.state == STREAM_CONNECTS)
        err = socket_wait(s, &irq, deadline_ns);
    if (!err)
        err = socket_error(s);
    if (!err && n->stream.state == STREAM_ENDED)
        err = -ECONNABORTED;
    if (!err)
        n->told = true;
    spin_unlock(&s->lock, irq);
    return err == -EAGAIN ? -EINPROGRESS : err;
}

static int connect_inet(struct socket *s, const struct socket_address *to, bool nonblock,
                        const struct socket_caller *by)
{
    uint64_t deadline_ns = socket_send_deadline(s, nonblock);
    struct inet_socket *n = inet_of(s);
    struct net_address peer;
    int err = inet_take_address(to, &peer);

    if (err)
        return err;
    if (!peer.ip)
        peer.ip = NET_LOOPBACK;
    bool irq = spin_lock(&s->lock);
    bool pending = n->stream.state == STREAM_CONNECTS;
    bool done = n->stream.state == STREAM_CONNECTED && !n->told;
    bool failed = n->stream.state == STREAM_ENDED && s->error;
    bool ended = n->stream.state == STREAM_ENDED && n->told;
    spin_unlock(&s->lock, irq);
    if (ended)
        return -EISCONN;
    if (pending && nonblock)
        return -EALREADY;
    if (pending || done || failed)
        return wait_connected(n, deadline_ns);
    inet_apply_options(s, 0);
    mutex_lock(&n->sending);
    n->stream.connector = by->is.pid;
    err = net_stream_connect(&n->stream, &peer);
    mutex_unlock(&n->sending);
    return err ? err : wait_connected(n, deadline_ns);
}

static int accept_inet(struct socket *s, bool nonblock, UNUSED const struct socket_caller *by,
                       struct socket **out)
{
    uint64_t deadline_ns = socket_receive_deadline(s, nonblock);
    struct inet_socket *n = inet_of(s);
    struct net_stream *t = NULL;
    bool irq = spin_lock(&s->lock);
    int err = 0;

    while (!err) {
        if (n->stream.state != STREAM_LISTENS || n->stream.shut & STREAM_RECEIVE)
            err = -EINVAL;
        else if ((t = net_stream_accept(&n->stream)))
            break;
        else
            err = socket_wait(s, &irq, deadline_ns);
    }
    spin_unlock(&s->lock, irq);
    if (err)
        return err;
    net_stream_accepted(t);
    *out = &of_stream(t)->s;
    (*out)->connector = t->connector;
    return 0;
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Whether there is room to send: the first bound keeps senders waiting, the second is that of poll,
 * at which those that wait are told. Lock held. */
static bool has_room(struct inet_socket *n, bool waited)
{
    uint64_t most = n->s.options.send_bytes, low = most * 2 / 3 + 1;

    return net_stream_has_room(&n->stream, waited ? low : most, low);
}

/* Returns what keeps the stream from sending: 0: nothing; -EAGAIN: that will pass. Lock held. */
static int check_send(struct inet_socket *n)
{
    const struct net_stream *t = &n->stream;
    int err = socket_error(&n->s);

    if (err)
        return err;
    if (t->shut & STREAM_SEND)
        return -EPIPE;
    if (t->state == STREAM_CONNECTED)
        return has_room(n, false) ? 0 : -EAGAIN;
    return t->state == STREAM_CONNECTS ? -EAGAIN : -EPIPE;
}

static int wait_to_send(struct inet_socket *n, uint64_t deadline_ns)
{
    bool irq = spin_lock(&n->s.lock);
    int err = 0;

    while (!err && (err = check_send(n)) == -EAGAIN)
        err = socket_wait(&n->s, &irq, deadline_ns);
    spin_unlock(&n->s.lock, irq);
    return err;
}

/* Waits until the stream sends, and begins a part. The turn to send is held, but while this
 * waits. */
static int begin_part(struct inet_socket *n, uint64_t deadline_ns, struct net_stream_part *part)
{
    bool irq = spin_lock(&n->s.lock);
    int err;

    while ((err = check_send(n)) == -EAGAIN) {
        spin_unlock(&n->s.lock, irq);
        mutex_unlock(&n->sending);
        err = wait_to_send(n, deadline_ns);
        mutex_lock(&n->sending);
        irq = spin_lock(&n->s.lock);
        if (err)
            break;
    }
    if (!err)
        net_stream_begin(&n->stream, part);
    spin_unlock(&n->s.lock, irq);
    return err;
}

/* Sends a part of a message. The turn to send is held. */
static int send_part(struct inet_socket *n, struct socket_message *m, uint64_t deadline_ns)
{
    struct net_stream_part part;
    int err = begin_part(n, deadline_ns, &part);

    if (!err)
        err = net_stream_reserve(&n->stream, m->data.left, &part);
    if (err)
        return err;
    err = socket_take(m, part.data, part.bytes);
    if (!err)
        return net_stream_commit(&n->stream, &part);
    net_stream_drop(&n->stream, &part);
    return err;
}

static int64_t send_inet(struct socket *s, struct socket_message *m, unsigned flags)
{
    uint64_t all = m->data.left, deadline_ns = socket_send_deadline(s, flags & MSG_DONTWAIT);
    struct inet_socket *n = inet_of(s);
    int err = flags & MSG_OOB ? -EOPNOTSUPP : 0;

    if (!err && !all) {
        bool irq = spin_lock(&s->lock);
        err = check_send(n);
        spin_unlock(&s->lock, irq);
        return err == -EAGAIN ? 0 : err;
    }
    while (!err && m->data.left) {
        uint64_t sent = all - m->data.left;
        mutex_lock(&n->sending);
        err = send_part(n, m, deadline_ns);
        mutex_unlock(&n->sending);
        if (err && sent)
            return (int64_t)sent;
        sched_point();
    }
    return err ? err : (int64_t)all;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* A call that receives. The turn to read is held, but while it waits. */
struct receiving {
    struct inet_socket *n;
    struct socket_message *m;
    uint64_t deadline_ns, least, done;
    bool looks, drops; /* MSG_PEEK, MSG_TRUNC */
    bool go;           /* net_stream_go() is wanted */
};

/* Returns what there is to say when nothing is queued: 0: the end; -EAGAIN: more may come. Lock
 * held. */
static int check_receive(struct inet_socket *n)
{
    const struct net_stream *t = &n->stream;

    if (t->finished) /* an error since then is for those that send */
        return 0;
    int err = socket_error(&n->s);
    if (err)
        return err;
    if (t->shut & STREAM_RECEIVE || t->state == STREAM_ENDED)
        return 0;
    return t->state == STREAM_CONNECTED || t->state == STREAM_CONNECTS ? -EAGAIN : -ENOTCONN;
}

static int wait_for_data(struct receiving *r)
{
    struct inet_socket *n = r->n;
    int err = -EAGAIN;

    if (!r->deadline_ns)
        return err;
    mutex_unlock(&n->reading);
    bool irq = spin_lock(&n->s.lock);
    while (!n->stream.queued && !n->s.error && !(n->stream.shut & STREAM_RECEIVE) &&
           n->stream.state != STREAM_ENDED) {
        err = socket_wait(&n->s, &irq, r->deadline_ns);
        if (err)
            break;
    }
    if (err == -EAGAIN && r->deadline_ns && n->stream.queued)
        err = 0;
    spin_unlock(&n->s.lock, irq);
    mutex_lock(&n->reading);
    return err;
}

/* Finds the next part: behind what is done, if the call only looks. Returns its bytes; 0: the call
 * ends; or an error. */
static int64_t next_part(struct receiving *r, const void **from)
{
    struct inet_socket *n = r->n;

    for (;;) {
        bool irq = spin_lock(&n->s.lock);
        uint64_t bytes = net_stream_look(&n->stream, r->looks ? r->done : 0, from);
        bool ends =
            bytes || (r->looks && r->done) || r->done >= r->least || (r->done && n->s.error);
        int err = ends ? 0 : check_receive(n);
        spin_unlock(&n->s.lock, irq);
        if (bytes)
            return (int64_t)bytes;
        if (err != -EAGAIN)
            return err;
        /* The other end may wait for room that was read before. */
        if (r->go)
            net_stream_go(&n->stream);
        r->go = false;
        err = wait_for_data(r);
        if (err)
            return err;
    }
}

/* Gives the program n bytes of what is queued. */
static int give_part(struct receiving *r, const void *from, uint64_t n)
{
    if (!r->drops)
        return socket_give(r->m, from, n);
    r->m->data.left -= n;
    return 0;
}

static int receive_parts(struct receiving *r)
{
    const void *from;

    do {
        int64_t found = next_part(r, &from);
        if (found <= 0)
            return (int)found;
        uint64_t n = MIN((uint64_t)found, r->m->data.left);
        if (give_part(r, from, n))
            return -EFAULT;
        r->done += n;
        if (r->looks)
            continue;
        r->go |= net_stream_take(&r->n->stream, n);
        sched_point();
    } while (r->m->data.left);
    return 0;
}

static int64_t receive_inet(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct inet_socket *n = inet_of(s);
    uint64_t least =
        flags & MSG_WAITALL ? m->data.left : MIN((uint64_t)s->options.receive_least, m->data.left);
    struct receiving r = {.n = n,
                          .m = m,
                          .least = MAX(least, 1ull),
                          .looks = flags & MSG_PEEK,
                          .drops = flags & MSG_TRUNC};

    if (flags & (MSG_OOB | MSG_ERRQUEUE))
        return flags & MSG_OOB ? -EINVAL : -EAGAIN;
    r.deadline_ns = socket_receive_deadline(s, flags & MSG_DONTWAIT);
    mutex_lock(&n->reading);
    int err = m->data.left ? receive_parts(&r) : 0;
    mutex_unlock(&n->reading);
    if (r.go)
        net_stream_go(&n->stream);
    return r.done ? (int64_t)r.done : err;
}

/* ---- Telling and ending ---------------------------------------------------------------------- */

static unsigned poll_inet(struct socket *s)
{
    struct inet_socket *n = inet_of(s);
    const struct net_stream *t = &n->stream;
    bool irq = spin_lock(&s->lock);
    unsigned found = s->error ? POLLERR : 0, shut = t->shut;
    bool ended = t->state == STREAM_ENDED || t->state == STREAM_NEW;

    if (t->state == STREAM_LISTENS) {
        found |= list_empty(&t->pending) ? 0 : INPUT;
    } else {
        if (t->state == STREAM_NEW)
            found |= OUTPUT | POLLHUP;
        if (t->queued >= MAX(s->options.receive_least, 1u) || shut & STREAM_RECEIVE)
            found |= INPUT;
        if (shut & STREAM_RECEIVE)
            found |= POLLRDHUP;
        if (ended || shut == STREAM_BOTH)
            found |= POLLHUP;
        if (t->state == STREAM_ENDED || shut & STREAM_SEND ||
            (t->state == STREAM_CONNECTED && has_room(n, true)))
            found |= OUTPUT;
    }
    spin_unlock(&s->lock, irq);
    return found;
}

static int shutdown_inet(struct socket *s, unsigned how)
{
    static const uint8_t directions[] = {STREAM_RECEIVE, STREAM_SEND, STREAM_BOTH};
    struct inet_socket *n = inet_of(s);
    bool irq = spin_lock(&s->lock);
    enum net_stream_state state = n->stream.state;

    spin_unlock(&s->lock, irq);
    if (state == STREAM_NEW || state == STREAM_ENDED)
        return -ENOTCONN;
    mutex_lock(&n->sending); /* what is being sent comes before the end */
    net_stream_shutdown(&n->stream, directions[how]);
    mutex_unlock(&n->sending);
    return 0;
}

static int name_inet(struct socket *s, struct socket_address *out)
{
    bool irq = spin_lock(&s->lock);
    struct net_address own = inet_of(s)->stream.own;

    spin_unlock(&s->lock, irq);
    inet_put_address(&own, out);
    return 0;
}

static int peer_inet(struct socket *s, struct socket_address *out)
{
    bool irq = spin_lock(&s->lock);
    const struct net_stream *t = &inet_of(s)->stream;
    struct net_address peer = t->peer;
    bool joined = t->state == STREAM_CONNECTED;

    spin_unlock(&s->lock, irq);
    if (!joined)
        return -ENOTCONN;
    inet_put_address(&peer, out);
    return 0;
}

static void close_inet(struct socket *s)
{
    bool irq = spin_lock(&s->lock), resets = s->options.lingers && !s->options.linger_s;

    spin_unlock(&s->lock, irq);
    net_stream_close(&inet_of(s)->stream, resets);
}

static void linger_inet(struct socket *s)
{
    const struct net_stream *t = &inet_of(s)->stream;
    bool irq = spin_lock(&s->lock);
    uint64_t deadline_ns = arch_clock_ns() + s->options.linger_s * NS_PER_S;
    int err = 0;

    while (!err && t->closed && t->sent && t->state != STREAM_ENDED)
        err = socket_wait(s, &irq, deadline_ns);
    spin_unlock(&s->lock, irq);
}

static void release_inet(struct socket *s)
{
    struct net_stream *t = &inet_of(s)->stream;

    ASSERT(!t->pcb && !t->sent && !t->received && !t->read);
    net_stream_release(t);
}

const struct socket_ops inet_stream_ops = {
    .pair = socket_no_pair,
    .bind = inet_bind,
    .shutdown = shutdown_inet,
    .name = name_inet,
    .peer = peer_inet,
    .get_option = inet_get_option,
    .set_option = inet_set_option,
    .option_set = inet_apply_options,
    .ioctl = inet_ioctl,
    .close = close_inet,
    .linger = linger_inet,
    .release = release_inet,
    .breaks = true,
    .connect = connect_inet,
    .listen = listen_inet,
    .accept = accept_inet,
    .send = send_inet,
    .receive = receive_inet,
    .poll = poll_inet,
};
