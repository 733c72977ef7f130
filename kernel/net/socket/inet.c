/* Sockets of AF_INET: the family, addresses; see inet.h. */
#include "kernel/net/socket/inet.h"
#include "kernel/arch/arch.h"
#include <asm/ioctls.h>
#include <linux/in.h>
#include <linux/sockios.h>

/* ---- Addresses ------------------------------------------------------------------------------- */

int inet_take_address(const struct socket_address *a, struct net_address *out)
{
    struct sockaddr_in in;

    if (a->bytes < sizeof(in))
        return -EINVAL;
    memcpy(&in, &a->is, sizeof(in));
    if (in.sin_family != AF_INET)
        return -EAFNOSUPPORT;
    *out = (struct net_address){in.sin_addr.s_addr, __builtin_bswap16(in.sin_port)};
    return 0;
}

void inet_put_address(const struct net_address *a, struct socket_address *out)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = __builtin_bswap16(a->port), .sin_addr.s_addr = a->ip};

    memcpy(&out->is, &in, sizeof(in));
    out->bytes = sizeof(in);
}

static bool is_multicast(uint32_t ip)
{
    return (ip & __builtin_bswap32(0xf0000000u)) == __builtin_bswap32(0xe0000000u);
}

int inet_bind(struct socket *s, const struct socket_address *at,
              UNUSED const struct socket_caller *by)
{
    struct inet_socket *n = inet_of(s);
    struct net_address a;
    int err = inet_take_address(at, &a);

    /* AF_UNSPEC and any address is an old way to say AF_INET. */
    if (err == -EAFNOSUPPORT && at->is.ss_family == AF_UNSPEC && !a.ip)
        err = 0;
    if (err)
        return err;
    if (a.ip && a.ip != INADDR_NONE && !is_multicast(a.ip) && !net_is_own(a.ip))
        return -EADDRNOTAVAIL;
    inet_apply_options(s, 0);
    mutex_lock(&n->sending);
    err = s->type == SOCK_STREAM ? net_stream_bind(&n->stream, &a) : net_port_bind(&n->port, &a);
    mutex_unlock(&n->sending);
    return err;
}

/* ---- ioctl ----------------------------------------------------------------------------------- */

static int64_t count_stream(const struct inet_socket *n, uint32_t request)
{
    const struct net_stream *t = &n->stream;

    if (t->state == STREAM_LISTENS)
        return -EINVAL;
    return request == SIOCINQ ? (int64_t)t->queued : request == SIOCOUTQ ? (int64_t)t->unacked : 0;
}

static int64_t count_datagrams(const struct inet_socket *n, uint32_t request)
{
    const struct net_port *p = &n->port;

    if (request != SIOCINQ || list_empty(&p->queue))
        return 0;
    return container_of(p->queue.next, struct net_datagram, in_queue)->bytes;
}

int64_t inet_ioctl(struct socket *s, uint32_t request, vaddr_t arg)
{
    struct inet_socket *n = inet_of(s);

    if (request != SIOCINQ && request != SIOCOUTQ && request != SIOCATMARK)
        return -ENOTTY;
    bool irq = spin_lock(&s->lock);
    int64_t found = s->type == SOCK_STREAM ? count_stream(n, request) : count_datagrams(n, request);
    spin_unlock(&s->lock, irq);
    if (found < 0)
        return found;
    int word = (int)found;
    return arch_copy_to_user(arg, &word, sizeof(word)) ? -EFAULT : 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void stream_state(const struct inet_socket *n, struct inet_state *out)
{
    const struct net_stream *t = &n->stream;
    bool listens = t->state == STREAM_LISTENS;

    *out = (struct inet_state){.own = t->own,
                               .peer = listens ? (struct net_address){0, 0} : t->peer,
                               .state = inet_stream_state(t),
                               .to_send = listens ? n->backlog : t->unacked,
                               .to_read = listens ? t->waiting : t->queued};
}

static void port_state(const struct inet_socket *n, struct inet_state *out)
{
    const struct net_port *p = &n->port;

    *out = (struct inet_state){.own = p->own,
                               .peer = p->peer,
                               .state = p->peer.port ? NET_ESTABLISHED : NET_CLOSE,
                               .to_read = p->queued,
                               .dropped = p->dropped};
}

void inet_state(struct socket *s, struct inet_state *out)
{
    bool irq = spin_lock(&s->lock);

    if (s->type == SOCK_STREAM)
        stream_state(inet_of(s), out);
    else
        port_state(inet_of(s), out);
    spin_unlock(&s->lock, irq);
}

/* ---- The family ------------------------------------------------------------------------------ */

static int create_inet(struct socket *s, UNUSED const struct socket_caller *by)
{
    static const struct {
        int type, protocol;
        const struct socket_ops *ops;
        void (*init)(struct inet_socket *n);
    } kinds[] = {
        {SOCK_STREAM, IPPROTO_TCP, &inet_stream_ops, inet_init_stream},
        {SOCK_DGRAM, IPPROTO_UDP, &inet_datagram_ops, inet_init_datagram},
    };
    struct inet_socket *n = inet_of(s);
    int err = -ESOCKTNOSUPPORT;

    if (s->protocol < 0 || s->protocol >= IPPROTO_MAX)
        return -EINVAL;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (s->type != kinds[i].type)
            continue;
        err = -EPROTONOSUPPORT;
        if (s->protocol && s->protocol != kinds[i].protocol)
            continue;
        s->protocol = kinds[i].protocol;
        s->ops = kinds[i].ops;
        mutex_init(&n->reading, "turn to receive");
        mutex_init(&n->sending, "turn to send");
        inet_default_options(&n->options);
        kinds[i].init(n);
        return 0;
    }
    return s->type == SOCK_RAW ? -EPROTONOSUPPORT : err;
}

const struct socket_family inet_family = {
    .domain = AF_INET,
    .name = "inet",
    .bytes = sizeof(struct inet_socket),
    .create = create_inet,
};
