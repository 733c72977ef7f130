/* Ports of UDP: which has sent what was refused, which of several gets what comes. Linked once for
 * each instance. */
#include "kernel/net/lwip/datagram.h"
#include "lwip/icmp.h"
#include "lwip/ip4.h"
#include "lwip/udp.h"

/* Returns the port that has sent a datagram, or NULL: the one with that peer, or one without. */
static struct udp_pcb *find_sender(const struct ip_hdr *ip, const struct udp_hdr *udp)
{
    struct udp_pcb *found = NULL;

    for (struct udp_pcb *pcb = udp_pcbs; pcb; pcb = pcb->next) {
        const ip4_addr_t *own = ip_2_ip4(&pcb->local_ip), *peer = ip_2_ip4(&pcb->remote_ip);
        if (pcb->local_port != lwip_ntohs(udp->src) ||
            (!ip4_addr_isany(own) && own->addr != ip->src.addr))
            continue;
        if (!(pcb->flags & UDP_FLAGS_CONNECTED))
            found = pcb;
        else if (pcb->remote_port == lwip_ntohs(udp->dest) && peer->addr == ip->dest.addr)
            return pcb;
    }
    return found;
}

static bool shares(const struct udp_pcb *a, const struct udp_pcb *b)
{
    return a->so_options & b->so_options & SOF_REUSEPORT && a->local_port == b->local_port &&
           ip_addr_eq(&a->local_ip, &b->local_ip) && !(b->flags & UDP_FLAGS_CONNECTED);
}

struct udp_pcb *udp_receiver_of(struct udp_pcb *pcb, unsigned ip, unsigned port)
{
    uint32_t spread = (ip ^ port << 16) * 0x9e3779b1u; /* its high bits are of all */
    uint64_t n = 0;

    if (!pcb || !ip_get_option(pcb, SOF_REUSEPORT))
        return pcb;
    for (const struct udp_pcb *other = udp_pcbs; other; other = other->next)
        n += shares(pcb, other);
    unsigned chosen = (unsigned)(spread * n >> 32);
    for (struct udp_pcb *other = udp_pcbs; other; other = other->next)
        if (shares(pcb, other) && !chosen--)
            return other;
    return pcb;
}

void lwip_refused(const struct pbuf *p)
{
    const u16_t head = sizeof(struct icmp_hdr);
    struct ip_hdr ip;
    struct udp_hdr udp;

    if (pbuf_copy_partial(p, &ip, sizeof(ip), head) != sizeof(ip) || ip._proto != IP_PROTO_UDP ||
        pbuf_copy_partial(p, &udp, sizeof(udp), (u16_t)(head + IPH_HL_BYTES(&ip))) != sizeof(udp))
        return;
    struct udp_pcb *sender = find_sender(&ip, &udp);
    if (sender)
        net_port_refused(sender);
}
