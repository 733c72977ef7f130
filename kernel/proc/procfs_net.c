/* Files of /proc/net, in the form of Linux: tables of sockets and interfaces, figures of lwIP. */
#include "kernel/core/printf.h"
#include "kernel/lib/ipv4.h"
#include "kernel/mem/mem.h"
#include "kernel/net/lwip/fusion.h"
#include "kernel/net/lwip/instance.h"
#include "kernel/net/lwip/interface.h"
#include "kernel/net/socket/inet.h"
#include "kernel/net/socket/unix.h"
#include "kernel/proc/procfs.h"
#include <linux/in.h>
#include <linux/net.h>

enum {
    TCP_WIDTH = 149, /* of a row, without its newline */
    UDP_WIDTH = 127,
    ROUTE_WIDTH = 127,
    ENDS_MAX = 16384, /* connections without a socket that are shown */
};

/* ---- TCP and UDP ----------------------------------------------------------------------------- */

static void print_tcp(struct pseudo_text *t, unsigned row, const struct inet_state *s, uint64_t id)
{
    char line[TCP_WIDTH + 1];

    ksnprintf(line, sizeof(line),
              "%4u: %08X:%04X %08X:%04X %02X %08X:%08X 00:00000000 00000000 %5u %8d %llu 1 "
              "%016llx 100 0 0 10 0",
              row, s->own.ip, s->own.port, s->peer.ip, s->peer.port, s->state, (unsigned)s->to_send,
              (unsigned)s->to_read, 0, 0, (unsigned long long)id, (unsigned long long)id);
    pseudo_print(t, "%-*s\n", TCP_WIDTH, line);
}

static unsigned print_tcp_sockets(struct pseudo_text *t)
{
    struct inet_state state;
    unsigned row = 0;

    for (struct socket *s = socket_next(NULL); s; s = socket_next(s)) {
        if (s->family != &inet_family || s->type != SOCK_STREAM)
            continue;
        inet_state(s, &state);
        if (state.state == NET_LISTEN) /* its backlog is that of `ss` alone */
            state.to_send = 0;
        if (state.state != NET_CLOSE)
            print_tcp(t, row++, &state, s->v.id);
    }
    return row;
}

static void print_ends(struct pseudo_text *t, unsigned row)
{
    unsigned room = MIN(net_ends(NULL, 0), (unsigned)ENDS_MAX);
    struct net_end *ends = room ? kmalloc(room * sizeof(*ends)) : NULL;

    for (unsigned i = 0, n = ends ? MIN(net_ends(ends, room), room) : 0; i < n; i++) {
        const struct inet_state state = {.own = ends[i].own,
                                         .peer = ends[i].peer,
                                         .state = ends[i].state,
                                         .to_send = ends[i].to_send};
        print_tcp(t, row + i, &state, 0);
    }
    kfree(ends);
}

void procfs_net_tcp(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "%-*s\n", TCP_WIDTH,
                 "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   "
                 "uid  timeout inode");
    print_ends(t, print_tcp_sockets(t));
}

void procfs_net_udp(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    char line[UDP_WIDTH + 1];
    struct inet_state state;

    pseudo_print(t, "%-*s\n", UDP_WIDTH,
                 "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   "
                 "uid  timeout inode ref pointer drops");
    for (struct socket *s = socket_next(NULL); s; s = socket_next(s)) {
        if (s->family != &inet_family || s->type != SOCK_DGRAM)
            continue;
        inet_state(s, &state);
        if (!state.own.port)
            continue;
        ksnprintf(line, sizeof(line),
                  "%5u: %08X:%04X %08X:%04X %02X %08X:%08X 00:00000000 00000000 %5u %8d %llu 2 "
                  "%016llx %llu",
                  state.own.port, state.own.ip, state.own.port, state.peer.ip, state.peer.port,
                  state.state, 0u, (unsigned)state.to_read, 0, 0, (unsigned long long)s->v.id,
                  (unsigned long long)s->v.id, (unsigned long long)state.dropped);
        pseudo_print(t, "%-*s\n", UDP_WIDTH, line);
    }
}

/* ---- AF_UNIX --------------------------------------------------------------------------------- */

/* Prints an address: a path, or an abstract name with '@' for its NULs. */
static void print_name(struct pseudo_text *t, const struct socket_address *a)
{
    const char *path = (const char *)&a->is + offsetof(struct sockaddr_un, sun_path);
    size_t n = a->bytes - offsetof(struct sockaddr_un, sun_path);

    pseudo_put(t, " ", 1);
    for (size_t i = 0; i < n && (path[i] || !path[0]); i++)
        pseudo_put(t, path[i] ? &path[i] : "@", 1);
}

static void print_unix(struct pseudo_text *t, struct socket *s)
{
    struct unix_socket *u = unix_of(s);
    struct socket_address name;
    bool irq = spin_lock(&s->lock);
    bool joined = u->state == UNIX_CONNECTED, listens = u->state == UNIX_LISTENS, dead = u->dead;

    spin_unlock(&s->lock, irq);
    if (dead)
        return;
    pseudo_print(t, "%016llx: %08X %08X %08X %04X %02X %5llu", (unsigned long long)s->v.id, 2u, 0u,
                 listens ? (unsigned)__SO_ACCEPTCON : 0u, (unsigned)s->type,
                 joined ? (unsigned)SS_CONNECTED : (unsigned)SS_UNCONNECTED,
                 (unsigned long long)s->v.id);
    unix_put_address(u, &name, true);
    if (name.bytes > offsetof(struct sockaddr_un, sun_path))
        print_name(t, &name);
    pseudo_put(t, "\n", 1);
}

void procfs_net_unix(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "Num       RefCount Protocol Flags    Type St Inode Path\n");
    for (struct socket *s = socket_next(NULL); s; s = socket_next(s))
        if (s->family == &unix_family)
            print_unix(t, s);
}

/* ---- Interfaces ------------------------------------------------------------------------------ */

void procfs_net_dev(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct net_interface i;

    pseudo_print(t, "Inter-|   Receive                                                |  Transmit\n"
                    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    "
                    "packets errs drop fifo colls carrier compressed\n");
    for (unsigned at = 0; net_interface(at, &i); at++)
        pseudo_print(
            t,
            "%6s: %7llu %7llu %4llu %4llu    0     0          0         0 %8llu %7llu    0 "
            "%4llu    0     0       0          0\n",
            i.name, (unsigned long long)i.received_bytes, (unsigned long long)i.received,
            (unsigned long long)i.received_bad, (unsigned long long)i.received_dropped,
            (unsigned long long)i.sent_bytes, (unsigned long long)i.sent,
            (unsigned long long)i.sent_dropped);
}

static void print_route(struct pseudo_text *t, const struct net_interface *i, uint32_t to,
                        uint32_t by, uint32_t mask)
{
    enum { UP = 1, GATEWAY = 2 };
    char line[ROUTE_WIDTH + 1];

    ksnprintf(line, sizeof(line), "%s\t%08X\t%08X\t%04X\t0\t0\t0\t%08X\t0\t0\t0", i->name, to, by,
              by ? UP | GATEWAY : UP, mask);
    pseudo_print(t, "%-*s\n", ROUTE_WIDTH, line);
}

void procfs_net_route(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct net_interface i;

    pseudo_print(
        t, "%-*s\n", ROUTE_WIDTH,
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT");
    for (unsigned at = 0; net_interface(at, &i); at++) {
        if (i.loopback || !i.ip)
            continue;
        if (i.gateway)
            print_route(t, &i, 0, i.gateway, 0);
        print_route(t, &i, i.ip & i.mask, 0, i.mask);
    }
}

void procfs_net_pnp(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    uint32_t server[2];
    unsigned servers = net_name_servers(server);

    pseudo_print(t, "#PROTO: %s\n", net_by_dhcp() ? "DHCP" : "MANUAL");
    for (unsigned i = 0; i < servers; i++)
        pseudo_print(t, "nameserver %s\n",
                     ipv4_format(__builtin_bswap32(server[i]), (char[IPV4_TEXT_MAX]){0}));
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* A group's names, then its figures, in a line each. */
void procfs_net_snmp(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    struct net_figure f, other;

    for (unsigned first = 0, at; net_figure(first, &f); first = at) {
        pseudo_print(t, "%s:", f.group);
        for (at = first; net_figure(at, &other) && other.group == f.group; at++)
            pseudo_print(t, " %s", other.name);
        pseudo_print(t, "\n%s:", f.group);
        for (at = first; net_figure(at, &other) && other.group == f.group; at++)
            pseudo_print(t, " %llu", (unsigned long long)other.n);
        pseudo_put(t, "\n", 1);
    }
}

void procfs_net_sockstat(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    unsigned used = 0, tcp = 0, tcp_all = 0, udp = 0, waits = 0, orphans = 0;
    unsigned room = MIN(net_ends(NULL, 0), (unsigned)ENDS_MAX);
    struct net_end *ends = room ? kmalloc(room * sizeof(*ends)) : NULL;
    struct inet_state state;

    for (unsigned i = 0, all = ends ? MIN(net_ends(ends, room), room) : 0; i < all; i++)
        *(ends[i].state == NET_TIME_WAIT ? &waits : &orphans) += 1;
    kfree(ends);
    for (struct socket *s = socket_next(NULL); s; s = socket_next(s)) {
        used++;
        if (s->family != &inet_family)
            continue;
        inet_state(s, &state);
        if (s->type == SOCK_STREAM) {
            tcp += state.state != NET_CLOSE;
            tcp_all++;
        } else {
            udp += state.own.port != 0;
        }
    }
    pseudo_print(t,
                 "sockets: used %u\nTCP: inuse %u orphan %u tw %u alloc %u mem %llu\n"
                 "UDP: inuse %u mem 0\nUDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n",
                 used, tcp, orphans, waits, tcp_all,
                 (unsigned long long)(net_memory_used() / PAGE_SIZE), udp);
}

static void print_drop(void *to, const char *reason, uint64_t frames)
{
    pseudo_print(to, "drop %s %llu\n", reason, (unsigned long long)frames);
}

void procfs_net_vigil(struct pseudo_text *t, UNUSED const uint32_t *n)
{
    pseudo_print(t, "memory used %llu\nmemory limit %llu\nmemory refused %llu\nfused %llu\n",
                 (unsigned long long)net_memory_used(), (unsigned long long)net_memory_limit(),
                 (unsigned long long)net_memory_refused(), (unsigned long long)net_fused_count());
    net_interface_drops(print_drop, t);
}
