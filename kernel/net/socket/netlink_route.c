/* What NETLINK_ROUTE tells of interfaces, addresses and routes, as Linux: see rtnetlink(7). */
#include "kernel/lib/text.h"
#include "kernel/net/lwip/interface.h"
#include "kernel/net/socket/netlink.h"
#include <linux/rtnetlink.h>

#define QUEUE    1000 /* frames: the length that Linux tells */
#define FOR_EVER 0xffffffffu

enum { ARPHRD_ETHER = 1, ARPHRD_LOOPBACK = 772 }; /* kinds of hardware addresses */
enum {
    UP = 1,
    BROADCAST = 2,
    LOOPBACK = 8,
    RUNNING = 0x40,
    MULTICAST = 0x1000,
    LOWER_UP = 0x10000
};
enum { OPERATION_UNKNOWN = 0, OPERATION_DOWN = 2, OPERATION_UP = 6 };

/* ---- Parts of messages ----------------------------------------------------------------------- */

static void put(struct netlink_answer *a, uint16_t type, const void *from, size_t bytes)
{
    const struct rtattr head = {(uint16_t)(sizeof(head) + bytes), type};

    memcpy(a->data + a->bytes, &head, sizeof(head));
    memcpy(a->data + a->bytes + sizeof(head), from, bytes);
    a->bytes += (uint32_t)ALIGN_UP((size_t)head.rta_len, (size_t)RTA_ALIGNTO);
}

static void put_text(struct netlink_answer *a, uint16_t type, const char *text)
{
    put(a, type, text, text_length(text) + 1);
}

static void put_word(struct netlink_answer *a, uint16_t type, uint32_t word)
{
    put(a, type, &word, sizeof(word));
}

static void put_byte(struct netlink_answer *a, uint16_t type, uint8_t byte)
{
    put(a, type, &byte, sizeof(byte));
}

static uint16_t multi(const struct netlink_request *r)
{
    return r->dumps ? NLM_F_MULTI : 0;
}

/* ---- Interfaces ------------------------------------------------------------------------------ */

static void put_statistics(struct netlink_answer *a, const struct net_interface *i)
{
    const struct rtnl_link_stats64 s = {.rx_packets = i->received,
                                        .tx_packets = i->sent,
                                        .rx_bytes = i->received_bytes,
                                        .tx_bytes = i->sent_bytes,
                                        .rx_errors = i->received_bad,
                                        .rx_dropped = i->received_dropped,
                                        .tx_dropped = i->sent_dropped};
    uint32_t words[sizeof(struct rtnl_link_stats) / sizeof(uint32_t)];

    put(a, IFLA_STATS64, &s, sizeof(s));
    for (size_t w = 0; w < ARRAY_SIZE(words); w++) /* the same members, of half the width */
        words[w] = (uint32_t)((const uint64_t *)&s)[w];
    put(a, IFLA_STATS, words, sizeof(words));
}

static void tell_link(const struct netlink_request *r, struct netlink_answer *a,
                      const struct net_interface *i, unsigned index)
{
    static const uint8_t all_ones[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, zeros[6];
    const struct ifinfomsg head = {
        .ifi_type = i->loopback ? ARPHRD_LOOPBACK : ARPHRD_ETHER,
        .ifi_index = (int)index + 1,
        .ifi_flags = (i->up ? UP : 0u) | (i->running ? (unsigned)RUNNING | LOWER_UP : 0) |
                     (i->loopback ? LOOPBACK : (unsigned)BROADCAST | MULTICAST),
    };
    uint32_t begin = netlink_begin(a, r, RTM_NEWLINK, multi(r), &head, sizeof(head));

    put_text(a, IFLA_IFNAME, i->name);
    put_word(a, IFLA_TXQLEN, QUEUE);
    put_byte(a, IFLA_OPERSTATE,
             i->loopback  ? OPERATION_UNKNOWN
             : i->running ? OPERATION_UP
                          : OPERATION_DOWN);
    put_byte(a, IFLA_LINKMODE, 0);
    put_word(a, IFLA_MTU, i->mtu);
    put_word(a, IFLA_GROUP, 0);
    put_byte(a, IFLA_CARRIER, i->running);
    put_text(a, IFLA_QDISC, i->loopback ? "noqueue" : "pfifo_fast");
    put(a, IFLA_ADDRESS, i->mac, sizeof(i->mac));
    put(a, IFLA_BROADCAST, i->loopback ? zeros : all_ones, sizeof(all_ones));
    put_statistics(a, i);
    netlink_end(a, begin);
}

/* Returns whether a request is for this interface. */
static bool asks_for(const struct netlink_request *r, const struct net_interface *i, unsigned index)
{
    if (r->dumps)
        return true;
    if (r->index)
        return r->index == index + 1;
    size_t n = text_length(i->name);
    return r->name && r->name_bytes > n && !memcmp(r->name, i->name, n + 1);
}

static int tell_links(const struct netlink_request *r, struct netlink_answer *a)
{
    struct net_interface i;

    if (r->dumps && (r->family == AF_BRIDGE || r->family == AF_INET6))
        return 0; /* they list only their own */
    for (unsigned index = 0; net_interface(index, &i); index++)
        if (asks_for(r, &i, index))
            tell_link(r, a, &i, index);
    return a->bytes || r->dumps ? 0 : -ENODEV;
}

/* ---- Addresses and routes -------------------------------------------------------------------- */

static void tell_address(const struct netlink_request *r, struct netlink_answer *a,
                         const struct net_interface *i, unsigned index)
{
    const struct ifaddrmsg head = {.ifa_family = AF_INET,
                                   .ifa_prefixlen = (uint8_t)__builtin_popcount(i->mask),
                                   .ifa_flags = IFA_F_PERMANENT,
                                   .ifa_scope = i->loopback ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
                                   .ifa_index = index + 1};
    const struct ifa_cacheinfo times = {.ifa_prefered = FOR_EVER, .ifa_valid = FOR_EVER};
    uint32_t begin = netlink_begin(a, r, RTM_NEWADDR, multi(r), &head, sizeof(head));

    put_word(a, IFA_ADDRESS, i->ip);
    put_word(a, IFA_LOCAL, i->ip);
    if (!i->loopback)
        put_word(a, IFA_BROADCAST, i->ip | ~i->mask);
    put_text(a, IFA_LABEL, i->name);
    put_word(a, IFA_FLAGS, IFA_F_PERMANENT);
    put(a, IFA_CACHEINFO, &times, sizeof(times));
    netlink_end(a, begin);
}

static void tell_route(const struct netlink_request *r, struct netlink_answer *a,
                       const struct net_interface *i, unsigned index, bool is_default)
{
    const struct rtmsg head = {
        .rtm_family = AF_INET,
        .rtm_dst_len = is_default ? 0 : (uint8_t)__builtin_popcount(i->mask),
        .rtm_table = RT_TABLE_MAIN,
        .rtm_protocol = !is_default     ? RTPROT_KERNEL
                        : net_by_dhcp() ? RTPROT_DHCP
                                        : RTPROT_BOOT,
        .rtm_scope = is_default ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
        .rtm_type = RTN_UNICAST,
    };
    uint32_t begin = netlink_begin(a, r, RTM_NEWROUTE, multi(r), &head, sizeof(head));

    put_word(a, RTA_TABLE, RT_TABLE_MAIN);
    if (is_default) {
        put_word(a, RTA_GATEWAY, i->gateway);
    } else {
        put_word(a, RTA_DST, i->ip & i->mask);
        put_word(a, RTA_PREFSRC, i->ip);
    }
    put_word(a, RTA_OIF, index + 1);
    netlink_end(a, begin);
}

static int tell_addresses(const struct netlink_request *r, struct netlink_answer *a)
{
    struct net_interface i;

    if (!r->dumps)
        return -EOPNOTSUPP;
    if (r->family && r->family != AF_INET)
        return 0;
    for (unsigned index = 0; net_interface(index, &i); index++)
        if (i.ip)
            tell_address(r, a, &i, index);
    return 0;
}

/* Those of the main table: the way out, and the networks of cards. */
static int tell_routes(const struct netlink_request *r, struct netlink_answer *a)
{
    struct net_interface i;

    if (!r->dumps)
        return -EOPNOTSUPP;
    if (r->family && r->family != AF_INET)
        return 0;
    for (unsigned index = 0; net_interface(index, &i); index++) {
        if (i.loopback || !i.ip || !i.up)
            continue;
        if (i.gateway)
            tell_route(r, a, &i, index, true);
        tell_route(r, a, &i, index, false);
    }
    return 0;
}

int netlink_route(const struct netlink_request *r, struct netlink_answer *a)
{
    switch (r->type) {
    case RTM_GETLINK:
        return tell_links(r, a);
    case RTM_GETADDR:
        return tell_addresses(r, a);
    case RTM_GETROUTE:
        return tell_routes(r, a);
    default:
        return -EOPNOTSUPP;
    }
}
