/* Options of levels IPPROTO_IP and IPPROTO_TCP; see inet.h. */
#include "kernel/arch/arch.h"
#include "kernel/net/socket/inet.h"
#include <linux/in.h>
#include <linux/tcp.h>

#define MSS_LEAST 88
#define MSS_MOST  32767

struct option {
    int level, name;
    uint16_t at; /* in struct inet_options */
    int least, most;
};

#define OPTION(level, name, member, least, most)                        \
    {                                                                   \
        level, name, offsetof(struct inet_options, member), least, most \
    }
/* Options that are numbers. What is not applied below changes nothing here: lwIP has no such
 * thing. */
static const struct option options[] = {
    OPTION(IPPROTO_IP, IP_TOS, tos, 0, 255),
    OPTION(IPPROTO_IP, IP_TTL, ttl, -1, 255),
    OPTION(IPPROTO_IP, IP_MTU_DISCOVER, mtu_discover, 0, 5),
    OPTION(IPPROTO_IP, IP_RECVERR, receive_error, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_IP, IP_PKTINFO, packet_info, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, no_port, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_IP, IP_FREEBIND, free_bind, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_IP, IP_MULTICAST_TTL, multicast_ttl, -1, 255),
    OPTION(IPPROTO_IP, IP_MULTICAST_LOOP, multicast_loop, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_NODELAY, no_delay, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_CORK, cork, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_KEEPIDLE, idle_s, 1, 32767),
    OPTION(IPPROTO_TCP, TCP_KEEPINTVL, interval_s, 1, 32767),
    OPTION(IPPROTO_TCP, TCP_KEEPCNT, probes, 1, 127),
    OPTION(IPPROTO_TCP, TCP_SYNCNT, syn_count, 1, 127),
    OPTION(IPPROTO_TCP, TCP_LINGER2, linger2_s, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_DEFER_ACCEPT, defer_accept_s, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_WINDOW_CLAMP, window_clamp, 0, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_QUICKACK, quick_ack, INT32_MIN, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_ms, 0, INT32_MAX),
    OPTION(IPPROTO_TCP, TCP_FASTOPEN, fast_open, 0, INT32_MAX),
};

void inet_default_options(struct inet_options *o)
{
    *o = (struct inet_options){.ttl = 64,
                               .mtu_discover = IP_PMTUDISC_WANT,
                               .multicast_ttl = 1,
                               .multicast_loop = 1,
                               .idle_s = 7200,
                               .interval_s = 75,
                               .probes = 9,
                               .syn_count = 6,
                               .linger2_s = 60,
                               .quick_ack = 1};
}

/* Returns where the option is kept, or NULL. */
static const struct option *find_option(const struct socket *s, int level, int name)
{
    if (level == IPPROTO_TCP && s->type != SOCK_STREAM)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (options[i].level == level && options[i].name == name)
            return &options[i];
    return NULL;
}

static int *place_of(struct inet_socket *n, const struct option *o)
{
    return (int *)((char *)&n->options + o->at);
}

/* ---- Options of TCP that are no plain numbers ------------------------------------------------ */

uint8_t inet_stream_state(const struct net_stream *t)
{
    unsigned shut = t->shut;

    switch (t->state) {
    case STREAM_CONNECTED:
        return shut == STREAM_RECEIVE ? NET_CLOSE_WAIT : shut ? NET_FIN_WAIT2 : NET_ESTABLISHED;
    case STREAM_CONNECTS:
        return NET_SYN_SENT;
    case STREAM_LISTENS:
        return NET_LISTEN;
    default:
        return NET_CLOSE;
    }
}

static int get_info(struct inet_socket *n, void *out, unsigned *bytes)
{
    struct tcp_info i = {.tcpi_snd_mss = net_stream_segment(&n->stream)};
    bool irq = spin_lock(&n->s.lock);

    i.tcpi_state = inet_stream_state(&n->stream);
    i.tcpi_unacked = (uint32_t)n->stream.unacked;
    spin_unlock(&n->s.lock, irq);
    return socket_put_option(out, bytes, &i, MIN((unsigned)sizeof(i), (unsigned)SOCKET_OPTION_MAX));
}

static int get_of_tcp(struct inet_socket *n, int name, void *out, unsigned *bytes)
{
    static const char congestion[16] = "reno";
    int word;

    switch (name) {
    case TCP_MAXSEG:
        word = (int)net_stream_segment(&n->stream);
        return socket_put_option(out, bytes, &word, sizeof(word));
    case TCP_INFO:
        return get_info(n, out, bytes);
    case TCP_CONGESTION:
        return socket_put_option(out, bytes, congestion, sizeof(congestion));
    default:
        return -ENOPROTOOPT;
    }
}

static int set_of_tcp(int name, const void *value, unsigned bytes)
{
    int word = 0;

    switch (name) {
    case TCP_CONGESTION:
        return bytes < 4 || memcmp(value, "reno", 4) ? -ENOENT : 0;
    case TCP_MAXSEG:
        if (bytes < sizeof(word))
            return -EINVAL;
        memcpy(&word, value, sizeof(word));
        return word && (word < MSS_LEAST || word > MSS_MOST) ? -EINVAL : 0;
    default:
        return -ENOPROTOOPT;
    }
}

/* ---- Getting and setting --------------------------------------------------------------------- */

int inet_get_option(struct socket *s, int level, int name, void *out, unsigned *bytes)
{
    struct inet_socket *n = inet_of(s);
    const struct option *o = find_option(s, level, name);

    if (o) {
        bool irq = spin_lock(&s->lock);
        int word = *place_of(n, o);
        spin_unlock(&s->lock, irq);
        return socket_put_option(out, bytes, &word, sizeof(word));
    }
    if (level == IPPROTO_TCP && s->type == SOCK_STREAM)
        return get_of_tcp(n, name, out, bytes);
    return level == IPPROTO_IP ? -ENOPROTOOPT : -EOPNOTSUPP;
}

/* Options of level IPPROTO_IP may be given as bytes. */
static int take_word(const struct option *o, const void *value, unsigned bytes, int *out)
{
    const uint8_t *first = value;

    if (bytes < sizeof(*out)) {
        if (!bytes || o->level != IPPROTO_IP)
            return -EINVAL;
        *out = *first;
        return 0;
    }
    memcpy(out, value, sizeof(*out));
    return *out < o->least || *out > o->most ? -EINVAL : 0;
}

int inet_set_option(struct socket *s, int level, int name, const void *value, unsigned bytes)
{
    struct inet_socket *n = inet_of(s);
    const struct option *o = find_option(s, level, name);
    int word;

    if (!o && level == IPPROTO_TCP && s->type == SOCK_STREAM)
        return set_of_tcp(name, value, bytes);
    if (!o)
        return level == IPPROTO_IP || level == IPPROTO_TCP ? -ENOPROTOOPT : -EOPNOTSUPP;
    int err = take_word(o, value, bytes, &word);
    if (err)
        return err;
    if (o->most == INT32_MAX && o->least == INT32_MIN)
        word = word != 0; /* a switch */
    if (o->name == IP_TTL && o->level == IPPROTO_IP && word <= 0)
        word = word ? 64 : 0;
    if (o->name == IP_TTL && o->level == IPPROTO_IP && !word)
        return -EINVAL;
    bool irq = spin_lock(&s->lock);
    *place_of(n, o) = word;
    spin_unlock(&s->lock, irq);
    inet_apply_options(s, 0);
    return 0;
}

/* ---- Applying -------------------------------------------------------------------------------- */

void inet_apply_options(struct socket *s, UNUSED int name)
{
    struct inet_socket *n = inet_of(s);
    bool irq = spin_lock(&s->lock);
    const struct inet_options *o = &n->options;

    if (s->type == SOCK_STREAM) {
        n->stream.options = (struct net_stream_options){.reuse_address = s->options.reuse_address,
                                                        .reuse_port = s->options.reuse_port,
                                                        .keep_alive = s->options.keep_alive,
                                                        .no_delay = o->no_delay,
                                                        .idle_s = (uint32_t)o->idle_s,
                                                        .interval_s = (uint32_t)o->interval_s,
                                                        .probes = (uint32_t)o->probes,
                                                        .ttl = (uint8_t)o->ttl,
                                                        .tos = (uint8_t)o->tos};
    } else {
        n->port.reuse_address = s->options.reuse_address;
        n->port.reuse_port = s->options.reuse_port;
        n->port.broadcast = s->options.broadcast;
        n->port.ttl = (uint8_t)o->ttl;
        n->port.tos = (uint8_t)o->tos;
        n->port.room = s->options.receive_bytes;
    }
    spin_unlock(&s->lock, irq);
    if (s->type == SOCK_STREAM)
        net_stream_set_options(&n->stream);
}
