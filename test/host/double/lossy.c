/* See lossy.h. */
#include "lossy.h"
#include "lwip/ip.h"
#include "lwip/netif.h"
#include "lwip/priv/tcp_priv.h"
#include "test/host/double/lwip_host.h"
#include "test/host/double/random.h"

#define STEP_MS     10
#define END_MS      (4 * 3600 * 1000u) /* beyond that it does not end */
#define PORT        80
#define STREAM_MAX  400000
#define PACKETS_MAX 4096

enum { CLIENT, SERVER, SIDES };

struct packet {
    uint8_t *bytes;
    uint32_t n;
    uint32_t at_ms;
    struct netif *to;
};

/* One end of a connection. */
struct end {
    struct tcp_pcb *pcb; /* NULL: not yet, or no more */
    const uint8_t *out;  /* what it sends */
    const uint8_t *in;   /* what it must get */
    uint32_t out_bytes, in_bytes;
    uint32_t written, got, held; /* held: got, and not yet given back to the window */
    bool said, heard;            /* FIN */
};

static const struct lossy *now;
static uint64_t random_state;
static const char *wrong;
static struct netif side[SIDES];
static struct packet packets[PACKETS_MAX];
static unsigned packet_count, lost_in_row;
static struct end ends[LOSSY_CONNECTIONS][SIDES];
static uint8_t pattern[STREAM_MAX + 4096];

static unsigned draw(unsigned below)
{
    return (unsigned)(test_random(&random_state) >> 33) % below;
}

static void fault(const char *what)
{
    if (!wrong)
        wrong = what;
}

/* ---- The wire -------------------------------------------------------------------------------- */

static void put(struct pbuf *p, struct netif *to)
{
    struct packet *k = &packets[packet_count];

    if (packet_count == PACKETS_MAX)
        return; /* lost */
    packet_count++;
    *k = (struct packet){.bytes = malloc(p->tot_len), .n = p->tot_len, .to = to};
    pbuf_copy_partial(p, k->bytes, p->tot_len, 0);
    k->at_ms = lwip_sys_now + now->delay_ms + draw(now->jitter_ms + 1);
    if (draw(1000) < now->wrong)
        k->bytes[draw(k->n)] ^= (uint8_t)(1 << draw(8));
}

static err_t send(struct netif *n, struct pbuf *p, const ip4_addr_t *to)
{
    struct netif *other = n == &side[CLIENT] ? &side[SERVER] : &side[CLIENT];

    (void)to;
    if (p->tot_len > n->mtu)
        fault("a packet is longer than the wire takes");
    if (lost_in_row < 3 && draw(1000) < now->loss) {
        lost_in_row++;
        return ERR_OK;
    }
    lost_in_row = 0;
    put(p, other);
    if (draw(1000) < now->twice)
        put(p, other);
    return ERR_OK;
}

/* Delivers what is due, in no order. */
static void deliver(void)
{
    for (unsigned i = 0; i < packet_count;) {
        struct packet k = packets[i];
        if ((int32_t)(lwip_sys_now - k.at_ms) < 0) {
            i++;
            continue;
        }
        packets[i] = packets[--packet_count];
        struct pbuf *p = lwip_received(k.bytes, k.n);
        free(k.bytes);
        if (k.to->input(p, k.to) != ERR_OK)
            pbuf_free(p);
    }
}

static err_t set_up(struct netif *n)
{
    n->output = send;
    n->mtu = (u16_t)now->mtu;
    n->flags = NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

/* ---- The programs ---------------------------------------------------------------------------- */

static err_t receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct end *e = arg;

    (void)pcb, (void)err;
    if (!p) {
        if (e->heard)
            fault("a stream ends twice");
        if (e->got != e->in_bytes)
            fault("a stream ends early");
        e->heard = true;
        return ERR_OK;
    }
    /* lwIP never offers again what is refused while it closes (tcp_process() moves the connection
     * to TIME_WAIT, whose timer only ends it): a program may not refuse then. */
    if (!e->said && draw(1000) < now->refuse)
        return ERR_MEM;
    for (struct pbuf *q = p; q; q = q->next) {
        if (q->len > e->in_bytes - e->got || memcmp(q->payload, e->in + e->got, q->len)) {
            fault("a stream is not what was sent");
            break;
        }
        e->got += q->len;
        e->held += q->len;
    }
    pbuf_free(p);
    return ERR_OK;
}

static void fail(void *arg, err_t err)
{
    struct end *e = arg;

    e->pcb = NULL;
    if (err != ERR_CLSD || !e->said || !e->heard) /* the last to end hears of the other's ACK */
        fault("a connection is lost");
}

static void join(struct end *e, struct tcp_pcb *pcb)
{
    e->pcb = pcb;
    tcp_arg(pcb, e);
    tcp_recv(pcb, receive);
    tcp_err(pcb, fail);
}

/* A connection is told from others by its client's port. */
static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg, (void)err;
    if (!pcb)
        return ERR_VAL;
    for (unsigned c = 0; c < now->connections; c++)
        if (ends[c][CLIENT].pcb && ends[c][CLIENT].pcb->local_port == pcb->remote_port) {
            join(&ends[c][SERVER], pcb);
            return ERR_OK;
        }
    return ERR_VAL;
}

/* Writes, gives the window back, ends: a little of it. */
static void work(struct end *e)
{
    uint32_t n;

    if (!e->pcb || e->pcb->state < ESTABLISHED)
        return;
    n = MIN(e->out_bytes - e->written, (uint32_t)draw(20000));
    n = MIN(n, MIN(tcp_sndbuf(e->pcb), (uint32_t)65535));
    if (n && draw(2) &&
        tcp_write(e->pcb, e->out + e->written, (u16_t)n, draw(2) ? TCP_WRITE_FLAG_COPY : 0) ==
            ERR_OK)
        e->written += n;
    if (draw(2)) {
        tcp_recved(e->pcb, (u16_t)MIN(e->held, (uint32_t)65535));
        e->held -= MIN(e->held, (uint32_t)65535);
    }
    tcp_output(e->pcb);
    if (!e->said && e->written == e->out_bytes && !draw(8))
        e->said = tcp_shutdown(e->pcb, 0, 1) == ERR_OK;
    if (e->said && e->heard && !e->held && tcp_close(e->pcb) == ERR_OK)
        e->pcb = NULL;
}

static void open_all(void)
{
    static const ip4_addr_t mask = {0xffffffff}, none = {0};
    struct tcp_pcb *listener = tcp_new();
    ip4_addr_t at[SIDES];

    IP4_ADDR(&at[CLIENT], 10, 0, 0, 1);
    IP4_ADDR(&at[SERVER], 10, 0, 0, 2);
    for (unsigned i = 0; i < SIDES; i++) {
        netif_add(&side[i], &at[i], &mask, &none, NULL, set_up, ip_input);
        netif_set_up(&side[i]);
    }
    tcp_bind(listener, &at[SERVER], PORT);
    tcp_bind_netif(listener, &side[SERVER]);
    tcp_accept(tcp_listen(listener), accepted);
    for (unsigned c = 0; c < now->connections; c++) {
        struct end *client = &ends[c][CLIENT], *server = &ends[c][SERVER];
        *client = (struct end){.out = pattern + draw(4096), .in = pattern + draw(4096)};
        client->out_bytes = draw(now->bytes + 1);
        client->in_bytes = draw(now->bytes + 1);
        *server = (struct end){.out = client->in, .in = client->out};
        server->out_bytes = client->in_bytes;
        server->in_bytes = client->out_bytes;
        join(client, tcp_new());
        tcp_bind(client->pcb, &at[CLIENT], (u16_t)(1000 + c));
        tcp_bind_netif(client->pcb, &side[CLIENT]);
        tcp_connect(client->pcb, &at[SERVER], PORT, NULL);
    }
}

/* Whether each end has sent and got all. */
static bool all_done(void)
{
    for (unsigned c = 0; c < now->connections; c++)
        for (unsigned i = 0; i < SIDES; i++)
            if (!ends[c][i].said || !ends[c][i].heard || ends[c][i].pcb)
                return false;
    return true;
}

static void step(void)
{
    if (draw(1000) < now->short_of_memory)
        lwip_fail_at = 1 + draw(20);
    deliver();
    for (unsigned c = 0; c < now->connections; c++)
        for (unsigned i = 0; i < SIDES; i++)
            work(&ends[c][i]);
    lwip_pass(STEP_MS, STEP_MS);
}

const char *lossy_run(const struct lossy *l)
{
    uint32_t passed = 0;
    unsigned objects;

    for (unsigned i = 0; i < sizeof(pattern); i++)
        pattern[i] = (uint8_t)(i * 2654435761u >> 13);
    now = l;
    random_state = l->seed * 2 + 1;
    lwip_seed = random_state;
    wrong = NULL;
    lost_in_row = 0;
    memset(ends, 0, sizeof(ends));
    lwip_host_start();
    objects = lwip_objects;
    open_all();
    for (; !wrong && !all_done() && passed < END_MS; passed += STEP_MS)
        step();
    if (passed >= END_MS)
        fault("a connection does not end");
    lwip_fail_at = 0;
    /* The last one to end waits for twice the time that a segment may live. */
    for (passed = 0; !wrong && (tcp_active_pcbs || tcp_tw_pcbs) && passed < 4 * TCP_MSL;
         passed += STEP_MS) {
        deliver();
        lwip_pass(STEP_MS, STEP_MS);
    }
    if (tcp_active_pcbs || tcp_tw_pcbs)
        fault("a connection is left");
    lwip_end_all();
    while (packet_count)
        free(packets[--packet_count].bytes);
    netif_remove(&side[CLIENT]);
    netif_remove(&side[SERVER]);
    if (lwip_objects != objects)
        fault("memory is left");
    return wrong;
}

struct lossy lossy_draw(uint64_t seed)
{
    static const unsigned mtus[] = {576, 1500, 1500, 9000};
    static const uint32_t lengths[] = {0, 100, 20000, STREAM_MAX};
    struct lossy l = {.seed = seed};

    random_state = seed * 2 + 1;
    l.connections = 1 + draw(LOSSY_CONNECTIONS);
    l.bytes = lengths[draw(4)];
    l.loss = draw(3) * draw(40);
    l.twice = draw(2) * draw(50);
    l.wrong = draw(2) * draw(50);
    l.delay_ms = draw(3) * draw(100);
    l.jitter_ms = draw(3) * draw(50);
    l.mtu = mtus[draw(4)];
    l.refuse = draw(2) * draw(100);
    l.short_of_memory = draw(4) ? 0 : draw(20);
    return l;
}
