/*
 * Any bytes as frames from a wire, with time between them, through net_frame_check() into lwIP: a
 * TCP listener that answers, connections to the outside, a UDP echo, and a second interface that
 * asks for its address by DHCP. Whatever comes, lwIP stays inside of its memory, and when all
 * connections have ended none of it is left.
 *
 * An input is a byte that says which of the usual steps come first (`usual`), and a list of steps,
 * each a struct step and, of some kinds, bytes behind it. Most steps make a frame that lwIP would
 * like, near the numbers of a connection that exists, and then change a byte of it: random frames
 * alone do not get far.
 */
#include "lwip/dhcp.h"
#include "lwip/etharp.h"
#include "lwip/tcp.h"
#include "lwip/udp.h"
#include "kernel/net/lwip/frame.h"
#include "netif/ethernet.h"
#include "test/host/double/lwip_host.h"

enum kind { RAW, ARP, TCP, UDP, DHCP, ICMP, PROGRAM, KINDS };
enum {
    SPLIT = 1,   /* the frame is in two buffers */
    CHANGED = 2, /* a byte of it is changed */
    PIECE = 4,   /* it is a fragment */
    SLOW = 8,    /* time is in units of 100 ms */
    FAR = 16,    /* numbers are far from the connection's */
    SECOND = 32, /* on the second interface */
};
struct step {
    uint8_t kind, how, time;
    uint8_t which;          /* connection, kind of message, act */
    uint8_t flags;          /* TCP's */
    int8_t sequence, acked; /* beyond what is expected */
    uint8_t window, option; /* TCP's */
    uint8_t bytes;          /* of payload, in eights */
    uint8_t at, value;      /* the change */
};
#define SEEN_MAX      8
#define FRAME_MAX     2200
#define LISTENER_PORT 80
#define ECHO_PORT     7

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

/* The newest segments that lwIP has sent: ends and numbers of connections. */
static struct seen {
    uint8_t ours[4], theirs[4], ports[4];
    uint32_t next, acked;
} seen[SEEN_MAX];
static unsigned seen_count;
static uint8_t asked[4]; /* number of the newest question to a DHCP server */
static struct netif wire[2];
static struct tcp_pcb *opened; /* a connection of the program's, or NULL */

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(uint8_t *p, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* lwIP sends: all of the frame is read, and a segment is noted. */
static err_t sent(struct netif *n, struct pbuf *p)
{
    static uint8_t frame[65536];
    uint32_t data;

    (void)n;
    pbuf_copy_partial(p, frame, p->tot_len, 0);
    if (p->tot_len > 282 && frame[23] == 17 && frame[37] == 67)
        memcpy(asked, frame + 46, 4);
    if (p->tot_len < 54 || frame[12] != 8 || frame[13] || frame[23] != 6)
        return ERR_OK;
    data = (uint32_t)((frame[16] << 8 | frame[17]) - 20 - (frame[46] >> 4) * 4);
    struct seen *s = &seen[seen_count++ % SEEN_MAX];
    memcpy(s->ours, frame + 26, 4);
    memcpy(s->theirs, frame + 30, 4);
    memcpy(s->ports, frame + 34, 4);
    s->next = get32(frame + 38) + data + (frame[47] & 3 ? 1 : 0);
    s->acked = get32(frame + 42);
    return ERR_OK;
}

static err_t set_up(struct netif *n)
{
    n->output = etharp_output;
    n->linkoutput = sent;
    n->mtu = 1500;
    n->hwaddr_len = 6;
    memcpy(n->hwaddr, n == wire ? "\x02\0\0\0\0\x01" : "\x02\0\0\0\0\x02", 6);
    n->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    /* Checksums need not be right. */
    NETIF_SET_CHECKSUM_CTRL(n, NETIF_CHECKSUM_ENABLE_ALL & ~0x1f00);
    return ERR_OK;
}

static err_t received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg, (void)err;
    if (!p) {
        if (pcb == opened)
            opened = NULL;
        return tcp_close(pcb) == ERR_OK ? ERR_OK : ERR_MEM;
    }
    tcp_recved(pcb, p->tot_len);
    tcp_write(pcb, "hello", 5, TCP_WRITE_FLAG_COPY);
    tcp_output(pcb);
    pbuf_free(p);
    return ERR_OK;
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg, (void)err;
    if (!pcb)
        return ERR_VAL;
    tcp_recv(pcb, received);
    return ERR_OK;
}

static err_t connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg, (void)err;
    return tcp_write(pcb, "request", 7, 0);
}

static void failed(void *arg, err_t err)
{
    (void)arg, (void)err;
    opened = NULL;
}

static void echo(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from, u16_t port)
{
    (void)arg;
    udp_sendto(pcb, p, from, port);
    pbuf_free(p);
}

static void open_one(uint8_t which)
{
    ip_addr_t to;

    if (opened || !(opened = tcp_new()))
        return;
    IP4_ADDR(&to, 10, 0, which & 1 ? 0 : 9, 2);
    tcp_recv(opened, received);
    tcp_err(opened, failed);
    if (which & 2)
        ip_set_option(opened, SOF_KEEPALIVE);
    if (tcp_connect(opened, &to, 8080, connected) != ERR_OK) {
        tcp_abort(opened);
        opened = NULL;
    }
}

/* The program does something of its own accord. */
static void act(uint8_t what, uint8_t which)
{
    static uint8_t data[20000];

    switch (what % 7) {
    case 0:
        open_one(which);
        break;
    case 1:
        if (opened)
            tcp_write(opened, data, (u16_t)(which * 78), which & 1 ? TCP_WRITE_FLAG_COPY : 0);
        break;
    case 2:
        if (opened)
            tcp_output(opened);
        break;
    case 3:
        if (opened && tcp_close(opened) == ERR_OK)
            opened = NULL;
        break;
    case 4:
        if (opened)
            tcp_abort(opened); /* failed() forgets it */
        break;
    case 5:
        lwip_fail_at = which;
        break;
    default:
        if (opened && tcp_shutdown(opened, which & 1, which & 2) == ERR_OK && (which & 3) == 3)
            opened = NULL;
    }
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static size_t make_ethernet(uint8_t *f, bool second, uint8_t type)
{
    memcpy(f, second ? "\x02\0\0\0\0\x02" : "\x02\0\0\0\0\x01", 6);
    memcpy(f + 6, "\x02\0\0\0\0\x09\x08", 7);
    f[13] = type;
    return 14;
}

/* IPv4's header in front of `bytes` bytes, from a neighbour to the interface. */
static size_t make_ip(uint8_t *f, const struct step *s, uint8_t protocol, size_t bytes)
{
    make_ethernet(f, s->how & SECOND, 0);
    f[14] = 0x45;
    f[16] = (uint8_t)((bytes + 20) >> 8);
    f[17] = (uint8_t)(bytes + 20);
    f[19] = s->which; /* of a packet's fragments */
    if (s->how & PIECE) {
        f[20] = (uint8_t)(0x20 & s->flags);
        f[21] = s->option;
    }
    f[22] = 64;
    f[23] = protocol;
    memcpy(f + 26, "\x0a\0\0\x02\x0a\0\0\x01", 8);
    return 34;
}

static size_t make_arp(uint8_t *f, const struct step *s)
{
    make_ethernet(f, s->how & SECOND, 6);
    memcpy(f + 14, "\0\x01\x08\0\x06\x04\0", 7);
    f[21] = (uint8_t)(1 + (s->flags & 1));
    memcpy(f + 22, "\x02\0\0\0\0\x09\x0a\0\0\x02\x02\0\0\0\0\x01\x0a\0\0\x01", 20);
    f[31] = (uint8_t)(2 + (s->which & 3)); /* a few neighbours */
    return 42;
}

/* Returns the length of options put at `o`. */
static size_t make_options(uint8_t *o, uint8_t which)
{
    static const uint8_t options[] = {2, 4, 5,  180, 3, 3, 7,  1, 4, 2, 1, 1, 8,  10, 0, 0,
                                      0, 1, 0,  0,   0, 0, 1,  1, 5, 2, 3, 0, 99, 40, 0, 0,
                                      2, 4, 16, 0,   3, 3, 99, 0, 0, 0, 0, 0, 0,  0};
    size_t from = which & 31, n = (which >> 5) * 4u;

    memcpy(o, options + from, MIN(n, sizeof(options) - from));
    return n;
}

static size_t make_tcp(uint8_t *f, const struct step *s)
{
    size_t options = make_options(f + 54, s->option), bytes = 20 + options + s->bytes * 8u;
    int32_t scale = s->how & FAR ? 3001 : 1;

    make_ip(f, s, 6, bytes);
    if (s->which & 0x80 && seen_count) {
        const struct seen *c =
            &seen[(seen_count - 1 - (s->which & 0x7f) % MIN(seen_count, SEEN_MAX)) % SEEN_MAX];
        memcpy(f + 26, c->theirs, 4);
        memcpy(f + 30, c->ours, 4);
        memcpy(f + 34, c->ports + 2, 2);
        memcpy(f + 36, c->ports, 2);
        put32(f + 38, c->acked + (uint32_t)(s->sequence * scale));
        put32(f + 42, c->next + (uint32_t)(s->acked * scale));
    } else {
        f[34] = 4;
        f[35] = s->which & 3;
        f[37] = LISTENER_PORT;
        put32(f + 38, 1000 + (uint32_t)(s->sequence * scale));
        put32(f + 42, (uint32_t)(s->acked * scale));
    }
    f[46] = (uint8_t)((5 + options / 4) << 4);
    f[47] = s->flags;
    f[48] = s->window;
    return 34 + bytes;
}

static size_t make_udp(uint8_t *f, const struct step *s)
{
    size_t bytes = 8 + s->bytes * 8u;

    make_ip(f, s, 17, bytes);
    f[35] = s->which;
    f[37] = ECHO_PORT;
    f[38] = (uint8_t)(bytes >> 8);
    f[39] = (uint8_t)bytes;
    return 34 + bytes;
}

/* What a DHCP server answers; options behind the usual ones are bytes of the input. */
static size_t make_dhcp(uint8_t *f, const struct step *s, const uint8_t *data, size_t n)
{
    static const uint8_t options[] = {99, 130, 83, 99, 53, 1,   0,   54, 4, 10, 0, 1,  1, 51, 4, 0,
                                      0,  0,   9,  1,  4,  255, 255, 0,  0, 3,  4, 10, 0, 1,  1};
    size_t bytes = 8 + 236 + sizeof(options) + n + 1;
    uint8_t *m = f + 42;

    make_ip(f, s, 17, bytes);
    memcpy(f, "\xff\xff\xff\xff\xff\xff", 6);
    memcpy(f + 26, "\x0a\0\x01\x01\xff\xff\xff\xff", 8);
    f[35] = 67;
    f[37] = 68;
    f[38] = (uint8_t)(bytes >> 8);
    f[39] = (uint8_t)bytes;
    m[0] = 2;
    m[1] = 1;
    m[2] = 6;
    memcpy(m + 4, asked, 4);
    memcpy(m + 16, "\x0a\0\x01\x05", 4);
    memcpy(m + 28, "\x02\0\0\0\0\x02", 6);
    memcpy(m + 236, options, sizeof(options));
    m[242] = s->which % 9;
    m[254] = s->window;
    memcpy(m + 236 + sizeof(options), data, n);
    m[236 + sizeof(options) + n] = 255;
    return 34 + bytes;
}

static size_t make_icmp(uint8_t *f, const struct step *s)
{
    size_t bytes = 8 + s->bytes * 8u;

    make_ip(f, s, 1, bytes);
    f[34] = s->flags;
    f[35] = s->window;
    return 34 + bytes;
}

static size_t make(uint8_t *f, const struct step *s, const uint8_t *data, size_t n)
{
    switch (s->kind % KINDS) {
    case ARP:
        return make_arp(f, s);
    case TCP:
        return make_tcp(f, s);
    case UDP:
        return make_udp(f, s);
    case DHCP:
        return make_dhcp(f, s, data, n);
    case ICMP:
        return make_icmp(f, s);
    default:
        memcpy(f, data, n);
        return n;
    }
}

static void receive(uint8_t *f, size_t n, const struct step *s)
{
    struct netif *to = &wire[s->how & SECOND ? 1 : 0];
    size_t here = s->how & SPLIT ? MIN(n, 14 + (size_t)s->value % 64) : n;
    struct pbuf *p;

    if (s->how & CHANGED)
        f[s->at % (n ? n : 1)] = s->value;
    p = lwip_received(f, here);
    if (net_frame_check(p->payload, here, n, to == wire)) {
        pbuf_free(p);
        return;
    }
    net_frame_hash(p->payload);
    if (here < n)
        pbuf_cat(p, lwip_received(f + here, n - here));
    if (to->input(p, to) != ERR_OK)
        pbuf_free(p);
}

static void start(struct udp_pcb **udp)
{
    ip4_addr_t ours, mask, gateway, none = {0};
    struct tcp_pcb *listener = tcp_new();

    seen_count = 0;
    memset(asked, 0, sizeof(asked));
    lwip_seed = 1;
    IP4_ADDR(&ours, 10, 0, 0, 1);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 10, 0, 0, 2);
    netif_add(&wire[0], &ours, &mask, &gateway, NULL, set_up, ethernet_input);
    netif_add(&wire[1], &none, &none, &none, NULL, set_up, ethernet_input);
    netif_set_up(&wire[0]);
    netif_set_up(&wire[1]);
    netif_set_default(&wire[0]);
    dhcp_start(&wire[1]);
    tcp_bind(listener, IP_ADDR_ANY, LISTENER_PORT);
    tcp_accept(tcp_listen_with_backlog(listener, 16), accepted);
    *udp = udp_new();
    udp_bind(*udp, IP_ADDR_ANY, ECHO_PORT);
    udp_recv(*udp, echo, NULL);
}

static void end(struct udp_pcb *udp, unsigned objects)
{
    lwip_fail_at = 0;
    udp_remove(udp);
    for (unsigned i = 0; i < 2; i++) {
        dhcp_release_and_stop(&wire[i]);
        dhcp_cleanup(&wire[i]);
    }
    lwip_end_all();
    opened = NULL;
    netif_remove(&wire[0]);
    netif_remove(&wire[1]);
    if (lwip_objects != objects)
        abort(); /* memory is left */
}

/* What the first byte's bits ask for, the lowest first. */
static const struct usual {
    unsigned bit;
    struct step step;
} usual[] = {
    {0, {.kind = ARP, .flags = 1}},
    {1, {.kind = TCP, .flags = 2, .window = 9, .option = 3 << 5}},
    {1, {.kind = TCP, .which = 0x80, .flags = 16, .window = 9}},
    {2, {.kind = TCP, .which = 0x80, .flags = 24, .window = 9, .bytes = 4}},
    {3, {.kind = TCP, .which = 1, .flags = 2, .window = 9}},
    {3, {.kind = TCP, .which = 0x80, .flags = 16, .window = 9}},
    {4, {.kind = PROGRAM, .which = 0, .value = 3}},
    {4, {.kind = TCP, .which = 0x80, .flags = 18, .window = 9, .option = 3 << 5}},
    {5, {.kind = PROGRAM, .which = 1, .value = 200}},
    {5, {.kind = PROGRAM, .which = 2}},
    {6, {.kind = DHCP, .how = SECOND, .which = 2, .window = 60}},
    {7, {.kind = DHCP, .how = SECOND, .which = 5, .window = 60}},
};

/* Makes a step; `data` are the bytes behind it. */
static void go(const struct step *s, const uint8_t *data, size_t n)
{
    static uint8_t frame[FRAME_MAX];

    memset(frame, 0, sizeof(frame));
    if (s->kind % KINDS == PROGRAM)
        act(s->which, s->value);
    else
        receive(frame, make(frame, s, data, n), s);
    lwip_pass(s->how & SLOW ? s->time * 100u : s->time, s->how & SLOW ? TCP_TMR_INTERVAL : 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct udp_pcb *udp;
    struct step s;
    unsigned objects;

    if (!size)
        return 0;
    lwip_host_start();
    lwip_end_all();
    objects = lwip_objects;
    start(&udp);
    for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
        if (data[0] >> usual[i].bit & 1)
            go(&usual[i].step, data, 0);
    data++;
    size--;
    while (size >= sizeof(s)) {
        memcpy(&s, data, sizeof(s));
        data += sizeof(s);
        size -= sizeof(s);
        size_t n = s.kind % KINDS == RAW || s.kind % KINDS == DHCP ? MIN(s.bytes, size) : 0;
        go(&s, data, n);
        data += n;
        size -= n;
    }
    end(udp, objects);
    return 0;
}
