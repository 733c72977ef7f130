/* Sockets of AF_UNIX that are connected: connecting and accepting, and streams. */
#include "kernel/mem/mem.h"
#include "kernel/net/socket/unix.h"
#include <linux/poll.h>

/* ---- Connecting ------------------------------------------------------------------------------ */

static bool is_full(const struct unix_socket *u)
{
    return u->queued > u->backlog;
}

/* Waits until u listens with room for one more. Lock held, also after 0. */
static int wait_for_room(struct unix_socket *u, bool *irq, uint64_t deadline_ns)
{
    for (;;) {
        if (u->dead || u->state != UNIX_LISTENS || u->shut & UNIX_RECEIVE)
            return -ECONNREFUSED;
        if (!is_full(u))
            return 0;
        int err = socket_wait_in(&u->senders, &u->s, irq, deadline_ns);
        if (err)
            return err;
    }
}

/* Makes the other end of a connection from u to `listener`. */
static int make_end(struct unix_socket *u, struct unix_socket *listener,
                    const struct socket_caller *by, struct unix_socket **out)
{
    struct socket *s;
    int err = socket_make_like(&listener->s, by, &s);

    if (err)
        return err == -ENOBUFS ? -ENOMEM : err;
    socket_init_options(&s->options);
    struct unix_socket *end = unix_of(s);
    end->state = UNIX_CONNECTED;
    socket_get(&u->s);
    end->peer = u;
    s->peer = by->is;
    s->connector = by->is.pid;
    end->name = unix_name_get(listener->name);
    *out = end;
    return 0;
}

/* Joins u, which is alone, with its end, if it still is. */
static int join_end(struct unix_socket *u, struct unix_socket *end,
                    const struct socket_credentials *peer)
{
    bool irq = spin_lock(&u->s.lock);
    int err = u->state == UNIX_ALONE ? 0 : u->state == UNIX_CONNECTED ? -EISCONN : -EINVAL;

    if (!err) {
        socket_get(&end->s);
        u->peer = end;
        u->state = UNIX_CONNECTED;
        u->s.peer = *peer;
    }
    spin_unlock(&u->s.lock, irq);
    return err;
}

/* Puts the end into the listener's queue. Its reference becomes the queue's. */
static int queue_end(struct unix_socket *u, struct unix_socket *listener, struct unix_socket *end,
                     uint64_t deadline_ns)
{
    bool irq = spin_lock(&listener->s.lock);
    int err = wait_for_room(listener, &irq, deadline_ns);
    struct socket_credentials peer = listener->s.peer;

    if (!err)
        listener->queued++; /* its place */
    spin_unlock(&listener->s.lock, irq);
    if (err)
        return err;
    err = join_end(u, end, &peer);
    irq = spin_lock(&listener->s.lock);
    bool gone = listener->dead;
    if (err || gone) {
        listener->queued--;
    } else {
        list_push_back(&listener->pending, &end->in_pending);
        socket_changed(&listener->s, POLLIN | POLLRDNORM);
    }
    spin_unlock(&listener->s.lock, irq);
    if (!err && gone)
        socket_drop(&end->s); /* as if it had closed a moment later */
    return err;
}

int unix_connect_stream(struct socket *s, const struct socket_address *to, bool nonblock,
                        const struct socket_caller *by)
{
    uint64_t deadline_ns = socket_send_deadline(s, nonblock);
    struct unix_socket *u = unix_of(s), *listener, *end;
    int err = unix_check_address(to);

    if (!err && s->options.pass_credentials)
        err = unix_autobind(u);
    if (!err)
        err = unix_find(to, s->type, by, &listener);
    if (err)
        return err;
    err = make_end(u, listener, by, &end);
    if (!err) {
        err = queue_end(u, listener, end, deadline_ns);
        if (err) { /* u is not to hear of its end */
            end->peer = NULL;
            socket_put(s);
            socket_drop(&end->s);
        }
    }
    socket_put(&listener->s);
    return err;
}

int unix_accept(struct socket *s, bool nonblock, UNUSED const struct socket_caller *by,
                struct socket **out)
{
    uint64_t deadline_ns = socket_receive_deadline(s, nonblock);
    struct unix_socket *u = unix_of(s);
    bool irq = spin_lock(&s->lock);
    int err = u->state == UNIX_LISTENS ? 0 : -EINVAL;

    while (!err && list_empty(&u->pending)) {
        err = socket_error(s);
        if (!err)
            err = !nonblock && u->shut & UNIX_RECEIVE ? -EINVAL : socket_wait(s, &irq, deadline_ns);
    }
    if (err) {
        spin_unlock(&s->lock, irq);
        return err;
    }
    struct unix_socket *end =
        container_of(list_pop_front(&u->pending), struct unix_socket, in_pending);
    u->queued--;
    end->s.options.pass_credentials = s->options.pass_credentials;
    unix_not_full_unlock(u, irq);
    *out = &end->s;
    return 0;
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Puts a packet into the other's queue, or frees it. */
static int put_packet(struct unix_socket *to, struct unix_packet *p)
{
    bool passes = p->rights;

    if (passes)
        mutex_lock(&rights_turn);
    bool irq = spin_lock(&to->s.lock), taken = !to->dead && !(to->shut & UNIX_RECEIVE);
    if (taken)
        unix_put_packet_locked(to, p);
    spin_unlock(&to->s.lock, irq);
    if (passes)
        mutex_unlock(&rights_turn);
    if (!taken)
        unix_free_packet(p);
    return taken ? 0 : -EPIPE;
}

static int64_t send_parts(struct unix_socket *u, struct unix_socket *to, struct socket_message *m,
                          uint64_t deadline_ns)
{
    uint64_t all = m->data.left;

    while (m->data.left) {
        uint64_t before = m->data.left, sent = all - before;
        uint32_t n = (uint32_t)MIN(before, (uint64_t)unix_part_max(u));
        struct unix_packet *p;
        int err = unix_make_packet(u, m, n, !sent, deadline_ns, &p) ?: put_packet(to, p);
        if (err)
            return sent ? (int64_t)sent : err;
        sched_point();
    }
    return (int64_t)all;
}

int64_t unix_send_stream(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct unix_socket *u = unix_of(s), *to = unix_peer(u);
    int64_t result = flags & MSG_OOB          ? -EOPNOTSUPP
                     : m->address.bytes && to ? -EISCONN
                     : m->address.bytes       ? -EOPNOTSUPP
                     : !to                    ? -ENOTCONN
                     : u->shut & UNIX_SEND    ? -EPIPE
                                              : 0;

    if (!result)
        result = send_parts(u, to, m, socket_send_deadline(s, flags & MSG_DONTWAIT));
    socket_put(to ? &to->s : NULL);
    return result;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* A call that receives. The turn to read is held, but while it waits. */
struct receiving {
    struct unix_socket *u;
    struct socket_message *m;
    uint64_t deadline_ns, least, done;
    bool looks; /* MSG_PEEK */
    bool told;  /* m has the source */
};

static struct unix_packet *packet_at(struct unix_socket *u, struct list *l)
{
    return l == &u->queue ? NULL : container_of(l, struct unix_packet, in_queue);
}

/* Waits until something may have come. */
static int wait_for_packet(struct receiving *r)
{
    struct unix_socket *u = r->u;
    int err = 0;

    mutex_unlock(&u->reading);
    bool irq = spin_lock(&u->s.lock);
    while (!err && list_empty(&u->queue) && !u->s.error && !(u->shut & UNIX_RECEIVE))
        err = socket_wait(&u->s, &irq, r->deadline_ns);
    spin_unlock(&u->s.lock, irq);
    mutex_lock(&u->reading);
    return err;
}

/* Finds the next packet: behind `last`, if the call only looks. Waits for one if there are too few
 * bytes. Returns 1; 0: the call ends, and returns the bytes so far; or an error. */
static int next_packet(struct receiving *r, struct unix_packet *last, struct unix_packet **out)
{
    struct unix_socket *u = r->u;

    for (;;) {
        bool irq = spin_lock(&u->s.lock);
        *out = packet_at(u, last ? last->in_queue.next : u->queue.next);
        bool ends = *out || last || r->done >= r->least;
        int err = ends ? 0 : socket_error(&u->s);
        ends |= err || u->shut & UNIX_RECEIVE;
        spin_unlock(&u->s.lock, irq);
        if (ends)
            return err ? err : *out != NULL;
        err = wait_for_packet(r);
        if (err)
            return err;
    }
}

/* What is received at once has one source, if the program wants to know it. */
static bool fits_source(const struct receiving *r, const struct unix_packet *p)
{
    const struct socket_credentials *a = &r->m->credentials, *b = &p->credentials;

    return !r->told || !r->m->has_credentials ||
           (a->pid == b->pid && a->uid == b->uid && a->gid == b->gid);
}

/* Gives the program the bytes of a packet. Returns their number or -EFAULT. */
static int64_t give_packet(struct receiving *r, struct unix_packet *p)
{
    uint64_t n = MIN((uint64_t)(p->bytes - p->taken), r->m->data.left);

    if (!r->told)
        unix_tell_source(r->u, p, r->m);
    r->told = true;
    if (socket_give(r->m, p->data + p->taken, n))
        return -EFAULT;
    r->done += n;
    if (p->rights && !r->m->rights)
        r->m->rights = unix_rights_arrive(p, r->looks);
    return (int64_t)n;
}

/* Counts n bytes as received. Returns whether there are more in the packet; else it is freed. */
static bool take_bytes(struct unix_socket *u, struct unix_packet *p, uint64_t n)
{
    bool irq = spin_lock(&u->s.lock);

    p->taken += (uint32_t)n;
    u->queued_bytes -= n;
    bool more = p->taken < p->bytes;
    if (!more)
        unix_remove_packet_locked(u, p);
    spin_unlock(&u->s.lock, irq);
    if (!more)
        unix_free_packet(p);
    return more;
}

static int receive_parts(struct receiving *r)
{
    struct unix_packet *p = NULL;

    do {
        int found = next_packet(r, p, &p);
        if (found <= 0)
            return found;
        if (!fits_source(r, p))
            return 0;
        int64_t n = give_packet(r, p);
        if (n < 0)
            return (int)n;
        if (!r->looks) {
            if (take_bytes(r->u, p, (uint64_t)n))
                return 0;
            p = NULL;
        }
        if (r->m->rights)
            return 0;
        sched_point();
        /* A look goes on to the first packet with descriptors, as Linux's does. */
    } while (r->m->data.left || r->looks);
    return 0;
}

int64_t unix_receive_stream(struct socket *s, struct socket_message *m, unsigned flags)
{
    struct unix_socket *u = unix_of(s);
    uint64_t least =
        flags & MSG_WAITALL ? m->data.left : MIN((uint64_t)s->options.receive_least, m->data.left);
    struct receiving r = {.u = u, .m = m, .least = MAX(least, 1ull), .looks = flags & MSG_PEEK};

    if (__atomic_load_n(&u->state, __ATOMIC_ACQUIRE) != UNIX_CONNECTED || flags & MSG_OOB)
        return -EINVAL;
    r.deadline_ns = socket_receive_deadline(s, flags & MSG_DONTWAIT);
    mutex_lock(&u->reading);
    int err = receive_parts(&r);
    mutex_unlock(&u->reading);
    return r.done ? (int64_t)r.done : err;
}

unsigned unix_poll_stream(struct socket *s)
{
    struct unix_socket *u = unix_of(s);
    bool irq = spin_lock(&s->lock);
    unsigned found = (s->error ? POLLERR : 0) | (u->shut == UNIX_BOTH ? POLLHUP : 0) |
                     (u->shut & UNIX_RECEIVE ? POLLRDHUP | POLLIN | POLLRDNORM : 0) |
                     (list_empty(&u->queue) && list_empty(&u->pending) ? 0 : POLLIN | POLLRDNORM) |
                     (u->state == UNIX_ALONE ? POLLHUP : 0);

    if (u->state != UNIX_LISTENS && u->sent * 4 <= s->options.send_bytes)
        found |= POLLOUT | POLLWRNORM | POLLWRBAND;
    spin_unlock(&s->lock, irq);
    return found;
}
