/* See packet_script.h. */
#include "packet_script.h"
#include <stdio.h>
#include <string.h>
#include "lwip/inet_chksum.h"
#include "lwip/ip.h"
#include "lwip/priv/tcp_priv.h"
#include "test/host/double/lwip_host.h"

#define PORT        80
#define PEER_PORT   5000
#define STEP_MS     10
#define PACKET_MAX  2000
#define SENT_MAX    256
#define EVENTS_MAX  64
#define LINE_WINDOW 0xffff

struct segment {
    unsigned flags;
    uint32_t seq, ack, bytes;
    int window;
};
struct event {
    enum heard what;
    unsigned n;
};

static struct netif wire;
static struct tcp_pcb *listener, *pcb;
static uint32_t ours, others, peers; /* first numbers */
static bool ours_known;
static struct segment sent[SENT_MAX];
static unsigned sent_first, sent_count;
static struct event events[EVENTS_MAX];
static unsigned event_first, event_count;
static char fault[200];
static uint8_t data[65536];

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(uint8_t *p, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (24 - 8 * i));
}

static err_t send(struct netif *n, struct pbuf *p, const ip4_addr_t *to)
{
    uint8_t k[PACKET_MAX];
    struct segment *s = &sent[sent_count++ % SENT_MAX];

    (void)n, (void)to;
    pbuf_copy_partial(p, k, sizeof(k), 0);
    s->flags = k[33] & (TCP_SYN | TCP_ACK | TCP_FIN | TCP_RST);
    s->seq = get32(k + 24);
    s->ack = get32(k + 28);
    s->bytes = p->tot_len - 20u - (k[32] >> 4) * 4u;
    s->window = k[34] << 8 | k[35];
    if (s->flags & TCP_SYN && !ours_known) {
        ours = s->seq;
        ours_known = true;
    }
    return ERR_OK;
}

static err_t set_up(struct netif *n)
{
    n->output = send;
    n->mtu = 1500;
    n->flags = NETIF_FLAG_LINK_UP;
    NETIF_SET_CHECKSUM_CTRL(n, NETIF_CHECKSUM_ENABLE_ALL & ~0x1f00);
    return ERR_OK;
}

/* ---- The program ----------------------------------------------------------------------------- */

static void hear(enum heard what, unsigned n)
{
    events[event_count++ % EVENTS_MAX] = (struct event){what, n};
}

static err_t receive(void *arg, struct tcp_pcb *p, struct pbuf *b, err_t err)
{
    (void)arg, (void)p, (void)err;
    hear(b ? GETS : GETS_END, b ? b->tot_len : 0);
    if (b)
        pbuf_free(b);
    return ERR_OK;
}

static void fail(void *arg, err_t err)
{
    (void)arg;
    pcb = NULL;
    hear(FAILS, (unsigned)-err);
}

static err_t connected(void *arg, struct tcp_pcb *p, err_t err)
{
    (void)arg, (void)p, (void)err;
    hear(CONNECTS, 0);
    return ERR_OK;
}

static err_t accepted(void *arg, struct tcp_pcb *p, err_t err)
{
    (void)arg, (void)err;
    if (!p)
        return ERR_VAL;
    pcb = p;
    tcp_backlog_delayed(p); /* the program takes it by READ_BYTES of 0 */
    tcp_recv(p, receive);
    tcp_err(p, fail);
    hear(ACCEPTS, 0);
    return ERR_OK;
}

static unsigned flags_of(const char *text)
{
    unsigned flags = 0;

    for (; *text; text++)
        flags |= *text == 'S'   ? TCP_SYN
                 : *text == 'A' ? TCP_ACK
                 : *text == 'F' ? TCP_FIN
                 : *text == 'R' ? TCP_RST
                                : TCP_PSH;
    return flags;
}

/* From a port that is `what` beyond the peer's usual one. */
static void arrive(const struct line *l)
{
    uint8_t k[PACKET_MAX] = {0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1};
    unsigned n = 40 + l->bytes;
    struct pbuf *p;

    k[2] = (uint8_t)(n >> 8);
    k[3] = (uint8_t)n;
    k[20] = (uint8_t)((PEER_PORT + l->what) >> 8);
    k[21] = (uint8_t)(PEER_PORT + l->what);
    k[23] = PORT;
    put32(k + 24, peers + (uint32_t)l->seq);
    put32(k + 28, ours + (uint32_t)l->ack);
    k[32] = 0x50;
    k[33] = (uint8_t)flags_of(l->flags);
    k[34] = (uint8_t)(l->window >> 8);
    k[35] = (uint8_t)l->window;
    p = lwip_received(k, n);
    if (wire.input(p, &wire) != ERR_OK)
        pbuf_free(p);
}

static void forget_sent(void)
{
    sent_first = sent_count;
}

static void flood(unsigned n)
{
    struct line l = {.flags = "S", .window = 0xffff};

    for (unsigned i = 0; i < n; i++) {
        l.what = (int)(1000 + i);
        arrive(&l);
    }
    forget_sent();
    ours_known = false;
}

static void take_other(void)
{
    uint32_t now = ours;

    ours = others;
    others = now;
}

static void act(const struct line *l)
{
    ip_addr_t peer;

    IP4_ADDR(&peer, 10, 0, 0, 2);
    switch (l->what) {
    case LISTEN_1:
        listener = tcp_new();
        tcp_bind(listener, IP_ADDR_ANY, PORT);
        listener = tcp_listen_with_backlog(listener, (u8_t)l->bytes);
        tcp_accept(listener, accepted);
        break;
    case CONNECT_NOW:
        pcb = tcp_new();
        tcp_bind(pcb, IP_ADDR_ANY, PORT);
        tcp_recv(pcb, receive);
        tcp_err(pcb, fail);
        tcp_connect(pcb, &peer, PEER_PORT, connected);
        break;
    case WRITE_BYTES:
        tcp_write(pcb, data, (u16_t)l->bytes, TCP_WRITE_FLAG_COPY);
        tcp_output(pcb);
        break;
    case READ_BYTES:
        if (l->bytes)
            tcp_recved(pcb, (u16_t)l->bytes);
        else
            tcp_backlog_accepted(pcb);
        break;
    case CLOSE_NOW:
        tcp_close(pcb);
        break;
    case SHUT_NOW:
        tcp_shutdown(pcb, 0, 1);
        break;
    case FLOOD:
        flood(l->bytes);
        break;
    case FORGET_SENT:
        forget_sent();
        break;
    case OTHER_ONE:
        take_other();
        break;
    case BEGIN_AGAIN:
        peers += l->bytes;
        ours_known = false;
        break;
    case KEEP_ALIVE:
        ip_set_option(pcb, SOF_KEEPALIVE);
        pcb->keep_idle = l->bytes;
        pcb->keep_intvl = l->bytes;
        pcb->keep_cnt = 2;
        break;
    default:
        tcp_abort(pcb);
    }
}

/* ---- The script ------------------------------------------------------------------------------ */

#define WRONG(l, ...)                                                  \
    do {                                                               \
        int n_ = snprintf(fault, sizeof(fault), "line %d: ", (l)->at); \
        snprintf(fault + n_, sizeof(fault) - (size_t)n_, __VA_ARGS__); \
        return false;                                                  \
    } while (0)

static bool expect_sent(const struct line *l)
{
    const struct segment *s = &sent[sent_first % SENT_MAX];
    long seq, ack;

    if (sent_first == sent_count)
        WRONG(l, "nothing was sent");
    sent_first++;
    seq = (int32_t)(s->seq - ours);
    ack = s->flags & TCP_ACK ? (int32_t)(s->ack - peers) : 0;
    if (s->flags != (flags_of(l->flags) & ~(unsigned)TCP_PSH) || seq != l->seq || ack != l->ack ||
        s->bytes != l->bytes || (l->window >= 0 && s->window != l->window))
        WRONG(l, "sent: flags %x seq %ld ack %ld bytes %u window %d", s->flags, seq, ack, s->bytes,
              s->window);
    return true;
}

static bool expect_heard(const struct line *l)
{
    const struct event *e = &events[event_first % EVENTS_MAX];

    if (event_first == event_count)
        WRONG(l, "the program heard nothing");
    event_first++;
    if ((int)e->what != l->what || e->n != l->bytes)
        WRONG(l, "the program heard %d, %u", e->what, e->n);
    return true;
}

static bool run_line(const struct line *l)
{
    switch (l->op) {
    case LINE_IN:
        arrive(l);
        return true;
    case LINE_OUT:
        return expect_sent(l);
    case LINE_QUIET:
        if (sent_first != sent_count) {
            const struct segment *s = &sent[sent_first % SENT_MAX];
            WRONG(l, "sent: flags %x seq %d bytes %u", s->flags, (int32_t)(s->seq - ours),
                  s->bytes);
        }
        return true;
    case LINE_PASS:
        lwip_pass(l->bytes, STEP_MS);
        return true;
    case LINE_ACT:
        act(l);
        return true;
    case LINE_HEARS:
        return expect_heard(l);
    default:
        if ((pcb ? (int)pcb->state : GONE) != l->what)
            WRONG(l, "state %d", pcb ? (int)pcb->state : GONE);
        return true;
    }
}

const char *packet_script(const struct line *lines, uint32_t peer_first)
{
    static const ip4_addr_t none = {0};
    ip4_addr_t at, mask;
    unsigned objects;

    lwip_host_start();
    lwip_end_all();
    objects = lwip_objects;
    IP4_ADDR(&at, 10, 0, 0, 1);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    netif_add(&wire, &at, &mask, &none, NULL, set_up, ip_input);
    netif_set_up(&wire);
    netif_set_default(&wire);
    pcb = NULL;
    ours_known = false;
    peers = peer_first;
    sent_first = sent_count = event_first = event_count = 0;
    fault[0] = '\0';
    for (const struct line *l = lines; l->op && run_line(l); l++)
        continue;
    lwip_end_all();
    netif_remove(&wire);
    if (lwip_objects != objects && !fault[0])
        snprintf(fault, sizeof(fault), "memory is left");
    return fault[0] ? fault : NULL;
}
