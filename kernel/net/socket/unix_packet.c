/* Packets: what sockets of AF_UNIX have sent and not yet received. */
#include "kernel/core/wall_clock.h"
#include "kernel/mem/mem.h"
#include "kernel/net/socket/unix.h"
#include <linux/poll.h>

#define HEAP_MAX     2048       /* larger pieces of the heap are whole pages, a power of two */
#define PART_MAX     (32 * KIB) /* of a stream, with the packet's structure */
#define AREA_FROM    (64 * KIB) /* larger datagrams need not be contiguous */
#define RESERVE_UNIT (8 * KIB)  /* that a socket charges to its account at once */
#define RESERVE_KEPT (16 * KIB) /* that it keeps while nothing waits */

/* ---- Room ------------------------------------------------------------------------------------ */

/* Returns the memory that a packet of n bytes takes. */
static uint32_t cost_of(uint32_t n)
{
    uint64_t bytes = sizeof(struct unix_packet) + n, pages = PAGE_SIZE;

    if (bytes > AREA_FROM)
        return (uint32_t)ALIGN_UP(bytes, PAGE_SIZE);
    if (bytes <= HEAP_MAX)
        return (uint32_t)ALIGN_UP(bytes, 16);
    while (pages < bytes)
        pages *= 2;
    return (uint32_t)pages;
}

uint32_t unix_part_max(struct unix_socket *u)
{
    uint32_t send_bytes = __atomic_load_n(&u->s.options.send_bytes, __ATOMIC_RELAXED);

    return MIN(send_bytes / 2 - 64, (uint32_t)(PART_MAX - sizeof(struct unix_packet)));
}

/* Charges what u has sent to its account, in units. Lock held. */
static int charge_locked(struct unix_socket *u)
{
    uint64_t wanted = ALIGN_UP(u->sent, RESERVE_UNIT);

    if (wanted <= u->reserved)
        return 0;
    if (memory_charge(u->s.account, wanted - u->reserved))
        return -ENOBUFS;
    u->reserved = wanted;
    return 0;
}

static void uncharge_locked(struct unix_socket *u)
{
    uint64_t kept = u->dead ? 0 : RESERVE_KEPT;

    if (u->sent || u->reserved <= kept)
        return;
    memory_uncharge(u->s.account, u->reserved - kept);
    u->reserved = kept;
}

/* Waits until u may send, and takes room. */
static int take_room(struct unix_socket *u, uint32_t cost, uint64_t deadline_ns)
{
    bool irq = spin_lock(&u->s.lock);
    int err;

    for (;;) {
        err = socket_error(&u->s);
        if (err)
            break;
        if (u->shut & UNIX_SEND) {
            err = -EPIPE;
            break;
        }
        if (u->sent < u->s.options.send_bytes)
            break;
        err = socket_wait(&u->s, &irq, deadline_ns);
        if (err)
            break;
    }
    if (!err) {
        u->sent += cost;
        err = charge_locked(u);
        if (err)
            u->sent -= cost;
    }
    spin_unlock(&u->s.lock, irq);
    return err;
}

static void give_room(struct unix_socket *u, uint32_t cost)
{
    bool irq = spin_lock(&u->s.lock);

    u->sent -= cost;
    uncharge_locked(u);
    if (!u->dead && u->sent * 4 <= u->s.options.send_bytes)
        socket_changed(&u->s, POLLOUT | POLLWRNORM | POLLWRBAND);
    spin_unlock(&u->s.lock, irq);
}

/* ---- Making and freeing ---------------------------------------------------------------------- */

static struct unix_packet *allocate_packet(uint32_t n)
{
    struct unix_packet *p = NULL;

    if (sizeof(*p) + n <= AREA_FROM)
        p = kmalloc_unfilled(sizeof(*p) + n);
    if (p) {
        memset(p, 0, sizeof(*p));
        p->data = (char *)(p + 1);
        return p;
    }
    p = kmalloc(sizeof(*p));
    if (!p)
        return NULL;
    p->data = area_alloc(n);
    if (!p->data) {
        kfree(p);
        return NULL;
    }
    return p;
}

static void free_memory(struct unix_packet *p)
{
    if (p->data != (char *)(p + 1))
        area_free(p->data);
    kfree(p);
}

/* Gives the packet what it passes. */
static int take_rights(struct unix_packet *p, struct socket_message *m)
{
    struct socket_rights *r = m->rights;

    if (!r || !r->n)
        return 0;
    int err = unix_charge_rights(p->from, r, m->caller);
    if (!err) {
        p->rights = r;
        m->rights = NULL;
    }
    return err;
}

int unix_make_packet(struct unix_socket *u, struct socket_message *m, uint32_t n, bool first,
                     uint64_t deadline_ns, struct unix_packet **out)
{
    uint32_t cost = cost_of(n);
    int err = take_room(u, cost, deadline_ns);

    if (err)
        return err;
    struct unix_packet *p = allocate_packet(n);
    if (!p) {
        give_room(u, cost);
        return -ENOBUFS;
    }
    list_init(&p->in_queue);
    socket_get(&u->s);
    p->from = u;
    p->credentials = m->credentials;
    p->stamp_ns = wall_clock_ns();
    p->bytes = n;
    p->charged = cost;
    err = first ? take_rights(p, m) : 0;
    if (!err)
        err = socket_take(m, p->data, n);
    if (err)
        unix_free_packet(p);
    else
        *out = p;
    return err;
}

static void free_one(struct unix_packet *p)
{
    struct unix_socket *from = p->from;
    uint32_t cost = p->charged;

    free_memory(p);
    give_room(from, cost);
    socket_put(&from->s);
}

/* Files that are closed may be sockets, with packets that have files, and so on. What is to be
 * closed waits here, so that no stack gets deep; one thread at a time closes it. */
static struct spinlock closing_lock = SPINLOCK(LOCK_SOCKET, "descriptors to be closed");
static struct list closing = {&closing, &closing}; /* closing_lock: packets, by in_queue */
static struct mutex closing_turn = MUTEX(closing_turn, "closing of descriptors");

static struct unix_packet *next_closing(void)
{
    bool irq = spin_lock(&closing_lock);
    struct list *l = list_pop_front(&closing);

    spin_unlock(&closing_lock, irq);
    return l ? container_of(l, struct unix_packet, in_queue) : NULL;
}

static void close_rights(struct unix_packet *p)
{
    bool irq = spin_lock(&closing_lock);

    list_push_back(&closing, &p->in_queue);
    spin_unlock(&closing_lock, irq);
    if (mutex_held(&closing_turn))
        return; /* it goes on further out */
    mutex_lock(&closing_turn);
    while ((p = next_closing())) {
        struct socket_rights *r = p->rights;
        unix_uncharge_rights(p->from, r->n);
        for (unsigned i = 0; i < r->n; i++)
            file_put(r->file[i]);
        kfree(r);
        free_one(p);
    }
    mutex_unlock(&closing_turn);
}

void unix_free_packet(struct unix_packet *p)
{
    if (p->rights)
        close_rights(p);
    else
        free_one(p);
}

void unix_free_packets(struct list *packets)
{
    for (struct list *l; (l = list_pop_front(packets));)
        unix_free_packet(container_of(l, struct unix_packet, in_queue));
}

/* ---- Queues ---------------------------------------------------------------------------------- */

void unix_put_packet_locked(struct unix_socket *to, struct unix_packet *p)
{
    if (p->rights)
        unix_rights_leave(p);
    list_push_back(&to->queue, &p->in_queue);
    to->queued++;
    to->queued_bytes += p->bytes;
    socket_changed(&to->s, POLLIN | POLLRDNORM);
}

void unix_remove_packet_locked(struct unix_socket *u, struct unix_packet *p)
{
    list_remove(&p->in_queue);
    u->queued--;
    u->queued_bytes -= p->bytes - p->taken;
}

void unix_take_packets(struct unix_socket *u, struct list *out)
{
    unsigned taken = 0;

    list_init(out);
    bool irq = spin_lock(&u->s.lock);
    while (!list_empty(&u->queue)) {
        struct list *l = list_pop_front(&u->queue);
        list_push_back(out, l);
        taken++;
    }
    u->queued -= MIN(u->queued, taken);
    u->queued_bytes = 0;
    spin_unlock(&u->s.lock, irq);
    list_for_each (it, out) {
        const struct unix_packet *p = container_of(it, struct unix_packet, in_queue);
        if (p->rights)
            unix_rights_land(p);
    }
}

void unix_tell_source(struct unix_socket *u, const struct unix_packet *p, struct socket_message *m)
{
    unix_put_address(p->from, &m->address, true);
    m->stamp_ns = p->stamp_ns;
    m->credentials = p->credentials;
    m->has_credentials = u->s.options.pass_credentials;
}
