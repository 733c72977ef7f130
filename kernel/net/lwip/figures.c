/* What an instance counts, and connections that no socket has any more; see instance.h. */
#include "kernel/net/lwip/instance.h"
#include "kernel/net/lwip/interface.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/stats.h"

/* ---- Connections ----------------------------------------------------------------------------- */

static const uint8_t states[] = {
    [CLOSED] = NET_CLOSE,         [LISTEN] = NET_LISTEN,           [SYN_SENT] = NET_SYN_SENT,
    [SYN_RCVD] = NET_SYN_RECV,    [ESTABLISHED] = NET_ESTABLISHED, [FIN_WAIT_1] = NET_FIN_WAIT1,
    [FIN_WAIT_2] = NET_FIN_WAIT2, [CLOSE_WAIT] = NET_CLOSE_WAIT,   [CLOSING] = NET_CLOSING,
    [LAST_ACK] = NET_LAST_ACK,    [TIME_WAIT] = NET_TIME_WAIT,
};

/* Stores those of a list; `n` were found before. Returns how many were found with these. */
static unsigned take_ends(const struct tcp_pcb *pcb, struct net_end *out, unsigned room, unsigned n)
{
    for (; pcb; pcb = pcb->next) {
        if (pcb->callback_arg && pcb->state != SYN_RCVD)
            continue;
        if (n < room)
            out[n] = (struct net_end){
                .own = {ip_2_ip4(&pcb->local_ip)->addr, pcb->local_port},
                .peer = {ip_2_ip4(&pcb->remote_ip)->addr, pcb->remote_port},
                .state = states[pcb->state],
                .to_send = pcb->snd_lbb - pcb->lastack,
            };
        n++;
    }
    return n;
}

unsigned net_instance_ends(struct net_end *out, unsigned room)
{
    bool irq = net_lock();
    unsigned n = take_ends(tcp_tw_pcbs, out, room, take_ends(tcp_active_pcbs, out, room, 0));

    net_unlock(irq);
    return n;
}

/* ---- Figures --------------------------------------------------------------------------------- */

static const struct {
    const char *group, *name;
    const u32_t *at;
} figures[] = {
    {"Ip", "InReceives", &lwip_stats.mib2.ipinreceives},
    {"Ip", "InHdrErrors", &lwip_stats.mib2.ipinhdrerrors},
    {"Ip", "InAddrErrors", &lwip_stats.mib2.ipinaddrerrors},
    {"Ip", "InUnknownProtos", &lwip_stats.mib2.ipinunknownprotos},
    {"Ip", "InDiscards", &lwip_stats.mib2.ipindiscards},
    {"Ip", "InDelivers", &lwip_stats.mib2.ipindelivers},
    {"Ip", "OutRequests", &lwip_stats.mib2.ipoutrequests},
    {"Ip", "OutDiscards", &lwip_stats.mib2.ipoutdiscards},
    {"Ip", "OutNoRoutes", &lwip_stats.mib2.ipoutnoroutes},
    {"Ip", "ReasmReqds", &lwip_stats.mib2.ipreasmreqds},
    {"Ip", "ReasmOKs", &lwip_stats.mib2.ipreasmoks},
    {"Ip", "ReasmFails", &lwip_stats.mib2.ipreasmfails},
    {"Icmp", "InMsgs", &lwip_stats.mib2.icmpinmsgs},
    {"Icmp", "InErrors", &lwip_stats.mib2.icmpinerrors},
    {"Icmp", "InDestUnreachs", &lwip_stats.mib2.icmpindestunreachs},
    {"Icmp", "InEchos", &lwip_stats.mib2.icmpinechos},
    {"Icmp", "OutMsgs", &lwip_stats.mib2.icmpoutmsgs},
    {"Icmp", "OutDestUnreachs", &lwip_stats.mib2.icmpoutdestunreachs},
    {"Icmp", "OutEchoReps", &lwip_stats.mib2.icmpoutechoreps},
    {"Tcp", "ActiveOpens", &lwip_stats.mib2.tcpactiveopens},
    {"Tcp", "PassiveOpens", &lwip_stats.mib2.tcppassiveopens},
    {"Tcp", "AttemptFails", &lwip_stats.mib2.tcpattemptfails},
    {"Tcp", "InSegs", &lwip_stats.mib2.tcpinsegs},
    {"Tcp", "OutSegs", &lwip_stats.mib2.tcpoutsegs},
    {"Tcp", "RetransSegs", &lwip_stats.mib2.tcpretranssegs},
    {"Tcp", "InErrs", &lwip_stats.mib2.tcpinerrs},
    {"Tcp", "OutRsts", &lwip_stats.mib2.tcpoutrsts},
    {"Udp", "InDatagrams", &lwip_stats.mib2.udpindatagrams},
    {"Udp", "NoPorts", &lwip_stats.mib2.udpnoports},
    {"Udp", "InErrors", &lwip_stats.mib2.udpinerrors},
    {"Udp", "OutDatagrams", &lwip_stats.mib2.udpoutdatagrams},
};

bool net_instance_figure(unsigned index, struct net_figure *out)
{
    if (index >= ARRAY_SIZE(figures))
        return false;
    *out = (struct net_figure){figures[index].group, figures[index].name,
                               __atomic_load_n(figures[index].at, __ATOMIC_RELAXED)};
    return true;
}

void net_instance_loopback(struct net_interface *out)
{
    bool irq = net_lock();
    const struct netif *n = netif_find("lo0");

    if (n) {
        const struct stats_mib2_netif_ctrs *c = &n->mib2_counters;
        out->received += c->ifinucastpkts + c->ifinnucastpkts;
        out->received_bytes += c->ifinoctets;
        out->received_dropped += c->ifindiscards;
        out->sent += c->ifoutucastpkts + c->ifoutnucastpkts;
        out->sent_bytes += c->ifoutoctets;
        out->sent_dropped += c->ifoutdiscards;
    }
    net_unlock(irq);
}
