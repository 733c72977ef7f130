/* Datagrams over lwIP's UDP; see datagram.h. */
#include "kernel/net/lwip/datagram.h"
#include "kernel/core/wall_clock.h"
#include "kernel/mem/mem.h"
#include "lwip/udp.h"
#include <linux/poll.h>

static bool has_room(struct net_port *t, uint64_t bytes)
{
    return t->queued + bytes <= t->room;
}

/* Instance's lock held. */
static void received(void *arg, UNUSED struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *ip,
                     u16_t port)
{
    struct net_port *t = arg;
    uint64_t bytes = sizeof(struct net_datagram) + p->tot_len;
    bool irq = spin_lock(t->lock), fits = has_room(t, bytes);

    spin_unlock(t->lock, irq);
    struct net_datagram *d = fits ? kmalloc_unfilled(bytes) : NULL;
    if (d) {
        d->from = (struct net_address){ip_2_ip4(ip)->addr, port};
        d->to = ip4_current_dest_addr()->addr;
        d->interface = ip_current_input_netif()->num + 1u; /* loopback's is 0 */
        d->stamp_ns = wall_clock_ns();
        d->bytes = p->tot_len;
        pbuf_copy_partial(p, d->data, p->tot_len, 0);
    }
    pbuf_free(p);
    irq = spin_lock(t->lock);
    if (d) {
        list_push_back(&t->queue, &d->in_queue);
        t->queued += bytes;
        t->owner->changed(t, POLLIN | POLLRDNORM);
    } else {
        t->dropped++;
    }
    spin_unlock(t->lock, irq);
}

void net_port_refused(struct udp_pcb *pcb)
{
    struct net_port *t = pcb->recv_arg;

    if (pcb->recv == received) /* not DHCP's */
        t->owner->refused(t);
}

void net_port_init(struct net_port *t)
{
    list_init(&t->queue);
    t->ttl = UDP_TTL;
}

static int make_pcb(struct net_port *t)
{
    if (!t->pcb) {
        t->pcb = udp_new();
        if (!t->pcb)
            return -ENOBUFS;
        udp_recv(t->pcb, received, t);
    }
    t->pcb->ttl = t->ttl;
    t->pcb->tos = t->tos;
    ip_reset_option(t->pcb, SOF_REUSEADDR | SOF_REUSEPORT | SOF_BROADCAST);
    ip_set_option(t->pcb, (t->reuse_address ? SOF_REUSEADDR : 0) |
                              (t->reuse_port ? SOF_REUSEPORT : 0) |
                              (t->broadcast ? SOF_BROADCAST : 0));
    return 0;
}

/* Stores the ends. Instance's lock held. */
static void put_ends(struct net_port *t)
{
    bool irq = spin_lock(t->lock), joined = t->pcb->flags & UDP_FLAGS_CONNECTED;

    t->own = (struct net_address){ip_2_ip4(&t->pcb->local_ip)->addr, t->pcb->local_port};
    t->peer = (struct net_address){0, 0};
    if (joined)
        t->peer = (struct net_address){ip_2_ip4(&t->pcb->remote_ip)->addr, t->pcb->remote_port};
    spin_unlock(t->lock, irq);
}

static int bind_locked(struct net_port *t, const struct net_address *own)
{
    int err = t->own.port ? -EINVAL : make_pcb(t);

    if (err)
        return err;
    err_t result = udp_bind(t->pcb, &(ip_addr_t){own->ip}, own->port);
    if (result == ERR_OK)
        put_ends(t);
    return net_error(result);
}

int net_port_bind(struct net_port *t, const struct net_address *own)
{
    int err = net_start();

    if (err)
        return err;
    bool irq = net_lock();
    err = bind_locked(t, own);
    net_unlock(irq);
    return err;
}

static int connect_locked(struct net_port *t, const struct net_address *peer)
{
    const struct net_address any = {0, 0};
    int err = t->pcb ? 0 : bind_locked(t, &any);
    err_t result = ERR_OK;

    if (err)
        return err;
    if (peer) {
        ip4_addr_t ip = {peer->ip};
        struct netif *out = ip4_route(&ip);
        if (!out)
            return -ENETUNREACH;
        result = udp_connect(t->pcb, &(ip_addr_t){peer->ip}, peer->port);
        if (result == ERR_OK && !t->own.ip)
            ip4_addr_copy(*ip_2_ip4(&t->pcb->local_ip), *netif_ip4_addr(out));
    } else {
        udp_disconnect(t->pcb);
    }
    put_ends(t);
    return net_error(result);
}

int net_port_connect(struct net_port *t, const struct net_address *peer)
{
    int err = net_start();

    if (err)
        return err;
    bool irq = net_lock();
    err = connect_locked(t, peer);
    net_unlock(irq);
    return err;
}

/* Instance's lock held. */
static int send_locked(struct net_port *t, const struct net_address *to, const void *data,
                       uint32_t n)
{
    const struct net_address any = {0, 0};
    int err = t->own.port ? make_pcb(t) : bind_locked(t, &any);

    if (err)
        return err;
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)n, PBUF_RAM);
    if (!p)
        return -ENOBUFS;
    pbuf_take(p, data, (u16_t)n);
    err_t result = to ? udp_sendto(t->pcb, p, &(ip_addr_t){to->ip}, to->port) : udp_send(t->pcb, p);
    pbuf_free(p);
    return result == ERR_VAL && !t->broadcast ? -EACCES : net_error(result);
}

int net_port_send(struct net_port *t, const struct net_address *to, const void *data, uint32_t n)
{
    int err = net_start();

    if (err)
        return err;
    bool irq = net_lock();
    err = send_locked(t, to, data, n);
    net_unlock(irq);
    return err;
}

void net_port_close(struct net_port *t)
{
    bool irq = net_lock();

    if (t->pcb)
        udp_remove(t->pcb);
    t->pcb = NULL;
    net_unlock(irq);
}
