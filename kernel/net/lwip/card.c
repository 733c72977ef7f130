/* Frames between a card and lwIP; see card.h. Linked once for each instance. */
#include "kernel/net/lwip/card.h"
#include "kernel/lib/ipv4.h"
#include "kernel/mem/mem.h"
#include "kernel/net/lwip/instance.h"
#include "kernel/net/lwip/interface.h"
#include "lwip/dhcp.h"
#include "lwip/etharp.h"
#include "netif/ethernet.h"

#define SENDS       256  /* frames that may be on their way */
#define SEND_BYTES  2048 /* of each */
#define SPARE_LEAST 128  /* buffers of a card: with fewer spare, frames are copied */
#define MTU_MAX     (SEND_BYTES - NET_HEADER_BYTES)

struct net_sending {
    struct net_send send;
    struct net_sending *next; /* [tx] free ones */
    uint8_t *bytes;
};

/* ---- Sending --------------------------------------------------------------------------------- */

static void put_sending(struct net_card *c, struct net_sending *s)
{
    bool irq = spin_lock(&c->tx);

    s->next = c->free;
    c->free = s;
    spin_unlock(&c->tx, irq);
}

static struct net_sending *take_sending(struct net_card *c)
{
    bool irq = spin_lock(&c->tx);
    struct net_sending *s = c->free;

    if (s)
        c->free = s->next;
    spin_unlock(&c->tx, irq);
    return s;
}

static void frame_sent(struct net_send *s, UNUSED int status)
{
    put_sending(s->owner, container_of(s, struct net_sending, send));
}

static int make_sends(struct net_card *c)
{
    const unsigned a_page = PAGE_SIZE / SEND_BYTES;
    paddr_t page = 0;

    for (unsigned i = 0; i < SENDS; i++) {
        struct net_sending *s = kmalloc(sizeof(*s));
        if (!s || (i % a_page == 0 && frame_alloc(0, &page)))
            return -ENOMEM;
        paddr_t at = page + i % a_page * SEND_BYTES;
        s->bytes = phys_to_virt(at);
        s->send = (struct net_send){.part[0].at = at, .parts = 1, .done = frame_sent, .owner = c};
        put_sending(c, s);
    }
    return 0;
}

/* Instance's lock held. */
static err_t send_frame(struct netif *n, struct pbuf *p)
{
    struct net_card *c = n->state;
    struct net_sending *s = p->tot_len <= SEND_BYTES ? take_sending(c) : NULL;

    if (!s) {
        c->no_room++;
        return ERR_MEM;
    }
    struct net_send *send = &s->send;
    pbuf_copy_partial(p, s->bytes, p->tot_len, 0);
    send->part[0].bytes = p->tot_len;
    if (net_send(c->device, 0, &send, 1) == 1)
        return ERR_OK;
    put_sending(c, s);
    c->no_room++;
    return ERR_MEM;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Lies in the frame's own memory, struct net_buffer's `owner`. */
struct received {
    struct pbuf_custom pbuf;
    struct net_buffer *frame;
};
_Static_assert(sizeof(struct received) <= NET_OWNER_BYTES, "it fits");

static void free_received(struct pbuf *p)
{
    net_free(container_of((struct pbuf_custom *)p, struct received, pbuf)->frame);
}

static struct pbuf *copy_frame(struct net_buffer *frame)
{
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)frame->frame_bytes, PBUF_RAM);
    u16_t at = 0;

    for (struct net_buffer *b = frame; p && b; b = b->next) {
        pbuf_take_at(p, b->data, (u16_t)b->bytes, at);
        at = (u16_t)(at + b->bytes);
    }
    net_free(frame);
    return p;
}

/* Makes lwIP's buffer of a frame, which it frees: the frame itself, or a copy if the card has few
 * left. Instance's lock held. */
static struct pbuf *take_frame(struct net_device *d, unsigned queue, struct net_buffer *frame)
{
    struct received *r = (struct received *)frame->owner;

    if (frame->next || net_spare(d, queue) < SPARE_LEAST)
        return copy_frame(frame);
    memset(r, 0, sizeof(*r));
    r->frame = frame;
    r->pbuf.custom_free_function = free_received;
    return pbuf_alloced_custom(PBUF_RAW, (u16_t)frame->bytes, PBUF_REF, &r->pbuf, frame->data,
                               (u16_t)frame->bytes);
}

/* Hands a frame to lwIP. Instance's lock held. */
static void take_in(struct net_card *c, unsigned queue, struct net_buffer *frame)
{
    bool checked = frame->flags & NET_CHECKED;
    enum net_verdict verdict =
        net_frame_check(frame->data, frame->bytes, frame->frame_bytes, net_fragments);

    c->frames[verdict]++;
    if (verdict != FRAME_ACCEPTED) {
        net_free(frame);
        return;
    }
    struct pbuf *p = take_frame(c->device, queue, frame);
    NETIF_SET_CHECKSUM_CTRL(&c->netif,
                            checked ? NETIF_CHECKSUM_ENABLE_ALL &
                                          ~(NETIF_CHECKSUM_CHECK_TCP | NETIF_CHECKSUM_CHECK_UDP)
                                    : NETIF_CHECKSUM_ENABLE_ALL);
    if (p && c->netif.input(p, &c->netif) != ERR_OK)
        pbuf_free(p);
}

static void frames_received(void *arg, UNUSED struct net_device *d, unsigned queue,
                            struct net_buffer *const *frames, unsigned n)
{
    bool irq = net_lock();

    for (unsigned i = 0; i < n; i++)
        take_in(arg, queue, frames[i]);
    net_unlock(irq);
}

static void link_changed(void *arg, struct net_device *d)
{
    struct net_card *c = arg;
    bool irq = net_lock();

    if (d->up)
        netif_set_link_up(&c->netif);
    else
        netif_set_link_down(&c->netif);
    net_unlock(irq);
}

static const struct net_handlers handlers = {.receive = frames_received, .link = link_changed};

/* ---- What is asked of the instance ----------------------------------------------------------- */

static err_t init_netif(struct netif *n)
{
    const struct net_card *c = n->state;

    n->name[0] = 'e';
    n->name[1] = 'n';
    n->hostname = "vigil";
    n->output = etharp_output;
    n->linkoutput = send_frame;
    n->mtu = (u16_t)MIN(c->device->mtu, (unsigned)MTU_MAX);
    n->hwaddr_len = NET_MAC_BYTES;
    memcpy(n->hwaddr, c->device->mac, NET_MAC_BYTES);
    n->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
    return ERR_OK;
}

static ip4_addr_t ip_of(uint64_t address)
{
    return (ip4_addr_t){__builtin_bswap32((uint32_t)address)};
}

static void add_netif(struct net_card *c)
{
    ip4_addr_t ip = {0}, mask = {0}, gateway = ip_of(c->gateway);
    bool irq = net_lock();

    if (c->ip) {
        ip = ip_of(c->ip);
        mask = ip_of(ipv4_mask(c->ip));
    }
    netif_add(&c->netif, &ip, &mask, &gateway, c, init_netif, ethernet_input);
    if (!netif_default)
        netif_set_default(&c->netif);
    netif_set_up(&c->netif);
    if (!c->ip)
        dhcp_start(&c->netif);
    net_unlock(irq);
}

int net_instance_add_card(struct net_card *c)
{
    if (make_sends(c))
        return -ENOMEM;
    add_netif(c);
    return net_open(c->device, &handlers, c);
}

void net_instance_read_card(struct net_card *c, struct net_interface *out)
{
    bool irq = net_lock();

    out->up = netif_is_up(&c->netif);
    out->running = netif_is_link_up(&c->netif);
    out->ip = netif_ip4_addr(&c->netif)->addr;
    out->mask = netif_ip4_netmask(&c->netif)->addr;
    out->gateway = netif_ip4_gw(&c->netif)->addr;
    net_unlock(irq);
}
