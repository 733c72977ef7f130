/* Streams over all instances, as owners see them; see stream.h. */
#include "kernel/net/lwip/stream.h"
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

/* ---- Chunks, and what was received ----------------------------------------------------------- */

struct net_chunk *net_chunk_make(struct net_stream *t, uint32_t n)
{
    uint32_t bytes = (uint32_t)sizeof(struct net_chunk) + n;

    if (memory_charge(t->account, bytes))
        return NULL;
    struct net_chunk *c = kmalloc_unfilled(bytes);
    if (!c) {
        memory_uncharge(t->account, bytes);
        return NULL;
    }
    *c = (struct net_chunk){.bytes = n, .charged = bytes};
    return c;
}

void net_chunk_free(struct net_stream *t, struct net_chunk *c)
{
    memory_uncharge(t->account, c->charged);
    kfree(c);
}

void net_stream_put(struct net_stream *t, struct net_chunk *c)
{
    if (t->sent)
        t->sent_last->next = c;
    else
        t->sent = c;
    t->sent_last = c;
    if (!t->unwritten)
        t->unwritten = c;
    t->unacked += c->bytes;
}

bool net_stream_take(struct net_stream *t, uint64_t n)
{
    t->queued -= n;
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
    return t->read_bytes >= READ_AT_ONCE;
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

void net_stream_release(struct net_stream *t)
{
    if (!t->branches)
        return;
    kfree(t->branches);
    memory_uncharge(t->account, branch_bytes());
}

/* ---- Binding --------------------------------------------------------------------------------- */

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
    if (!t->home) /* it may reach others by a card */
        net_stream_settle(t, net_instance_for(own->ip));
    for (unsigned i = 0; i < DRAWS && err == -EADDRINUSE; i++) {
        err = make_branches(t) ?: bind_once(t, own);
        if (own->port)
            break;
    }
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

/* Gives the stream a home, unless it has one. */
static void find_home(struct net_stream *t, const struct net_instance *home)
{
    bool irq = spin_lock(t->lock);

    if (!t->home)
        net_stream_settle(t, home);
    spin_unlock(t->lock, irq);
}

/* Takes a stream, whose home has no port for it, to another instance. Returns whether it may: it is
 * not bound, and that instance knows no more of it. */
static bool move_home(struct net_stream *t, unsigned index)
{
    if (t->own.port || t->branches)
        return false;
    t->home->unbind(t);
    bool irq = spin_lock(t->lock);
    bool moves = t->state == STREAM_NEW && !__atomic_load_n(&t->task.wanted, __ATOMIC_ACQUIRE);
    if (moves)
        net_stream_settle(t, net_instance(index));
    spin_unlock(t->lock, irq);
    return moves;
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
        if (!move_home(t, (first + i) % (others + 1)))
            break;
        err = t->home->connect(t, peer);
    }
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
    if (t->home)
        t->home->post(&t->task, STREAM_GO);
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
    if (!t->home)
        return;
    t->home->set_options(t);
    if (!t->branches)
        return;
    mutex_lock(&binding);
    set_branch_options(t);
    mutex_unlock(&binding);
}

uint32_t net_stream_segment(struct net_stream *t)
{
    return t->home ? t->home->segment(t) : SEGMENT;
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
    while (reset_pending(t))
        continue;
    for (b = NULL; (b = next_branch(t, b));)
        net_stream_go(b);
    net_stream_go(t);
}
