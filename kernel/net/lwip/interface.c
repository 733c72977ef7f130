/* The interface to the world; see interface.h. */
#include "kernel/net/lwip/interface.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/dev/net/net_device.h"
#include "kernel/lib/ipv4.h"
#include "kernel/mem/mem.h"
#include "kernel/net/lwip/frame.h"
#include "kernel/net/lwip/instance.h"
#include "lwip/dhcp.h"
#include "lwip/etharp.h"
#include "netif/ethernet.h"

#define SENDS        256  /* frames that may be on their way */
#define SEND_BYTES   2048 /* of each */
#define SPARE_LEAST  128  /* buffers of a card: with fewer spare, frames are copied */
#define NAME_SERVERS 6    /* DHCP option, RFC 2132 */
#define DHCP_WAIT_NS (5 * NS_PER_S)
#define DHCP_LOOK_NS (2 * NS_PER_MS)
#define LOOPBACK_MTU 65536 /* as Linux says */
#define MTU_MAX      (SEND_BYTES - NET_HEADER_BYTES)

uint64_t net_wanted = true, net_ip, net_gateway, net_device, net_fragments, net_dns;

static const char *const device_choices[] = {"first", "virtio0", "e1000e0", "igb0", NULL};

const struct arg net_args[] = {
    {"net", ARG_BOOL, &net_wanted, 0, 0, NULL, ARG_BOOT, "use a network card, if there is one"},
    {"net.device", ARG_CHOICE, &net_device, 0, 0, device_choices, ARG_BOOT,
     "which card, by its name"},
    {"net.ip", ARG_ADDRESS, &net_ip, 1, 0, "dhcp", ARG_BOOT,
     "its address and the length of its network's prefix; dhcp: a server tells"},
    {"net.gateway", ARG_ADDRESS, &net_gateway, 0, 0, "none", ARG_BOOT,
     "with net.ip: the host that leads out of its network"},
    {"net.dns", ARG_HOSTS, &net_dns, 0, 0, "dhcp", ARG_BOOT,
     "servers that know names, for /etc/resolv.conf; dhcp: a server tells"},
    {"net.fragments", ARG_BOOL, &net_fragments, 0, 0, NULL, ARG_BOOT,
     "take parts of packets that were cut on their way, and join them"},
    {"net.instances", ARG_U64, &net_instances, 0, NET_INSTANCES_MAX, NULL, ARG_BOOT,
     "instances of lwIP, each with a lock of its own; 0: one for each chip, at most 8"},
    {"net.memory", ARG_BYTES, &net_memory, 0, 64 * GIB, NULL, ARG_BOOT,
     "memory that the network has at most; 0: an eighth of all"},
    {0},
};

/* A frame on its way out. */
struct sending {
    struct net_send send;
    struct sending *next; /* [tx] free ones */
    uint8_t *bytes;
};

static struct {
    struct netif netif;
    struct net_device *card;
    uint32_t names[2];               /* [A] servers that a DHCP server has named; 0: none */
    bool added;                      /* the card is an interface; written at boot */
    struct spinlock tx;              /* the free ones */
    struct sending *free;            /* [tx] */
    uint64_t frames[FRAME_VERDICTS]; /* [instance] received ones */
    uint64_t no_room;                /* [instance] frames that were not sent: none was free */
} net = {.tx = SPINLOCK(LOCK_THREAD, "network sends")};

/* ---- Sending --------------------------------------------------------------------------------- */

static void put_sending(struct sending *s)
{
    bool irq = spin_lock(&net.tx);

    s->next = net.free;
    net.free = s;
    spin_unlock(&net.tx, irq);
}

static struct sending *take_sending(void)
{
    bool irq = spin_lock(&net.tx);
    struct sending *s = net.free;

    if (s)
        net.free = s->next;
    spin_unlock(&net.tx, irq);
    return s;
}

static void frame_sent(struct net_send *s, UNUSED int status)
{
    put_sending(container_of(s, struct sending, send));
}

static int make_sends(void)
{
    const unsigned a_page = PAGE_SIZE / SEND_BYTES;
    paddr_t page = 0;

    for (unsigned i = 0; i < SENDS; i++) {
        struct sending *s = kmalloc(sizeof(*s));
        if (!s || (i % a_page == 0 && frame_alloc(0, &page)))
            return -ENOMEM;
        paddr_t at = page + i % a_page * SEND_BYTES;
        s->bytes = phys_to_virt(at);
        s->send = (struct net_send){.part[0].at = at, .parts = 1, .done = frame_sent};
        put_sending(s);
    }
    return 0;
}

/* Instance's lock held. */
static err_t send_frame(UNUSED struct netif *n, struct pbuf *p)
{
    struct sending *s = p->tot_len <= SEND_BYTES ? take_sending() : NULL;

    if (!s) {
        net.no_room++;
        return ERR_MEM;
    }
    struct net_send *send = &s->send;
    pbuf_copy_partial(p, s->bytes, p->tot_len, 0);
    send->part[0].bytes = p->tot_len;
    if (net_send(net.card, 0, &send, 1) == 1)
        return ERR_OK;
    put_sending(s);
    net.no_room++;
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
static void take_in(struct net_device *d, unsigned queue, struct net_buffer *frame)
{
    bool checked = frame->flags & NET_CHECKED;
    enum net_verdict verdict =
        net_frame_check(frame->data, frame->bytes, frame->frame_bytes, net_fragments);

    net.frames[verdict]++;
    if (verdict != FRAME_ACCEPTED) {
        net_free(frame);
        return;
    }
    struct pbuf *p = take_frame(d, queue, frame);
    NETIF_SET_CHECKSUM_CTRL(&net.netif,
                            checked ? NETIF_CHECKSUM_ENABLE_ALL &
                                          ~(NETIF_CHECKSUM_CHECK_TCP | NETIF_CHECKSUM_CHECK_UDP)
                                    : NETIF_CHECKSUM_ENABLE_ALL);
    if (p && net.netif.input(p, &net.netif) != ERR_OK)
        pbuf_free(p);
}

static void frames_received(UNUSED void *arg, struct net_device *d, unsigned queue,
                            struct net_buffer *const *frames, unsigned n)
{
    bool irq = net_lock();

    for (unsigned i = 0; i < n; i++)
        take_in(d, queue, frames[i]);
    net_unlock(irq);
}

static void link_changed(UNUSED void *arg, struct net_device *d)
{
    bool irq = net_lock();

    if (d->up)
        netif_set_link_up(&net.netif);
    else
        netif_set_link_down(&net.netif);
    net_unlock(irq);
}

/* ---- Servers that know names ----------------------------------------------------------------- */

void lwip_dhcp_option(unsigned option, unsigned bytes, const struct pbuf *p, unsigned at)
{
    uint32_t address[ARRAY_SIZE(net.names)] = {0};

    if (option != NAME_SERVERS || !bytes || bytes % sizeof(address[0]))
        return;
    pbuf_copy_partial(p, address, (u16_t)MIN(bytes, (unsigned)sizeof(address)), (u16_t)at);
    for (unsigned i = 0; i < ARRAY_SIZE(net.names); i++)
        __atomic_store_n(&net.names[i], address[i], __ATOMIC_RELAXED);
}

unsigned net_name_servers(uint32_t out[2])
{
    unsigned n = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(net.names); i++) {
        uint32_t address = net_dns ? __builtin_bswap32((uint32_t)(net_dns >> 32 * i))
                                   : __atomic_load_n(&net.names[i], __ATOMIC_RELAXED);
        if (address)
            out[n++] = address;
    }
    return n;
}

bool net_by_dhcp(void)
{
    return net.added && !net_ip;
}

/* ---- Starting -------------------------------------------------------------------------------- */

static err_t init_netif(struct netif *n)
{
    n->name[0] = 'e';
    n->name[1] = 'n';
    n->hostname = "vigil";
    n->output = etharp_output;
    n->linkoutput = send_frame;
    n->mtu = (u16_t)MIN(net.card->mtu, (unsigned)MTU_MAX);
    n->hwaddr_len = NET_MAC_BYTES;
    memcpy(n->hwaddr, net.card->mac, NET_MAC_BYTES);
    n->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
    return ERR_OK;
}

static ip4_addr_t ip_of(uint64_t address)
{
    return (ip4_addr_t){__builtin_bswap32((uint32_t)address)};
}

static uint32_t mask_of(uint64_t address)
{
    return ~0u << (32 - (address >> IPV4_PREFIX_SHIFT));
}

/* Returns what is wrong with the arguments together, or NULL. */
static const char *check_arguments(void)
{
    if (net_gateway && !net_ip)
        return "net.gateway goes with net.ip=A.B.C.D/N";
    if (net_gateway && (((uint32_t)net_gateway ^ (uint32_t)net_ip) & mask_of(net_ip)))
        return "net.gateway is not in the network of net.ip";
    return NULL;
}

static void add_interface(void)
{
    ip4_addr_t ip = {0}, mask = {0}, gateway = ip_of(net_gateway);
    bool irq = net_lock();

    if (net_ip) {
        ip = ip_of(net_ip);
        mask = ip_of(mask_of(net_ip));
    }
    netif_add(&net.netif, &ip, &mask, &gateway, NULL, init_netif, ethernet_input);
    netif_set_default(&net.netif);
    net.added = true;
    netif_set_up(&net.netif);
    if (!net_ip)
        dhcp_start(&net.netif);
    net_unlock(irq);
}

static uint64_t address_of(const ip4_addr_t *a)
{
    return __builtin_bswap32(a->addr);
}

static void report(bool has_address)
{
    const uint8_t *mac = net.card->mac;
    char ip[IPV4_TEXT_MAX], gateway[IPV4_TEXT_MAX];
    bool irq = net_lock();
    uint64_t own = address_of(netif_ip4_addr(&net.netif));
    uint64_t mask = address_of(netif_ip4_netmask(&net.netif));
    uint64_t out = address_of(netif_ip4_gw(&net.netif));

    net_unlock(irq);
    own |= (uint64_t)__builtin_popcountll(mask) << IPV4_PREFIX_SHIFT;
    if (has_address)
        kprintf("net: device=%s mac=%02x:%02x:%02x:%02x:%02x:%02x ip=%s by=%s gateway=%s "
                "instances=%u\n",
                net.card->name, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5],
                ipv4_format(own, ip), net_ip ? "argument" : "dhcp",
                out ? ipv4_format(out, gateway) : "none", net_instance_count());
    else
        kprintf("net: device=%s event=waiting by=dhcp: no server has answered for %u s; programs "
                "begin without an address\n",
                net.card->name, (unsigned)(DHCP_WAIT_NS / NS_PER_S));
}

/* Waits until there is an address. Returns whether there is. */
static bool wait_for_address(void)
{
    uint64_t deadline_ns = arch_clock_ns() + DHCP_WAIT_NS;
    bool found = false;

    while (!found && arch_clock_ns() < deadline_ns) {
        bool irq = net_lock();
        found = net_ip || dhcp_supplied_address(&net.netif);
        net_unlock(irq);
        if (!found)
            sched_sleep_until(arch_clock_ns() + DHCP_LOOK_NS);
    }
    return found;
}

static const struct net_handlers handlers = {.receive = frames_received, .link = link_changed};

void net_interface_start(void)
{
    const char *wrong = check_arguments();

    net.card = net_device ? net_find(device_choices[net_device]) : net_first();
    if (wrong)
        kprintf("net: event=refused reason=arguments: %s\n", wrong);
    else if (net_wanted && net_device && !net.card)
        kprintf("net: event=refused reason=device: there is no card %s\n",
                device_choices[net_device]);
    if (wrong || !net_wanted || !net.card)
        return;
    if (make_sends() || net_start()) {
        kprintf("net: event=refused reason=memory: no memory for the network\n");
        return;
    }
    add_interface();
    if (net_open(net.card, &handlers, NULL)) {
        kprintf("net: device=%s event=refused reason=open: it does not start\n", net.card->name);
        return;
    }
    report(wait_for_address());
}

/* ---- Telling --------------------------------------------------------------------------------- */

static void read_loopback(struct net_interface *out)
{
    *out = (struct net_interface){.name = "lo",
                                  .loopback = true,
                                  .up = true,
                                  .running = true,
                                  .ip = NET_LOOPBACK,
                                  .mask = __builtin_bswap32(0xff000000u),
                                  .mtu = LOOPBACK_MTU};
    net_loopback(out);
}

static void read_card(struct net_interface *out)
{
    struct net_stats s;

    net_read_stats(net.card, &s);
    *out = (struct net_interface){.name = "eth0",
                                  .mtu = net.netif.mtu,
                                  .received = s.received,
                                  .received_bytes = s.received_bytes,
                                  .received_bad = s.malformed,
                                  .received_dropped = s.no_buffer + s.missed,
                                  .sent = s.sent,
                                  .sent_bytes = s.sent_bytes,
                                  .sent_dropped =
                                      s.given_up + __atomic_load_n(&net.no_room, __ATOMIC_RELAXED)};
    memcpy(out->mac, net.card->mac, NET_MAC_BYTES);
    for (unsigned v = FRAME_ACCEPTED + 1; v < FRAME_VERDICTS; v++)
        out->received_dropped += __atomic_load_n(&net.frames[v], __ATOMIC_RELAXED);
    bool irq = net_lock();
    out->up = netif_is_up(&net.netif);
    out->running = netif_is_link_up(&net.netif);
    out->ip = netif_ip4_addr(&net.netif)->addr;
    out->mask = netif_ip4_netmask(&net.netif)->addr;
    out->gateway = netif_ip4_gw(&net.netif)->addr;
    net_unlock(irq);
}

bool net_interface(unsigned index, struct net_interface *out)
{
    if (index >= (net.added ? 2u : 1u))
        return false;
    if (index)
        read_card(out);
    else
        read_loopback(out);
    return true;
}

void net_interface_drops(void (*tell)(void *to, const char *reason, uint64_t frames), void *to)
{
    for (unsigned v = FRAME_ACCEPTED + 1; v < FRAME_VERDICTS; v++)
        tell(to, net_verdicts[v], __atomic_load_n(&net.frames[v], __ATOMIC_RELAXED));
    tell(to, "no-room", __atomic_load_n(&net.no_room, __ATOMIC_RELAXED));
}

static void print_drop(UNUSED void *to, const char *reason, uint64_t frames)
{
    if (frames)
        kprintf("net: event=dropped frames=%llu reason=%s\n", (unsigned long long)frames, reason);
}

void net_interface_report(void)
{
    net_interface_drops(print_drop, NULL);
}
