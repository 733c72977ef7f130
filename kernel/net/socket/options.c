/* Options of all sockets: level SOL_SOCKET; see socket.h. */
#include "kernel/arch/arch.h"
#include "kernel/net/socket/socket.h"

#define US_PER_S 1000000

int socket_put_option(void *out, unsigned *bytes, const void *from, unsigned n)
{
    *bytes = MIN(*bytes, n);
    memcpy(out, from, *bytes);
    return 0;
}

static int put_int(void *out, unsigned *bytes, int64_t value)
{
    int word = (int)value;

    return socket_put_option(out, bytes, &word, sizeof(word));
}

void socket_init_options(struct socket_options *o)
{
    *o = (struct socket_options){.receive_ns = UINT64_MAX,
                                 .send_ns = UINT64_MAX,
                                 .receive_least = 1,
                                 .receive_bytes = SOCKET_BUFFER,
                                 .send_bytes = SOCKET_BUFFER};
}

/* ---- Times ----------------------------------------------------------------------------------- */

struct span {
    int64_t s, us;
};

static int put_span(void *out, unsigned *bytes, uint64_t ns)
{
    struct span t = {0};

    if (ns != UINT64_MAX)
        t = (struct span){(int64_t)(ns / NS_PER_S), (int64_t)(ns % NS_PER_S / NS_PER_US)};
    return socket_put_option(out, bytes, &t, sizeof(t));
}

/* 0 is for ever. */
static int take_span(uint64_t *ns, const void *value, unsigned bytes)
{
    struct span t;

    if (bytes < sizeof(t))
        return -EINVAL;
    memcpy(&t, value, sizeof(t));
    if (t.us < 0 || t.us >= US_PER_S)
        return -EDOM;
    if (t.s < 0)
        *ns = 0;
    else if ((!t.s && !t.us) || __builtin_mul_overflow((uint64_t)t.s, NS_PER_S, ns) ||
             __builtin_add_overflow(*ns, (uint64_t)t.us * NS_PER_US, ns))
        *ns = UINT64_MAX;
    return 0;
}

/* ---- Switches -------------------------------------------------------------------------------- */

/* Returns where an option is kept that is on or off, or NULL. */
static bool *switch_of(struct socket_options *o, int name)
{
    switch (name) {
    case SO_REUSEADDR:
        return &o->reuse_address;
    case SO_REUSEPORT:
        return &o->reuse_port;
    case SO_KEEPALIVE:
        return &o->keep_alive;
    case SO_BROADCAST:
        return &o->broadcast;
    case SO_DONTROUTE:
        return &o->dont_route;
    case SO_OOBINLINE:
        return &o->out_of_band_inline;
    case SO_PASSCRED:
        return &o->pass_credentials;
    case SO_TIMESTAMP:
        return &o->stamps;
    case SO_TIMESTAMPNS:
        return &o->stamps_ns;
    default:
        return NULL;
    }
}

/* ---- Getting --------------------------------------------------------------------------------- */

static int get_peer_name(struct socket *s, void *out, unsigned *bytes)
{
    struct socket_address a;
    int err = s->ops->peer(s, &a);

    if (err)
        return -ENOTCONN;
    if (*bytes < a.bytes)
        return -EINVAL;
    return socket_put_option(out, bytes, &a.is, a.bytes);
}

static int get_linger(const struct socket_options *o, void *out, unsigned *bytes)
{
    struct linger l = {o->lingers, (int)o->linger_s};

    return socket_put_option(out, bytes, &l, sizeof(l));
}

static int get_own(struct socket *s, int name, void *out, unsigned *bytes)
{
    struct socket_options *o = &s->options;
    const bool *on = switch_of(o, name);

    if (on)
        return put_int(out, bytes, *on);
    switch (name) {
    case SO_TYPE:
        return put_int(out, bytes, s->type);
    case SO_DOMAIN:
        return put_int(out, bytes, s->family->domain);
    case SO_PROTOCOL:
        return put_int(out, bytes, s->protocol);
    case SO_ERROR:
        return put_int(out, bytes, -socket_error(s));
    case SO_ACCEPTCONN:
        return put_int(out, bytes, s->listens);
    case SO_SNDBUF:
        return put_int(out, bytes, o->send_bytes);
    case SO_RCVBUF:
        return put_int(out, bytes, o->receive_bytes);
    case SO_SNDLOWAT:
        return put_int(out, bytes, 1);
    case SO_RCVLOWAT:
        return put_int(out, bytes, o->receive_least);
    case SO_RCVTIMEO_OLD:
    case SO_RCVTIMEO_NEW:
        return put_span(out, bytes, o->receive_ns);
    case SO_SNDTIMEO_OLD:
    case SO_SNDTIMEO_NEW:
        return put_span(out, bytes, o->send_ns);
    case SO_LINGER:
        return get_linger(o, out, bytes);
    case SO_PRIORITY:
        return put_int(out, bytes, o->priority);
    case SO_MARK:
        return put_int(out, bytes, o->mark);
    case SO_PEERCRED:
        return socket_put_option(out, bytes, &s->peer, sizeof(s->peer));
    case SO_DEBUG:
    case SO_NO_CHECK:
    case SO_RXQ_OVFL:
    case SO_BUSY_POLL:
    case SO_BINDTODEVICE:
        return put_int(out, bytes, 0);
    case SO_COOKIE:
        return *bytes < sizeof(s->v.id) ? -EINVAL
                                        : socket_put_option(out, bytes, &s->v.id, sizeof(s->v.id));
    default:
        return -ENOPROTOOPT;
    }
}

int socket_get_option(struct socket *s, int level, int name, void *out, unsigned *bytes)
{
    if (level != SOL_SOCKET)
        return s->ops->get_option(s, level, name, out, bytes);
    if (name == SO_PEERNAME)
        return get_peer_name(s, out, bytes);
    bool irq = spin_lock(&s->lock);
    int err = get_own(s, name, out, bytes);
    spin_unlock(&s->lock, irq);
    return err;
}

/* ---- Setting --------------------------------------------------------------------------------- */

/* As Linux does: twice what is asked, as it counts its own memory, too. */
static uint32_t buffer_of(int value, uint32_t least)
{
    return MAX(2 * MIN((uint32_t)value, (uint32_t)SOCKET_BUFFER_MAX / 2), least);
}

static int set_linger(struct socket_options *o, const void *value, unsigned bytes)
{
    struct linger l;

    if (bytes < sizeof(l))
        return -EINVAL;
    memcpy(&l, value, sizeof(l));
    o->lingers = l.l_onoff;
    if (l.l_onoff)
        o->linger_s = l.l_linger < 0 ? UINT32_MAX / 2 : (uint32_t)l.l_linger;
    return 0;
}

static int set_own(struct socket_options *o, int name, const void *value, unsigned bytes)
{
    bool *on = switch_of(o, name);
    int word;

    memcpy(&word, value, sizeof(word));
    if (on) {
        *on = word;
        return 0;
    }
    switch (name) {
    case SO_SNDBUF:
    case SO_SNDBUFFORCE:
        o->send_bytes = buffer_of(word, SOCKET_SEND_LEAST);
        return 0;
    case SO_RCVBUF:
    case SO_RCVBUFFORCE:
        o->receive_bytes = buffer_of(word, SOCKET_RECEIVE_LEAST);
        return 0;
    case SO_RCVLOWAT:
        o->receive_least = word < 0 ? INT32_MAX : MAX((uint32_t)word, 1u);
        return 0;
    case SO_RCVTIMEO_OLD:
    case SO_RCVTIMEO_NEW:
        return take_span(&o->receive_ns, value, bytes);
    case SO_SNDTIMEO_OLD:
    case SO_SNDTIMEO_NEW:
        return take_span(&o->send_ns, value, bytes);
    case SO_LINGER:
        return set_linger(o, value, bytes);
    case SO_PRIORITY:
        o->priority = (uint32_t)word;
        return 0;
    case SO_MARK:
        o->mark = (uint32_t)word;
        return 0;
    case SO_DEBUG:
    case SO_NO_CHECK:
    case SO_RXQ_OVFL:
    case SO_BUSY_POLL:
        return 0; /* changes nothing here */
    default:
        return -ENOPROTOOPT;
    }
}

/* Sockets are bound to no device: the empty name says so. */
static int set_device(const char *name, unsigned bytes)
{
    return bytes && name[0] ? -ENODEV : 0;
}

int socket_set_option(struct socket *s, int level, int name, const void *value, unsigned bytes)
{
    if (level != SOL_SOCKET)
        return s->ops->set_option(s, level, name, value, bytes);
    if (name == SO_BINDTODEVICE)
        return set_device(value, bytes);
    if (bytes < sizeof(int))
        return -EINVAL;
    bool irq = spin_lock(&s->lock);
    int err = set_own(&s->options, name, value, bytes);
    spin_unlock(&s->lock, irq);
    if (!err)
        s->ops->option_set(s, name);
    return err;
}
