/* Streams over all instances, as owners see them; see stream.h. */
#include "kernel/net/lwip/fusion.h"
#include "kernel/net/lwip/interface.h"
#include "kernel/mem/mem.h"
#include "lwip/pbuf.h"
#include "sched/sched.h"
#include <linux/poll.h>

#define READ_AT_ONCE (16 * KIB) /* bytes read, before lwIP is told of them */
#define LISTEN_MAX   4096u      /* connections that wait to be accepted */
#define SEGMENT      536u       /* bytes, of a stream that has no connection */
#define DRAWS        16         /* of a port, if another instance has it */
#define ALL          (POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLHUP | POLLRDHUP | POLLERR)

/* One bind or listen at a time: ports are looked at in all instances. */
static struct mutex binding = MUTEX(binding, "ports");

/* ---- Sending --------------------------------------------------------------------------------- */

void net_stream_begin(struct net_stream *t, struct net_stream_part *part)
{
    *part = (struct net_stream_part){.to = t->fused};
    if (part->to)
        part->to->owner->keep(part->to);
}

int net_stream_reserve(struct net_stream *t, uint64_t n, struct net_stream_part *part)
{
    part->bytes = (uint32_t)MIN(n, (uint64_t)NET_CHUNK_MAX);
    if (part->to) {
        int err = net_fused_reserve(t, part->bytes, part);
        if (err)
            part->to->owner->let_go(part->to);
        return err;
    }
    part->chunk = net_chunk_make(t->account, part->bytes);
    if (!part->chunk)
        return -ENOBUFS;
    part->data = part->chunk->data;
    return 0;
}

/* What put_chunk() returns when t has been fused meanwhile, if it minds. */
#define FUSED 1

/* Puts a chunk behind what lwIP is to send. Returns 0; FUSED; -EPIPE: t sends nothing more. */
static int put_chunk(struct net_stream *t, struct net_chunk *c, bool minds_fused)
{
    bool irq = spin_lock(t->lock);
    int result = t->shut & STREAM_SEND || t->state != STREAM_CONNECTED ? -EPIPE
                 : t->fused && minds_fused                             ? FUSED
                                                                       : 0;

    if (!result) {
        if (t->sent)
            t->sent_last->next = c;
        else
            t->sent = c;
        t->sent_last = c;
        if (!t->unwritten)
            t->unwritten = c;
        t->unacked += c->bytes;
    }
    spin_unlock(t->lock, irq);
    if (!result)
        net_stream_go(t);
    return result;
}

/* Sends n bytes by lwIP. */
static int send_by_lwip(struct net_stream *t, const void *from, uint32_t n)
{
    struct net_chunk *c = net_chunk_make(t->account, n);

    if (!c)
        return -ENOBUFS;
    memcpy(c->data, from, n);
    int err = put_chunk(t, c, false);
    if (err)
        net_chunks_free(t->account, c);
    return err;
}

/* Passes the part on. A closed end is not passed any: lwIP then answers as it does to others. */
static int commit_fused(struct net_stream *t, struct net_stream_part *part)
{
    int err = 0;

    if (!net_fused_commit(t, part)) {
        err = send_by_lwip(t, part->data, part->bytes);
        net_fused_drop(t, part);
    }
    part->to->owner->let_go(part->to);
    return err;
}

/* Sends a chunk that was made before t was fused. */
static int commit_late(struct net_stream *t, const struct net_chunk *c)
{
    struct net_stream_part part;
    bool irq = spin_lock(t->lock);

    net_stream_begin(t, &part);
    spin_unlock(t->lock, irq);
    if (!part.to)
        return send_by_lwip(t, c->data, c->bytes);
    int err = net_stream_reserve(t, c->bytes, &part);
    if (err)
        return err;
    memcpy(part.data, c->data, c->bytes);
    return commit_fused(t, &part);
}

int net_stream_commit(struct net_stream *t, struct net_stream_part *part)
{
    if (part->to)
        return commit_fused(t, part);
    int result = put_chunk(t, part->chunk, true);
    if (!result)
        return 0;
    if (result == FUSED)
        result = commit_late(t, part->chunk);
    net_chunks_free(t->account, part->chunk);
    return result;
}

void net_stream_drop(struct net_stream *t, struct net_stream_part *part)
{
    if (part->to) {
        net_fused_drop(t, part);
        part->to->owner->let_go(part->to);
    } else {
        net_chunks_free(t->account, part->chunk);
    }
}

bool net_stream_has_room(struct net_stream *t, uint64_t most, uint64_t low)
{
    if (!t->fused)
        return t->unacked < most;
    if (__atomic_load_n(&t->fused->queued, __ATOMIC_RELAXED) < most)
        return true;
    __atomic_store_n(&t->room_wanted, low, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* net_fused_waiting() has the other */
    return __atomic_load_n(&t->fused->queued, __ATOMIC_RELAXED) < low;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

uint64_t net_stream_look(const struct net_stream *t, uint64_t skip, const void **from)
{
    for (const struct net_chunk *c = t->passed; c; c = c->next) {
        uint64_t here = c->bytes - c->acked;
        if (skip < here) {
            *from = c->data + c->acked + skip;
            return here - skip;
        }
        skip -= here;
    }
    for (const struct pbuf *p = t->received; p; p = p->next) {
        if (skip < p->len) {
            *from = (const uint8_t *)p->payload + skip;
            return p->len - skip;
        }
        skip -= p->len;
    }
    return 0;
}

/* Takes n bytes off lwIP's buffers. Lock held. */
static void take_received(struct net_stream *t, uint64_t n)
{
    t->read_bytes += (uint32_t)n;
    while (n) {
        struct pbuf *p = t->received;
        if (n < p->len) {
            p->payload = (uint8_t *)p->payload + n;
            p->len = (u16_t)(p->len - n);
            break;
        }
        n -= p->len;
        t->received = p->next;
        p->next = t->read;
        t->read = p;
    }
}

bool net_stream_take(struct net_stream *t, uint64_t n)
{
    struct net_chunk *unused = NULL;
    bool irq = spin_lock(t->lock);

    take_received(t, net_fused_take(t, n, &unused));
    __atomic_store_n(&t->queued, t->queued - n, __ATOMIC_RELAXED);
    struct net_stream *waiting = net_fused_waiting(t);
    bool goes = t->read_bytes >= READ_AT_ONCE;
    spin_unlock(t->lock, irq);
    net_chunks_free(t->passed_account, unused);
    if (waiting)
        net_fused_tell(waiting);
    return goes;
}

/* ---- Homes and branches ---------------------------------------------------------------------- */

static struct net_stream *stream_of(struct net_task *task)
{
    return container_of(task, struct net_stream, task);
}

static void keep_task(struct net_task *task)
{
    struct net_stream *t = stream_of(task);

    t->owner->keep(t);
}

static void let_go_task(struct net_task *task)
{
    struct net_stream *t = stream_of(task);

    t->owner->let_go(t);
}

void net_stream_init(struct net_stream *t)
{
    t->task = (struct net_task){.keep = keep_task, .let_go = let_go_task};
    list_init(&t->pending);
    list_init(&t->in_pending);
    t->options.ttl = TCP_TTL;
}

void net_stream_settle(struct net_stream *t, const struct net_instance *home)
{
    t->task.run = home->run;
    t->home = home;
}

/* Returns the home, or NULL. Another thread may take the stream out of it next. */
static const struct net_instance *home_of(const struct net_stream *t)
{
    return __atomic_load_n(&t->home, __ATOMIC_RELAXED);
}

/* A branch lives as long as the stream that it belongs to. */
static void branch_changed(UNUSED struct net_stream *t, UNUSED unsigned mask)
{
}

static void keep_main(struct net_stream *t)
{
    t->main->owner->keep(t->main);
}

static void let_go_main(struct net_stream *t)
{
    t->main->owner->let_go(t->main);
}

static const struct net_stream_owner branch_owner = {
    .changed = branch_changed, .keep = keep_main, .let_go = let_go_main};

static unsigned branch_count(void)
{
    return net_instance_count() - 1;
}

static uint64_t branch_bytes(void)
{
    return branch_count() * sizeof(struct net_stream);
}

/* Makes branches in all instances but the stream's own. [binding] held. */
static int make_branches(struct net_stream *t)
{
    unsigned next = 0;

    if (t->branches || !branch_count())
        return 0;
    if (memory_charge(t->account, branch_bytes()))
        return -ENOBUFS;
    struct net_stream *made = kmalloc(branch_bytes());
    if (!made) {
        memory_uncharge(t->account, branch_bytes());
        return -ENOBUFS;
    }
    for (unsigned i = 0; i <= branch_count(); i++) {
        if (net_instance(i) == t->home)
            continue;
        struct net_stream *b = &made[next++];
        b->owner = &branch_owner;
        b->lock = t->lock;
        b->account = t->account;
        b->main = t;
        net_stream_init(b);
        net_stream_settle(b, net_instance(i));
    }
    t->branches = made;
    return 0;
}

/* Returns the branch after `b`, the first after NULL, or NULL. */
static struct net_stream *next_branch(const struct net_stream *t, struct net_stream *b)
{
    if (!t->branches)
        return NULL;
    b = b ? b + 1 : t->branches;
    return b < t->branches + branch_count() ? b : NULL;
}

/* No instance refers to them. */
static void free_branches(struct net_stream *t)
{
    if (!t->branches)
        return;
    kfree(t->branches);
    t->branches = NULL;
    memory_uncharge(t->account, branch_bytes());
}

void net_stream_release(struct net_stream *t)
{
    ASSERT(!t->fused);
    net_chunks_free(t->passed_account, t->passed);
    memory_account_put(t->passed_account);
    free_branches(t);
}

/* ---- Binding --------------------------------------------------------------------------------- */

/* Gives the stream a home, unless it has one. */
static void find_home(struct net_stream *t, const struct net_instance *home)
{
    bool irq = spin_lock(t->lock);

    if (!t->home)
        net_stream_settle(t, home);
    spin_unlock(t->lock, irq);
}

/* Takes a stream that has no port and no connection out of its home, which then knows no more of
 * it: the next address may be that of another instance. Returns whether it has no home now. */
static bool leave_home(struct net_stream *t)
{
    bool irq = spin_lock(t->lock);
    bool leaves = t->state == STREAM_NEW && !t->own.port &&
                  !__atomic_load_n(&t->task.wanted, __ATOMIC_ACQUIRE);

    spin_unlock(t->lock, irq);
    if (!leaves)
        return false;
    t->home->unbind(t);
    irq = spin_lock(t->lock);
    t->home = NULL;
    spin_unlock(t->lock, irq);
    return true;
}

/* Binds in all instances, or in none. [binding] held. */
static int bind_once(struct net_stream *t, const struct net_address *own)
{
    struct net_stream *b = NULL;
    int err = t->home->bind(t, own);

    if (err)
        return err;
    const struct net_address same = {own->ip, t->own.port};
    while (!err && (b = next_branch(t, b))) {
        b->options = t->options;
        err = b->home->bind(b, &same);
    }
    if (!err)
        return 0;
    for (b = NULL; (b = next_branch(t, b));)
        b->home->unbind(b);
    t->home->unbind(t);
    return err;
}

/* [binding] held. */
static int bind_all(struct net_stream *t, const struct net_address *own)
{
    int err = -EADDRINUSE;

    if (t->state != STREAM_NEW || t->own.port)
        return -EINVAL;
    find_home(t, net_instance_for(own->ip)); /* it may reach others by a card */
    for (unsigned i = 0; i < DRAWS && err == -EADDRINUSE; i++) {
        err = make_branches(t) ?: bind_once(t, own);
        if (own->port)
            break;
    }
    if (err && leave_home(t))
        free_branches(t);
    return err;
}

int net_stream_bind(struct net_stream *t, const struct net_address *own)
{
    int err = net_start();

    if (err)
        return err;
    mutex_lock(&binding);
    err = bind_all(t, own);
    mutex_unlock(&binding);
    return err;
}

/* [binding] held. */
static int listen_all(struct net_stream *t, unsigned backlog)
{
    const struct net_address any = {0, 0};
    struct net_stream *b = NULL;
    int err = 0;

    if (t->state != STREAM_NEW && t->state != STREAM_LISTENS)
        return -EINVAL;
    if (!t->own.port)
        err = bind_all(t, &any);
    while (!err && (b = next_branch(t, b)))
        err = b->home->listen(b, backlog);
    return err ? err : t->home->listen(t, backlog);
}

int net_stream_listen(struct net_stream *t, unsigned backlog)
{
    int err = net_start();

    if (err)
        return err;
    mutex_lock(&binding);
    err = listen_all(t, MAX(MIN(backlog, LISTEN_MAX), 1u));
    mutex_unlock(&binding);
    return err;
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static bool is_loopback(uint32_t ip)
{
    return (ip & __builtin_bswap32(0xff000000u)) == (NET_LOOPBACK & __builtin_bswap32(0xff000000u));
}

int net_stream_connect(struct net_stream *t, const struct net_address *peer)
{
    bool here = is_loopback(peer->ip);
    int err = net_start();

    if (err)
        return err;
    unsigned first = net_instance_here(), others = here ? net_instance_count() - 1 : 0;
    find_home(t, here ? net_instance(first) : net_instance_for(peer->ip));
    err = t->home->connect(t, peer);
    for (unsigned i = 1; i <= others && err == -EADDRNOTAVAIL; i++) {
        if (!leave_home(t))
            return err;
        find_home(t, net_instance((first + i) % (others + 1)));
        err = t->home->connect(t, peer);
    }
    if (err)
        leave_home(t);
    return err;
}

struct net_stream *net_stream_accept(struct net_stream *t)
{
    if (list_empty(&t->pending))
        return NULL;
    t->waiting--;
    return container_of(list_pop_front(&t->pending), struct net_stream, in_pending);
}

void net_stream_accepted(struct net_stream *t)
{
    t->home->post(&t->task, STREAM_ACCEPTED);
}

void net_stream_go(struct net_stream *t)
{
    const struct net_instance *home = home_of(t);

    if (home)
        home->post(&t->task, STREAM_GO);
}

/* ---- Options --------------------------------------------------------------------------------- */

static void set_branch_options(struct net_stream *t)
{
    for (struct net_stream *b = NULL; (b = next_branch(t, b));) {
        b->options = t->options;
        b->home->set_options(b);
    }
}

void net_stream_set_options(struct net_stream *t)
{
    const struct net_instance *home = home_of(t);

    if (!home)
        return;
    home->set_options(t);
    if (!t->branches)
        return;
    mutex_lock(&binding);
    set_branch_options(t);
    mutex_unlock(&binding);
}

uint32_t net_stream_segment(struct net_stream *t)
{
    const struct net_instance *home = home_of(t);

    return home ? home->segment(t) : SEGMENT;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

void net_stream_shutdown(struct net_stream *t, unsigned how)
{
    bool irq = spin_lock(t->lock);

    t->shut |= how;
    t->owner->changed(t, ALL);
    spin_unlock(t->lock, irq);
    net_stream_go(t);
}

/* Returns whether a connection still waited at a closed listener; it is reset. */
static bool reset_pending(struct net_stream *listener)
{
    bool irq = spin_lock(listener->lock);
    struct net_stream *t = net_stream_accept(listener);

    spin_unlock(listener->lock, irq);
    if (!t)
        return false;
    irq = spin_lock(t->lock);
    t->closed = t->resets = true;
    spin_unlock(t->lock, irq);
    net_stream_go(t);
    t->owner->let_go(t);
    return true;
}

void net_stream_close(struct net_stream *t, bool resets)
{
    struct net_stream *b = NULL;
    bool irq = spin_lock(t->lock);

    t->closed = true;
    t->resets = resets;
    while ((b = next_branch(t, b)))
        b->closed = true;
    spin_unlock(t->lock, irq);
    net_unfuse(t);
    while (reset_pending(t))
        continue;
    for (b = NULL; (b = next_branch(t, b));)
        net_stream_go(b);
    net_stream_go(t);
}
