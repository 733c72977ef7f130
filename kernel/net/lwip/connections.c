/* Where lwIP finds its connections. See connections.h. */
#include "kernel/net/lwip/connections.h"
#include "lwip/priv/tcp_priv.h"

#define FIRST_BUCKETS (1 << DEMUX_BITS_MIN)

/* A table, and its first buckets. */
struct table {
    struct demux demux;
    struct demux_node *first[FIRST_BUCKETS];
};

static struct table by_ends, by_port;
static struct demux_secret secret;
static bool started;
static struct list due = {&due, &due};
static struct list last_of_turn = {&last_of_turn, &last_of_turn}; /* in `due`, in a turn */
static struct list waiting = {&waiting, &waiting};                /* in TIME_WAIT, oldest first */

static uint64_t draw(void)
{
    return (uint64_t)LWIP_RAND() << 32 | LWIP_RAND();
}

static void start(void)
{
    started = true;
    for (unsigned i = 0; i < ARRAY_SIZE(secret.word); i++)
        secret.word[i] = draw();
    demux_init(&by_ends.demux, by_ends.first, DEMUX_BITS_MIN, draw());
    demux_init(&by_port.demux, by_port.first, DEMUX_BITS_MIN, draw());
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void put(struct table *t, struct demux_node *n, uint64_t key)
{
    struct demux *d = &t->demux;

    demux_put(d, n, key);
    if (!demux_is_full(d))
        return;
    struct demux_node **more = lwip_calloc((size_t)2 << d->bits, sizeof(*more));
    if (!more)
        return; /* chains grow longer */
    struct demux_node **old = demux_grow(d, more);
    if (old != t->first)
        lwip_free(old);
    else
        memset(t->first, 0, sizeof(t->first));
}

static void drop(struct table *t, struct demux_node *n)
{
    struct demux *d = &t->demux;

    demux_drop(d, n);
    if (d->keys || d->buckets == t->first)
        return;
    lwip_free(d->buckets);
    demux_init(d, t->first, DEMUX_BITS_MIN, d->factor);
}

/* Keys of ports: those that listen or are bound have one of their own, as a server's port has many
 * connections. */
static uint64_t port_key(uint16_t port, bool taken)
{
    return (uint64_t)port << 1 | taken;
}

static bool is_taker(struct tcp_pcb **list)
{
    return list == &tcp_listen_pcbs.pcbs || list == &tcp_bound_pcbs;
}

static struct demux_ends ends_of(const struct tcp_pcb *pcb)
{
    return (struct demux_ends){.remote_ip = ip_2_ip4(&pcb->remote_ip)->addr,
                               .own_ip = ip_2_ip4(&pcb->local_ip)->addr,
                               .remote_port = pcb->remote_port,
                               .own_port = pcb->local_port};
}

void tcp_list_put(struct tcp_pcb **list, struct tcp_pcb *pcb)
{
    struct tcp_links *l = &pcb->links;

    if (!started)
        start();
    pcb->next = *list;
    if (pcb->next)
        pcb->next->links.link = &pcb->next;
    l->link = list;
    *list = pcb;
    put(&by_port, &l->at_port, port_key(pcb->local_port, is_taker(list)));
    list_init(&l->due);
    l->ends.after = NULL;
    if (is_taker(list))
        return;
    const struct demux_ends e = ends_of(pcb);
    put(&by_ends, &l->ends, demux_key(&secret, &e));
    if (list == &tcp_tw_pcbs)
        tcp_wait_again(pcb);
    else
        tcp_due(pcb);
}

void tcp_list_drop(struct tcp_pcb **list, struct tcp_pcb *pcb)
{
    struct tcp_links *l = &pcb->links;

    LWIP_UNUSED_ARG(list);
    if (!l->at_port.after)
        return;
    *l->link = pcb->next;
    if (pcb->next)
        pcb->next->links.link = l->link;
    pcb->next = NULL;
    drop(&by_port, &l->at_port);
    if (l->ends.after) {
        drop(&by_ends, &l->ends);
        tcp_half_open_end(pcb);
    }
    list_remove(&l->due);
    l->due.next = NULL;
}

/* ---- Finding --------------------------------------------------------------------------------- */

static bool is_for(const struct tcp_pcb *pcb, const struct demux_ends *e, const struct netif *in)
{
    const struct demux_ends own = ends_of(pcb);

    return own.remote_ip == e->remote_ip && own.own_ip == e->own_ip &&
           own.remote_port == e->remote_port && own.own_port == e->own_port &&
           (!in || pcb->netif_idx == NETIF_NO_INDEX || pcb->netif_idx == netif_get_index(in));
}

struct tcp_pcb *tcp_with_ends(const struct demux_ends *e, const struct netif *in, bool time_wait)
{
    if (!started)
        return NULL;
    for (const struct demux_node *n = demux_first(&by_ends.demux, demux_key(&secret, e)); n;
         n = demux_after(&by_ends.demux, n)) {
        struct tcp_pcb *pcb = container_of(n, struct tcp_pcb, links.ends);
        if ((pcb->state == TIME_WAIT) == time_wait && is_for(pcb, e, in))
            return pcb;
    }
    return NULL;
}

static struct tcp_pcb *first_at_port(uint16_t port, bool taken)
{
    struct demux_node *n = started ? demux_first(&by_port.demux, port_key(port, taken)) : NULL;

    return n ? container_of(n, struct tcp_pcb, links.at_port) : NULL;
}

struct tcp_pcb *tcp_first_at_port(uint16_t port)
{
    struct tcp_pcb *pcb = first_at_port(port, true);

    return pcb ? pcb : first_at_port(port, false);
}

struct tcp_pcb *tcp_next_at_port(const struct tcp_pcb *pcb)
{
    const struct demux_node *n = &pcb->links.at_port;
    struct demux_node *after = demux_after(&by_port.demux, n);

    if (after)
        return container_of(after, struct tcp_pcb, links.at_port);
    return n->key & 1 ? first_at_port((uint16_t)(n->key >> 1), false) : NULL;
}

struct tcp_pcb_listen *tcp_next_listener(uint16_t port, struct tcp_pcb_listen *l)
{
    struct tcp_pcb *pcb = l ? tcp_next_at_port((struct tcp_pcb *)l) : first_at_port(port, true);

    while (pcb && pcb->state == CLOSED) /* bound */
        pcb = tcp_next_at_port(pcb);
    return pcb && pcb->state == LISTEN ? (struct tcp_pcb_listen *)pcb : NULL;
}

static bool shares(const struct tcp_pcb_listen *a, const struct tcp_pcb_listen *b)
{
    return a->so_options & b->so_options & SOF_REUSEPORT && ip_addr_eq(&a->local_ip, &b->local_ip);
}

struct tcp_pcb_listen *tcp_listener_of(struct tcp_pcb_listen *l, uint32_t ip, uint16_t port)
{
    const struct demux_ends from = {.remote_ip = ip, .remote_port = port};
    struct tcp_pcb_listen *other = NULL;
    unsigned n = 0;

    if (!l || !ip_get_option(l, SOF_REUSEPORT))
        return l;
    while ((other = tcp_next_listener(l->local_port, other)))
        n += shares(l, other);
    unsigned chosen = demux_choose(&secret, &from, n);
    while ((other = tcp_next_listener(l->local_port, other)))
        if (shares(l, other) && !chosen--)
            return other;
    return l;
}

bool tcp_port_is_free(uint16_t port, struct tcp_pcb *pcb)
{
    if (!tcp_first_at_port(port))
        return true;
    if (!pcb || first_at_port(port, true))
        return false;
    struct demux_ends e = ends_of(pcb);
    e.own_port = port;
    if (tcp_with_ends(&e, NULL, false))
        return false;
    struct tcp_pcb *waits = tcp_with_ends(&e, NULL, true);
    if (waits && !ip_addr_isloopback(&waits->local_ip) && e.remote_ip != e.own_ip)
        return false;
    if (waits)
        tcp_abort(waits);
    return true;
}

/* Ports that are drawn. */
static struct {
    unsigned index, count;
} part = {0, 1};

void tcp_share_ports(unsigned number, unsigned count)
{
    part.index = number;
    part.count = count;
}

uint16_t tcp_next_port(uint16_t port)
{
    const unsigned first = TCP_LOCAL_PORT_RANGE_START;
    const unsigned own = (TCP_LOCAL_PORT_RANGE_END + 1 - first) / part.count;
    unsigned next = (port - first) / part.count + 1;

    return (uint16_t)(first + (next < own ? next : 0) * part.count + part.index);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

/* Whether timers have nothing to do for a connection until something happens. */
static bool rests(const struct tcp_pcb *pcb)
{
    const unsigned pending = TF_ACK_DELAY | TF_ACK_NOW | TF_CLOSEPEND;

    return (pcb->state == ESTABLISHED || pcb->state == CLOSE_WAIT) && !(pcb->flags & pending) &&
           !pcb->unsent && !pcb->unacked && !pcb->ooseq && !pcb->refused_data && pcb->rtime < 0 &&
           !pcb->persist_backoff && !pcb->poll && !ip_get_option(pcb, SOF_KEEPALIVE);
}

void tcp_turn(void)
{
    list_remove(&last_of_turn);
    list_push_back(&due, &last_of_turn);
}

struct tcp_pcb *tcp_next_due(void)
{
    while (due.next != &last_of_turn) {
        struct list *item = list_pop_front(&due);
        struct tcp_pcb *pcb = container_of(item, struct tcp_pcb, links.due);
        if (rests(pcb))
            continue;
        list_push_back(&due, item);
        return pcb;
    }
    return NULL;
}

void tcp_due(struct tcp_pcb *pcb)
{
    struct tcp_links *l = &pcb->links;

    if (l->ends.after && list_empty(&l->due))
        list_push_back(&due, &l->due);
}

struct tcp_pcb *tcp_oldest_waiting(void)
{
    return list_empty(&waiting) ? NULL : container_of(waiting.next, struct tcp_pcb, links.due);
}

void tcp_wait_again(struct tcp_pcb *pcb)
{
    pcb->tmr = tcp_ticks;
    list_remove(&pcb->links.due);
    list_push_back(&waiting, &pcb->links.due);
}
