/* The interfaces to the world; see interface.h. */
#include "kernel/net/lwip/interface.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/lib/ipv4.h"
#include "kernel/lib/text.h"
#include "kernel/net/lwip/card.h"
#include "kernel/net/lwip/fusion.h"
#include "kernel/net/lwip/instance.h"
#include "lwip/pbuf.h"

#define NAME_SERVERS 6 /* DHCP option, RFC 2132 */
#define DHCP_WAIT_NS (5 * NS_PER_S)
#define LINK_WAIT_NS (300 * NS_PER_MS)
#define DHCP_LOOK_NS (2 * NS_PER_MS)
#define LOOPBACK_MTU 65536 /* as Linux says */

uint64_t net_wanted = true, net_ip, net_gateway, net_device, net_fragments, net_dns;
uint64_t net_ip1, net_device1;

#define DEVICES "virtio0", "virtio1", "e1000e0", "e1000e1", "igb0", "igb1", "wire0", "wire1", NULL
static const char *const device_choices[] = {"first", DEVICES};
static const char *const device1_choices[] = {"next", DEVICES};

const struct arg net_args[] = {
    {"net", ARG_BOOL, &net_wanted, 0, 0, NULL, ARG_BOOT, "use a network card, if there is one"},
    {"net.device", ARG_CHOICE, &net_device, 0, 0, device_choices, ARG_BOOT,
     "which card, by its name"},
    {"net.ip", ARG_ADDRESS, &net_ip, 1, 0, "dhcp", ARG_BOOT,
     "its address and the length of its network's prefix; dhcp: a server tells"},
    {"net.gateway", ARG_ADDRESS, &net_gateway, 0, 0, "none", ARG_BOOT,
     "with net.ip: the host that leads out of its network"},
    {"net.device1", ARG_CHOICE, &net_device1, 0, 0, device1_choices, ARG_BOOT,
     "with net.ip1: which card is the second; next: the first that net.device is not"},
    {"net.ip1", ARG_ADDRESS, &net_ip1, 1, 0, "none", ARG_BOOT,
     "the second card's address and the length of its network's prefix; none: it is left alone"},
    {"net.dns", ARG_HOSTS, &net_dns, 0, 0, "dhcp", ARG_BOOT,
     "servers that know names, for /etc/resolv.conf; dhcp: a server tells"},
    {"net.fragments", ARG_BOOL, &net_fragments, 0, 0, NULL, ARG_BOOT,
     "take parts of packets that were cut on their way, and join them"},
    {"net.fusion", ARG_BOOL, &net_fusion, 0, 0, NULL, ARG_BOOT,
     "connections within this machine: pass data on without packets"},
    {"net.instances", ARG_U64, &net_instances, 0, NET_INSTANCES_MAX, NULL, ARG_BOOT,
     "instances of lwIP, each with a lock of its own; 0: one for each chip, at most 8"},
    {"net.memory", ARG_BYTES, &net_memory, 0, 64 * GIB, NULL, ARG_BOOT,
     "memory that the network has at most; 0: an eighth of all"},
    {0},
};

static struct net_card cards[NET_CARDS];
static unsigned card_count;    /* written at boot */
static uint32_t dhcp_names[2]; /* [A] servers that a DHCP server has named; 0: none */

/* ---- Servers that know names ----------------------------------------------------------------- */

void lwip_dhcp_option(unsigned option, unsigned bytes, const struct pbuf *p, unsigned at)
{
    uint32_t address[ARRAY_SIZE(dhcp_names)] = {0};

    if (option != NAME_SERVERS || !bytes || bytes % sizeof(address[0]))
        return;
    pbuf_copy_partial(p, address, (u16_t)MIN(bytes, (unsigned)sizeof(address)), (u16_t)at);
    for (unsigned i = 0; i < ARRAY_SIZE(dhcp_names); i++)
        __atomic_store_n(&dhcp_names[i], address[i], __ATOMIC_RELAXED);
}

unsigned net_name_servers(uint32_t out[2])
{
    unsigned n = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(dhcp_names); i++) {
        uint32_t address = net_dns ? __builtin_bswap32((uint32_t)(net_dns >> 32 * i))
                                   : __atomic_load_n(&dhcp_names[i], __ATOMIC_RELAXED);
        if (address)
            out[n++] = address;
    }
    return n;
}

bool net_by_dhcp(void)
{
    return card_count && !net_ip;
}

/* ---- Where packets go ------------------------------------------------------------------------ */

static uint32_t own_ip(const struct net_card *c)
{
    return netif_ip4_addr(&c->netif)->addr;
}

bool net_is_own(uint32_t ip)
{
    if (ip4_addr_isloopback(&(ip4_addr_t){ip}))
        return true;
    for (unsigned i = 0; i < card_count; i++)
        if (own_ip(&cards[i]) == ip)
            return true;
    return false;
}

/* Returns the first card with this address, or in whose network it is; else the first of all. */
static const struct net_card *card_for(uint32_t ip)
{
    for (unsigned i = 0; i < card_count; i++)
        if (own_ip(&cards[i]) == ip)
            return &cards[i];
    for (unsigned i = 0; i < card_count; i++)
        if (!((own_ip(&cards[i]) ^ ip) & netif_ip4_netmask(&cards[i].netif)->addr))
            return &cards[i];
    return &cards[0];
}

const struct net_instance *net_instance_for(uint32_t ip)
{
    return ip && card_count ? card_for(ip)->home : net_instance(0);
}

/* ---- Starting -------------------------------------------------------------------------------- */

static const char *name_of(const char *const *choices, uint64_t choice)
{
    return choice ? choices[choice] : NULL;
}

/* Returns the device of that name, or the first that is not `other`; or NULL. */
static struct net_device *find_device(const char *name, const struct net_device *other)
{
    struct net_device *d = name ? net_find(name) : net_first();

    return d && d == other ? (name ? NULL : d->next) : d;
}

/* Returns what is wrong with the arguments together, or NULL. */
static const char *check_arguments(void)
{
    if (net_gateway && !net_ip)
        return "net.gateway goes with net.ip=A.B.C.D/N";
    if (net_gateway && (((uint32_t)net_gateway ^ (uint32_t)net_ip) & ipv4_mask(net_ip)))
        return "net.gateway is not in the network of net.ip";
    if (net_device1 && !net_ip1)
        return "net.device1 goes with net.ip1=A.B.C.D/N";
    if (net_ip1 && (uint32_t)net_ip1 == (uint32_t)net_ip)
        return "net.ip1 is the address of net.ip: each card has one of its own";
    return NULL;
}

static void report(struct net_card *c)
{
    const uint8_t *mac = c->device->mac;
    char ip[IPV4_TEXT_MAX], gateway[IPV4_TEXT_MAX];
    struct net_interface i;

    c->home->read_card(c, &i);
    uint64_t own = __builtin_bswap32(i.ip), out = __builtin_bswap32(i.gateway);
    own |= (uint64_t)__builtin_popcount(i.mask) << IPV4_PREFIX_SHIFT;
    if (i.ip)
        kprintf("net: device=%s mac=%02x:%02x:%02x:%02x:%02x:%02x ip=%s by=%s gateway=%s "
                "instances=%u\n",
                c->device->name, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5],
                ipv4_format(own, ip), c->ip ? "argument" : "dhcp",
                out ? ipv4_format(out, gateway) : "none", net_instance_count());
    else
        kprintf("net: device=%s event=waiting by=dhcp: no server has answered for %u s; programs "
                "begin without an address\n",
                c->device->name, (unsigned)(DHCP_WAIT_NS / NS_PER_S));
}

/* Waits until there are a link and an address, or too long. */
static void wait_for_address(struct net_card *c)
{
    uint64_t deadline_ns = arch_clock_ns() + (c->ip ? LINK_WAIT_NS : DHCP_WAIT_NS);
    struct net_interface i;

    for (c->home->read_card(c, &i); !(i.ip && i.running) && arch_clock_ns() < deadline_ns;
         c->home->read_card(c, &i))
        sched_sleep_until(arch_clock_ns() + DHCP_LOOK_NS);
}

/* Makes a card an interface. Card k belongs to instance k modulo their number. */
static void start_card(struct net_device *d, uint64_t ip, uint64_t gateway)
{
    struct net_card *c = &cards[card_count];

    c->device = d;
    c->home = net_instance(card_count % net_instance_count());
    c->ip = ip;
    c->gateway = gateway;
    spin_init(&c->tx, LOCK_THREAD, "network sends");
    int err = net_start();
    if (!err)
        err = c->home->add_card(c);
    if (err == -ENOMEM) {
        kprintf("net: event=refused reason=memory: no memory for the network\n");
        return;
    }
    __atomic_store_n(&card_count, card_count + 1, __ATOMIC_RELEASE);
    if (err) {
        kprintf("net: device=%s event=refused reason=open: it does not start\n", d->name);
        return;
    }
    wait_for_address(c);
    report(c);
}

/* Says that a card which an argument names, or needs, is not there. */
static void say_missing(const char *name, const char *what)
{
    kprintf("net: event=refused reason=device: there is no %s%s\n", what, name ? name : "");
}

void net_interface_start(void)
{
    const char *wrong = check_arguments();
    const char *name = name_of(device_choices, net_device);
    const char *name1 = name_of(device1_choices, net_device1);
    struct net_device *first = find_device(name, NULL), *second = find_device(name1, first);

    if (wrong)
        kprintf("net: event=refused reason=arguments: %s\n", wrong);
    else if (net_wanted && net_device && !first)
        say_missing(name, "card ");
    else if (net_wanted && net_ip1 && !second)
        say_missing(name1, name1 ? "second card " : "second card");
    if (wrong || !net_wanted || !first)
        return;
    start_card(first, net_ip, net_gateway);
    if (net_ip1 && second && card_count)
        start_card(second, net_ip1, 0);
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

static void read_card(unsigned number, struct net_interface *out)
{
    static const char *const names[NET_CARDS] = {"eth0", "eth1"};
    struct net_card *c = &cards[number];
    struct net_stats s;

    net_read_stats(c->device, &s);
    *out = (struct net_interface){.name = names[number],
                                  .mtu = c->netif.mtu,
                                  .received = s.received,
                                  .received_bytes = s.received_bytes,
                                  .received_bad = s.malformed,
                                  .received_dropped = s.no_buffer + s.missed,
                                  .sent = s.sent,
                                  .sent_bytes = s.sent_bytes,
                                  .sent_dropped =
                                      s.given_up + __atomic_load_n(&c->no_room, __ATOMIC_RELAXED)};
    memcpy(out->mac, c->device->mac, NET_MAC_BYTES);
    for (unsigned v = FRAME_ACCEPTED + 1; v < FRAME_VERDICTS; v++)
        out->received_dropped += __atomic_load_n(&c->frames[v], __ATOMIC_RELAXED);
    c->home->read_card(c, out);
}

bool net_interface(unsigned index, struct net_interface *out)
{
    if (index > __atomic_load_n(&card_count, __ATOMIC_ACQUIRE))
        return false;
    if (index)
        read_card(index - 1, out);
    else
        read_loopback(out);
    return true;
}

static uint64_t dropped(unsigned verdict)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < card_count; i++)
        n += __atomic_load_n(&cards[i].frames[verdict], __ATOMIC_RELAXED);
    return n;
}

void net_interface_drops(void (*tell)(void *to, const char *reason, uint64_t frames), void *to)
{
    uint64_t no_room = 0;

    for (unsigned v = FRAME_ACCEPTED + 1; v < FRAME_VERDICTS; v++)
        tell(to, net_verdicts[v], dropped(v));
    for (unsigned i = 0; i < card_count; i++)
        no_room += __atomic_load_n(&cards[i].no_room, __ATOMIC_RELAXED);
    tell(to, "no-room", no_room);
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
