/*
 * See frame.h. RFC 791 (IPv4), 792 (ICMP), 768 (UDP), 9293 (TCP), 826 (ARP), 1122 3.2.1.3
 * (addresses), 3128 (fragments that split TCP's header).
 */
#include "frame.h"
#include "kernel/dev/net/net_device.h"

enum { TYPE_IPV4 = 0x0800, TYPE_ARP = 0x0806 };
enum { PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };
enum { OPTION_END, OPTION_NOTHING, OPTION_LOOSE_ROUTE = 131, OPTION_STRICT_ROUTE = 137 };
enum { ARP_BYTES = 28, IP_BYTES = 20, TCP_BYTES = 20, UDP_BYTES = 8, ICMP_BYTES = 8 };
#define MORE_FRAGMENTS 0x2000
#define OFFSET         0x1fff /* in units of 8 bytes */
#define IP_MAX         65535

const char *const net_verdicts[FRAME_VERDICTS] = {
    [FRAME_ACCEPTED] = "accepted",
    [FRAME_SHORT] = "short",
    [FRAME_TYPE] = "type",
    [FRAME_MAC] = "sender-mac",
    [FRAME_ARP_SHORT] = "arp-short",
    [FRAME_ARP_KIND] = "arp-kind",
    [FRAME_ARP_SENDER] = "arp-sender",
    [FRAME_IP_SHORT] = "ip-short",
    [FRAME_VERSION] = "ip-version",
    [FRAME_IP_HEADER] = "ip-header",
    [FRAME_IP_LENGTH] = "ip-length",
    [FRAME_OPTIONS] = "ip-options",
    [FRAME_ROUTE] = "source-route",
    [FRAME_SOURCE] = "ip-source",
    [FRAME_TARGET] = "ip-target",
    [FRAME_FRAGMENT] = "fragment",
    [FRAME_PIECE] = "fragment-place",
    [FRAME_TCP] = "tcp-header",
    [FRAME_TCP_OPTIONS] = "tcp-options",
    [FRAME_TCP_GROUP] = "tcp-to-group",
    [FRAME_UDP] = "udp-length",
    [FRAME_ICMP] = "icmp-short",
    [FRAME_SPLIT] = "split-header",
};

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static bool is_zero(const uint8_t *address)
{
    return !(address[0] | address[1] | address[2] | address[3]);
}

/* Classes D and E, 255.255.255.255 among them, belong to no host. */
static bool is_group(const uint8_t *address)
{
    return address[0] >= 224;
}

static bool is_loopback(const uint8_t *address)
{
    return address[0] == 127;
}

static enum net_verdict check_arp(const uint8_t *arp, size_t here, size_t bytes)
{
    static const uint8_t kind[6] = {0, 1, 8, 0, NET_MAC_BYTES, 4};
    const uint8_t *mac = arp + 8, *address = mac + NET_MAC_BYTES;

    if (bytes < ARP_BYTES)
        return FRAME_ARP_SHORT;
    if (here < ARP_BYTES)
        return FRAME_SPLIT;
    if (memcmp(arp, kind, sizeof(kind)))
        return FRAME_ARP_KIND;
    /* An address of zero asks whether the target is taken (RFC 5227). */
    if (mac[0] & 1 || is_group(address) || is_loopback(address))
        return FRAME_ARP_SENDER;
    return FRAME_ACCEPTED;
}

/* Walks the options of IPv4 or TCP, which have the same form. Returns whether lengths are right,
 * and whether a source route is among them, if they are IPv4's. */
static bool options_are_right(const uint8_t *option, size_t bytes, bool *routed)
{
    *routed = false;
    for (size_t at = 0; at < bytes && option[at] != OPTION_END;) {
        if (option[at] == OPTION_NOTHING) {
            at++;
            continue;
        }
        if (bytes - at < 2 || option[at + 1] < 2 || option[at + 1] > bytes - at)
            return false;
        *routed |= option[at] == OPTION_LOOSE_ROUTE || option[at] == OPTION_STRICT_ROUTE;
        at += option[at + 1];
    }
    return true;
}

static enum net_verdict check_options(const uint8_t *option, size_t bytes)
{
    bool routed;

    if (!options_are_right(option, bytes, &routed))
        return FRAME_OPTIONS;
    return routed ? FRAME_ROUTE : FRAME_ACCEPTED;
}

/* Checks a packet's place among fragments; `bytes` follow its IPv4 header. */
static enum net_verdict check_place(unsigned place, unsigned protocol, size_t header, size_t bytes,
                                    bool fragments)
{
    size_t offset = (size_t)(place & OFFSET) * 8;

    if (!(place & (MORE_FRAGMENTS | OFFSET)))
        return FRAME_ACCEPTED;
    if (!fragments)
        return FRAME_FRAGMENT;
    if (!bytes || header + offset + bytes > IP_MAX)
        return FRAME_PIECE;
    if (offset && offset < TCP_BYTES && protocol == PROTOCOL_TCP)
        return FRAME_PIECE;
    return FRAME_ACCEPTED;
}

/* Checks a TCP segment of `bytes` bytes, or the first of its fragments. */
static enum net_verdict check_tcp(const uint8_t *tcp, size_t here, size_t bytes)
{
    size_t header;
    bool routed;

    if (bytes < TCP_BYTES)
        return FRAME_TCP;
    if (here < TCP_BYTES)
        return FRAME_SPLIT;
    header = (size_t)(tcp[12] >> 4) * 4;
    if (header < TCP_BYTES || header > bytes)
        return FRAME_TCP;
    if (here < header)
        return FRAME_SPLIT;
    /* lwIP looks for the length of an option beyond the header if its kind is the last byte. */
    return options_are_right(tcp + TCP_BYTES, header - TCP_BYTES, &routed) ? FRAME_ACCEPTED
                                                                           : FRAME_TCP_OPTIONS;
}

/* Checks a UDP datagram of `bytes` bytes, or the first of its fragments: `more`. */
static enum net_verdict check_udp(const uint8_t *udp, size_t here, size_t bytes, bool more)
{
    unsigned length;

    if (bytes < UDP_BYTES)
        return FRAME_UDP;
    if (here < UDP_BYTES)
        return FRAME_SPLIT;
    length = get16(udp + 4);
    return length < UDP_BYTES || (length > bytes && !more) ? FRAME_UDP : FRAME_ACCEPTED;
}

/* Checks what follows IPv4's header: of `bytes` bytes, and with padding `here` are at hand. */
static enum net_verdict check_payload(const uint8_t *ip, size_t header, size_t here, size_t bytes)
{
    const uint8_t *payload = ip + header;
    unsigned place = get16(ip + 6);

    /* lwIP looks for UDP's ports in each fragment that is not to its address (ip4_input). */
    if (place & OFFSET)
        return ip[9] == PROTOCOL_UDP && here < UDP_BYTES ? FRAME_SPLIT : FRAME_ACCEPTED;
    here = MIN(here, bytes);
    switch (ip[9]) {
    case PROTOCOL_TCP:
        return check_tcp(payload, here, bytes);
    case PROTOCOL_UDP:
        return check_udp(payload, here, bytes, place & MORE_FRAGMENTS);
    case PROTOCOL_ICMP:
        if (bytes < ICMP_BYTES)
            return FRAME_ICMP;
        return here < ICMP_BYTES ? FRAME_SPLIT : FRAME_ACCEPTED;
    default:
        return FRAME_ACCEPTED;
    }
}

static enum net_verdict check_addresses(const uint8_t *ip)
{
    const uint8_t *source = ip + 12, *target = ip + 16;

    if (is_zero(source) || is_group(source) || is_loopback(source))
        return FRAME_SOURCE;
    if (is_zero(target) || is_loopback(target))
        return FRAME_TARGET;
    return FRAME_ACCEPTED;
}

/* Checks the packet that follows Ethernet's header `ethernet`. */
static enum net_verdict check_ip(const uint8_t *ethernet, size_t here, size_t bytes, bool fragments)
{
    const uint8_t *ip = ethernet + NET_HEADER_BYTES;
    enum net_verdict verdict;
    size_t header, total;

    if (bytes < IP_BYTES)
        return FRAME_IP_SHORT;
    if (here < IP_BYTES)
        return FRAME_SPLIT;
    if (ip[0] >> 4 != 4)
        return FRAME_VERSION;
    header = (size_t)(ip[0] & 15) * 4;
    total = get16(ip + 2);
    if (header < IP_BYTES || header > total)
        return FRAME_IP_HEADER;
    if (total > bytes)
        return FRAME_IP_LENGTH;
    if (here < header)
        return FRAME_SPLIT;
    verdict = check_options(ip + IP_BYTES, header - IP_BYTES);
    if (!verdict)
        verdict = check_addresses(ip);
    if (!verdict)
        verdict = check_place(get16(ip + 6), ip[9], header, total - header, fragments);
    if (!verdict && ip[9] == PROTOCOL_TCP && (ethernet[0] & 1 || is_group(ip + 16)))
        verdict = FRAME_TCP_GROUP;
    return verdict ? verdict : check_payload(ip, header, here - header, total - header);
}

enum net_verdict net_frame_check(const uint8_t *first, size_t here, size_t bytes, bool fragments)
{
    here = MIN(here, bytes);
    if (bytes < NET_HEADER_BYTES)
        return FRAME_SHORT;
    if (here < NET_HEADER_BYTES)
        return FRAME_SPLIT;
    if (first[NET_MAC_BYTES] & 1)
        return FRAME_MAC;
    switch (get16(first + 2 * NET_MAC_BYTES)) {
    case TYPE_ARP:
        return check_arp(first + NET_HEADER_BYTES, here - NET_HEADER_BYTES,
                         bytes - NET_HEADER_BYTES);
    case TYPE_IPV4:
        return check_ip(first, here - NET_HEADER_BYTES, bytes - NET_HEADER_BYTES, fragments);
    default:
        return FRAME_TYPE;
    }
}

uint32_t net_frame_hash_ends(const struct net_ends *ends)
{
    return net_hash((const uint8_t *)ends, sizeof(*ends));
}

uint32_t net_frame_hash(const uint8_t *first)
{
    const uint8_t *ip = first + NET_HEADER_BYTES;
    struct net_ends ends;

    if (get16(first + 2 * NET_MAC_BYTES) != TYPE_IPV4)
        return 0;
    if (ip[9] != PROTOCOL_TCP || get16(ip + 6) & (MORE_FRAGMENTS | OFFSET))
        return net_hash(ip + 12, 8);
    memcpy(&ends, ip + 12, 8);
    memcpy((uint8_t *)&ends + 8, ip + (size_t)(ip[0] & 15) * 4, 4);
    return net_frame_hash_ends(&ends);
}
