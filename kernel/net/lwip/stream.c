/* Streams over lwIP's TCP, within an instance; see stream.h. Linked once for each instance. */
#include "kernel/net/lwip/fusion.h"
#include "kernel/mem/mem.h"
#include "lwip/tcp.h"
#include <linux/poll.h>

#define WRITE_AT_ONCE  (64 * KIB) /* bytes, before others have their turn */
#define RETRY_INTERVAL 1          /* of lwIP's slow timer */

#define INPUT  (POLLIN | POLLRDNORM)
#define OUTPUT (POLLOUT | POLLWRNORM)
#define ALL    (INPUT | OUTPUT | POLLHUP | POLLRDHUP | POLLERR)

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Takes n acknowledged bytes off the chunks. Returns those that are free. Owner's lock held. */
static struct net_chunk *take_acked(struct net_stream *t, uint32_t n)
{
    struct net_chunk *first = t->sent, **end = &first;

    t->unacked -= n;
    while (n) {
        struct net_chunk *c = *end;
        uint32_t here = MIN(n, c->bytes - c->acked);
        c->acked += here;
        n -= here;
        if (c->acked < c->bytes)
            break;
        end = &c->next;
    }
    t->sent = *end;
    *end = NULL;
    return first;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

static void free_pbufs(struct pbuf *p)
{
    while (p) {
        struct pbuf *next = p->next;
        p->next = NULL;
        pbuf_free(p);
        p = next;
    }
}

/* Frees what a closed stream has received, which no program will read. */
static void free_unread(struct net_stream *t)
{
    bool irq = spin_lock(t->lock);
    struct pbuf *received = t->closed ? t->received : NULL;

    if (received) {
        t->received = t->last = NULL;
        t->queued = 0;
    }
    spin_unlock(t->lock, irq);
    free_pbufs(received);
}

/* lwIP has no more to do with the stream. Instance's lock held. */
static void leave(struct net_stream *t)
{
    bool irq = spin_lock(t->lock);
    struct net_chunk *chunks = t->sent;

    t->pcb = NULL;
    t->sent = t->unwritten = NULL;
    t->unacked = 0;
    t->owner->changed(t, OUTPUT);
    spin_unlock(t->lock, irq);
    net_chunks_free(t->account, chunks);
    free_unread(t);
    net_unfuse(t);
    t->owner->let_go(t);
}

/* Takes the stream off its PCB, which lwIP keeps or frees. */
static struct tcp_pcb *detach(struct net_stream *t)
{
    struct tcp_pcb *pcb = t->pcb;

    tcp_arg(pcb, NULL);
    if (pcb->state == LISTEN) {
        tcp_accept(pcb, NULL);
        return pcb;
    }
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_err(pcb, NULL);
    tcp_poll(pcb, NULL, 0);
    return pcb;
}

/* The PCB is gone: reset by the other end, given up, or ended. */
static void ended(void *arg, err_t why)
{
    struct net_stream *t = arg;
    bool irq = spin_lock(t->lock), refused = t->state == STREAM_CONNECTS;

    if (why != ERR_CLSD)
        t->error = why == ERR_ABRT ? -ETIMEDOUT
                   : refused       ? -ECONNREFUSED
                   : t->finished   ? -EPIPE
                                   : -ECONNRESET;
    t->state = STREAM_ENDED;
    t->shut = STREAM_BOTH;
    t->owner->changed(t, ALL);
    spin_unlock(t->lock, irq);
    leave(t);
}

/* ---- What lwIP tells ------------------------------------------------------------------------- */

static err_t acked(void *arg, UNUSED struct tcp_pcb *pcb, u16_t n)
{
    struct net_stream *t = arg;
    bool irq = spin_lock(t->lock);
    struct net_chunk *free = take_acked(t, n);

    t->owner->changed(t, OUTPUT);
    bool more = t->unwritten || t->closed || t->shut & STREAM_SEND;
    bool last = t->ending && !t->unacked;
    spin_unlock(t->lock, irq);
    net_chunks_free(t->account, free);
    if (last) { /* lwIP may free the PCB next, and does not say so */
        detach(t);
        leave(t);
    } else if (more) {
        net_post_locked(&t->task, STREAM_GO);
    }
    return ERR_OK;
}

static void append_received(struct net_stream *t, struct pbuf *p)
{
    struct pbuf *last = p;

    t->queued += p->tot_len;
    while (last->next)
        last = last->next;
    if (t->received)
        t->last->next = p; /* tot_len of the former ones is not kept */
    else
        t->received = p;
    t->last = last;
}

static err_t received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, UNUSED err_t err)
{
    struct net_stream *t = arg;
    bool irq = spin_lock(t->lock), closed = t->closed;

    if (!closed && p)
        append_received(t, p);
    if (!p) {
        t->shut |= STREAM_RECEIVE;
        t->finished = true;
    }
    if (!closed)
        t->owner->changed(t, p ? INPUT : INPUT | POLLRDHUP | POLLHUP);
    spin_unlock(t->lock, irq);
    if (!closed || !p)
        return ERR_OK;
    pbuf_free(p); /* of which no program will hear */
    tcp_abort(pcb);
    return ERR_ABRT;
}

/* Now and then, while lwIP has not got all that is to be sent. */
static err_t tried_again(void *arg, UNUSED struct tcp_pcb *pcb)
{
    struct net_stream *t = arg;

    net_post_locked(&t->task, STREAM_GO);
    return ERR_OK;
}

static void put_ends(struct net_stream *t)
{
    t->own = (struct net_address){ip_2_ip4(&t->pcb->local_ip)->addr, t->pcb->local_port};
    t->peer = (struct net_address){ip_2_ip4(&t->pcb->remote_ip)->addr, t->pcb->remote_port};
}

static err_t connected(void *arg, UNUSED struct tcp_pcb *pcb, UNUSED err_t err)
{
    struct net_stream *t = arg;
    bool irq = spin_lock(t->lock);

    t->state = STREAM_CONNECTED;
    t->joined = true;
    put_ends(t);
    t->owner->changed(t, OUTPUT);
    spin_unlock(t->lock, irq);
    net_post_locked(&t->task, STREAM_GO);
    return ERR_OK;
}

static void put_options(struct net_stream *t);
extern const struct net_instance net_here;

/* Joins a stream with its PCB. */
static void attach(struct net_stream *t, struct tcp_pcb *pcb)
{
    t->owner->keep(t);
    t->pcb = pcb;
    tcp_arg(pcb, t);
    tcp_recv(pcb, received);
    tcp_sent(pcb, acked);
    tcp_err(pcb, ended);
    put_options(t);
}

/* Puts a connection among those that wait. Returns false if the listener is closed by now. */
static bool queue_arrived(struct net_stream *listener, struct net_stream *t)
{
    bool irq = spin_lock(listener->lock), open = !listener->closed;

    if (open) {
        list_push_back(&listener->pending, &t->in_pending);
        listener->waiting++;
        listener->owner->changed(listener, INPUT);
    }
    spin_unlock(listener->lock, irq);
    return open;
}

/* Has a connection reset that no program has. */
static void reset_unwanted(struct net_stream *t)
{
    bool irq = spin_lock(t->lock);

    t->closed = t->resets = true;
    spin_unlock(t->lock, irq);
    net_post_locked(&t->task, STREAM_GO);
    t->owner->let_go(t);
}

/* Returns the stream at the other end, or NULL: it is not of this machine. */
static struct net_stream *other_end(const struct tcp_pcb *pcb)
{
    const struct demux_ends other = {ip_2_ip4(&pcb->local_ip)->addr,
                                     ip_2_ip4(&pcb->remote_ip)->addr, pcb->local_port,
                                     pcb->remote_port};
    const struct tcp_pcb *peer = tcp_with_ends(&other, NULL, false);

    return peer ? peer->callback_arg : NULL;
}

/* A connection to a listener, or to its branch here. */
static err_t arrived(void *arg, struct tcp_pcb *pcb, err_t err)
{
    struct net_stream *listener = arg;

    if (err != ERR_OK || !listener)
        return ERR_MEM;
    if (listener->main)
        listener = listener->main;
    struct net_stream *t = listener->owner->make(listener);
    if (!t)
        return ERR_MEM; /* lwIP resets it */
    net_stream_settle(t, &net_here);
    t->state = STREAM_CONNECTED;
    t->joined = true;
    t->options = listener->options;
    struct net_stream *other = other_end(pcb);
    t->connector = other ? other->connector : 0;
    attach(t, pcb);
    put_ends(t);
    if (other)
        net_fuse(other, t);
    tcp_backlog_delayed(pcb);
    if (!queue_arrived(listener, t))
        reset_unwanted(t);
    return ERR_OK;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Tells lwIP what was read, and frees it. */
static void give_back(struct net_stream *t)
{
    bool irq = spin_lock(t->lock);
    struct pbuf *read = t->read;
    uint32_t n = t->read_bytes;

    t->read = NULL;
    t->read_bytes = 0;
    spin_unlock(t->lock, irq);
    while (t->pcb && n) {
        u16_t part = (u16_t)MIN(n, (uint32_t)UINT16_MAX);
        tcp_recved(t->pcb, part);
        n -= part;
    }
    free_pbufs(read);
}

/* Gives lwIP a part of a chunk. Returns whether there may be more. */
static bool write_part(struct net_stream *t, uint64_t *left)
{
    bool irq = spin_lock(t->lock);
    struct net_chunk *c = t->unwritten;
    bool last = !c || !c->next;

    spin_unlock(t->lock, irq);
    uint32_t room = tcp_sndbuf(t->pcb);
    if (!c || !room || !*left)
        return false;
    uint32_t n = MIN(MIN(c->bytes - c->written, room), (uint32_t)UINT16_MAX);
    bool whole = n == c->bytes - c->written;
    if (tcp_write(t->pcb, c->data + c->written, (u16_t)n,
                  last && whole ? 0 : TCP_WRITE_FLAG_MORE) != ERR_OK)
        return false;
    c->written += n;
    *left -= MIN(*left, (uint64_t)n);
    if (whole) {
        irq = spin_lock(t->lock);
        t->unwritten = c->next;
        spin_unlock(t->lock, irq);
    }
    return true;
}

static bool is_open(const struct net_stream *t)
{
    return t->pcb->state == ESTABLISHED || t->pcb->state == CLOSE_WAIT;
}

/* Returns whether lwIP frees the PCB at once when it is closed. */
static bool ends_at_once(const struct tcp_pcb *pcb)
{
    return pcb->state == LISTEN || pcb->state == CLOSED || pcb->state == SYN_SENT ||
           ((pcb->state == ESTABLISHED || pcb->state == CLOSE_WAIT) &&
            (pcb->refused_data || pcb->rcv_wnd != TCP_WND_MAX(pcb)));
}

/* Ends what the owner has closed, as soon as lwIP has got all of it. Until all is acknowledged lwIP
 * refers to chunks. */
static void end(struct net_stream *t)
{
    struct tcp_pcb *pcb = t->pcb;
    bool irq = spin_lock(t->lock);
    bool resets = t->resets || t->queued, written = !t->unwritten, acked_all = !t->unacked;

    spin_unlock(t->lock, irq);
    if (pcb->state == LISTEN || pcb->state == CLOSED || pcb->state == SYN_SENT) {
        tcp_close(detach(t));
        leave(t);
    } else if (resets) {
        tcp_abort(detach(t));
        leave(t);
    } else if (written && (acked_all || ends_at_once(pcb))) {
        tcp_close(detach(t));
        leave(t);
    } else if (written) {
        t->ending = true;
        tcp_close(pcb);
    }
}

/* Does what is to be done for a stream. */
static void go(struct net_stream *t)
{
    uint64_t left = WRITE_AT_ONCE;
    bool irq = spin_lock(t->lock), closed = t->closed;

    spin_unlock(t->lock, irq);
    /* All that a closed one has read: lwIP would reset it for what it is not told. */
    give_back(t);
    if (!t->pcb) {
        free_unread(t);
        return;
    }
    if (is_open(t)) {
        while (write_part(t, &left))
            continue;
        tcp_output(t->pcb);
    }
    if (!left)
        net_post_locked(&t->task, STREAM_GO);
    irq = spin_lock(t->lock);
    bool written = !t->unwritten, ends = t->shut & STREAM_SEND && written;
    spin_unlock(t->lock, irq);
    if (is_open(t))
        tcp_poll(t->pcb, written ? NULL : tried_again, RETRY_INTERVAL);
    if (closed)
        end(t);
    else if (ends && is_open(t))
        tcp_shutdown(t->pcb, 0, 1);
}

static void run_task(struct net_task *task, uint32_t wanted)
{
    struct net_stream *t = container_of(task, struct net_stream, task);

    if (wanted & STREAM_ACCEPTED && t->pcb)
        tcp_backlog_accepted(t->pcb);
    go(t);
}

/* ---- What is asked of the instance ----------------------------------------------------------- */

/* Options of a PCB are fields of it. Instance's lock held. */
static void put_options(struct net_stream *t)
{
    const struct net_stream_options *o = &t->options;
    struct tcp_pcb *pcb = t->pcb;

    pcb->ttl = o->ttl;
    pcb->tos = o->tos;
    ip_reset_option(pcb, SOF_REUSEADDR | SOF_REUSEPORT | SOF_KEEPALIVE);
    ip_set_option(pcb, (o->reuse_address ? SOF_REUSEADDR : 0) |
                           (o->reuse_port ? SOF_REUSEPORT : 0) |
                           (o->keep_alive ? SOF_KEEPALIVE : 0));
    if (pcb->state == LISTEN)
        return;
    tcp_due(pcb);
    if (o->no_delay)
        tcp_nagle_disable(pcb);
    else
        tcp_nagle_enable(pcb);
    if (o->idle_s)
        pcb->keep_idle = o->idle_s * 1000;
    if (o->interval_s)
        pcb->keep_intvl = o->interval_s * 1000;
    if (o->probes)
        pcb->keep_cnt = o->probes;
}

static void set_options(struct net_stream *t)
{
    bool irq = net_lock();

    if (t->pcb && t->home == &net_here)
        put_options(t);
    net_unlock(irq);
}

static uint32_t segment(struct net_stream *t)
{
    bool irq = net_lock();
    bool here = t->pcb && t->home == &net_here;
    uint32_t n = here && t->pcb->state != LISTEN ? tcp_mss(t->pcb) : 536;

    net_unlock(irq);
    return n;
}

/* Gives the stream a PCB, if it has none. Instance's lock held. */
static int make_pcb(struct net_stream *t)
{
    if (t->pcb)
        return 0;
    struct tcp_pcb *pcb = tcp_new();
    if (!pcb)
        return -ENOBUFS;
    attach(t, pcb);
    return 0;
}

/* Stores the own end. Instance's lock held. */
static void put_own(struct net_stream *t)
{
    bool irq = spin_lock(t->lock);

    t->own = (struct net_address){ip_2_ip4(&t->pcb->local_ip)->addr, t->pcb->local_port};
    spin_unlock(t->lock, irq);
}

static int bind_locked(struct net_stream *t, const struct net_address *own)
{
    int err = t->state != STREAM_NEW || t->own.port ? -EINVAL : make_pcb(t);

    if (err)
        return err;
    err_t result = tcp_bind(t->pcb, &(ip_addr_t){own->ip}, own->port);
    if (result != ERR_OK)
        return result == ERR_BUF ? -EADDRINUSE : net_error(result);
    put_own(t);
    return 0;
}

static int bind_stream(struct net_stream *t, const struct net_address *own)
{
    bool irq = net_lock();
    int err = bind_locked(t, own);

    net_unlock(irq);
    return err;
}

static void unbind_stream(struct net_stream *t)
{
    bool irq = net_lock();

    if (t->pcb) {
        tcp_close(detach(t));
        leave(t);
    }
    bool inner = spin_lock(t->lock);
    t->own = (struct net_address){0, 0};
    spin_unlock(t->lock, inner);
    net_unlock(irq);
}

static int listen_locked(struct net_stream *t, unsigned backlog)
{
    err_t result;

    if (t->state == STREAM_LISTENS) {
        tcp_backlog_set(t->pcb, (u16_t)backlog);
        return 0;
    }
    if (t->state != STREAM_NEW || !t->pcb)
        return -EINVAL;
    struct tcp_pcb *pcb = tcp_listen_with_backlog_and_err(t->pcb, 1, &result);
    if (!pcb)
        return net_error(result);
    tcp_backlog_set(pcb, (u16_t)backlog);
    t->pcb = pcb;
    tcp_accept(pcb, arrived);
    bool irq = spin_lock(t->lock);
    t->state = STREAM_LISTENS;
    spin_unlock(t->lock, irq);
    return 0;
}

static int listen_stream(struct net_stream *t, unsigned backlog)
{
    bool irq = net_lock();
    int err = listen_locked(t, backlog);

    net_unlock(irq);
    return err;
}

static int connect_locked(struct net_stream *t, const struct net_address *peer)
{
    int err = t->state == STREAM_CONNECTS    ? -EALREADY
              : t->state == STREAM_CONNECTED ? -EISCONN
              : t->state == STREAM_LISTENS   ? -EISCONN
              : t->joined                    ? -EISCONN
                                             : make_pcb(t);

    if (err)
        return err;
    bool irq = spin_lock(t->lock);
    t->state = STREAM_CONNECTS;
    t->shut = 0;
    t->finished = false;
    t->error = 0;
    t->peer = *peer;
    spin_unlock(t->lock, irq);
    err_t result = tcp_connect(t->pcb, &(ip_addr_t){peer->ip}, peer->port, connected);
    if (result == ERR_OK) {
        put_own(t);
        return 0;
    }
    irq = spin_lock(t->lock);
    t->state = STREAM_NEW;
    spin_unlock(t->lock, irq);
    return result == ERR_BUF || result == ERR_USE ? -EADDRNOTAVAIL : net_error(result);
}

static int connect_stream(struct net_stream *t, const struct net_address *peer)
{
    bool irq = net_lock();
    int err = connect_locked(t, peer);

    net_unlock(irq);
    return err;
}

const struct net_instance net_here = {
    .start = net_instance_start,
    .post = net_post,
    .memory = net_instance_memory,
    .refused = net_instance_refused,
    .ends = net_instance_ends,
    .figure = net_instance_figure,
    .loopback = net_instance_loopback,
    .add_card = net_instance_add_card,
    .read_card = net_instance_read_card,
    .run = run_task,
    .bind = bind_stream,
    .unbind = unbind_stream,
    .listen = listen_stream,
    .connect = connect_stream,
    .set_options = set_options,
    .segment = segment,
};
