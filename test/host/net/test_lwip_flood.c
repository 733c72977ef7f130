/* Floods, in virtual time: others go on, and memory stays bounded. */
#include "test/host/double/expect_panic.h"
#include "kernel/net/lwip/frame.h"
#include "lwip/inet_chksum.h"
#include "lwip/ip.h"
#include "lwip/priv/tcp_priv.h"
#include "test/host/double/lwip_host.h"
#include "test/host/double/random.h"

#define PACKETS    1000000
#define OF_A_MS    100  /* packets */
#define BETWEEN    1000 /* packets, after which others do something */
#define PORT       80
#define HEADERS    40
#define CLIENTS    400
#define FLOODED_MB 2 /* what lwIP has at most */

static struct netif wire;
static uint64_t seed;
static struct tcp_pcb *clients[CLIENTS], *servers[CLIENTS];
static struct pbuf *held; /* received, and not read */
static unsigned accepted_count, connected_count, failed, echoes;
static struct {
    uint32_t seq, ack;
    unsigned flags;
    uint16_t port; /* of the peer */
} last;            /* sent over the wire */

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
    uint8_t k[HEADERS] = {0};

    (void)n, (void)to;
    pbuf_copy_partial(p, k, sizeof(k), 0);
    last.flags = k[33];
    last.seq = get32(k + 24);
    last.ack = get32(k + 28);
    last.port = (uint16_t)(k[22] << 8 | k[23]);
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

static void arrive(const uint8_t *bytes, size_t n)
{
    struct pbuf *p = lwip_received(bytes, n);

    if (wire.input(p, &wire) != ERR_OK)
        pbuf_free(p);
}

/* A segment to PORT. */
static void segment(uint32_t from_ip, uint16_t from_port, unsigned flags, uint32_t seq,
                    uint32_t ack)
{
    uint8_t k[HEADERS] = {0x45, 0, 0, HEADERS, 0, 0, 0, 0, 64, 6, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};

    put32(k + 12, from_ip);
    k[20] = (uint8_t)(from_port >> 8);
    k[21] = (uint8_t)from_port;
    k[23] = PORT;
    put32(k + 24, seq);
    put32(k + 28, ack);
    k[32] = 0x50;
    k[33] = (uint8_t)flags;
    k[34] = k[35] = 0xff;
    arrive(k, sizeof(k));
}

/* From anywhere but this host's network. */
static void flood_syn(void)
{
    uint64_t random = test_random(&seed);

    segment(0x20000000 | (random >> 8 & 0xfffffff), (uint16_t)(random >> 40), TCP_SYN,
            (uint32_t)(random >> 16), 0);
}

/* ---- Others ---------------------------------------------------------------------------------- */

static err_t echo(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg, (void)err;
    if (!p) {
        tcp_close(pcb);
        return ERR_OK;
    }
    tcp_recved(pcb, p->tot_len);
    tcp_write(pcb, "y", 1, TCP_WRITE_FLAG_COPY);
    tcp_output(pcb);
    pbuf_free(p);
    return ERR_OK;
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg;
    if (err != ERR_OK || !pcb)
        return ERR_MEM;
    servers[accepted_count++ % CLIENTS] = pcb;
    tcp_recv(pcb, echo);
    return ERR_OK;
}

static err_t answered(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg, (void)pcb, (void)err;
    echoes += p != NULL;
    if (p)
        pbuf_free(p);
    return ERR_OK;
}

static err_t hold(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)arg, (void)pcb, (void)err;
    if (held && p)
        pbuf_cat(held, p);
    else
        held = p;
    return ERR_OK;
}

static void let_go(void)
{
    while (held) {
        struct pbuf *next = pbuf_dechain(held);
        tcp_recved(clients[0], held->len);
        pbuf_free(held);
        held = next;
    }
}

static err_t connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg, (void)pcb, (void)err;
    connected_count++;
    return ERR_OK;
}

static void lost(void *arg, err_t err)
{
    (void)arg;
    failed += err != ERR_CLSD;
}

static struct tcp_pcb *open_one(void)
{
    struct tcp_pcb *pcb = tcp_new();
    ip_addr_t to;

    IP4_ADDR(&to, 127, 0, 0, 1);
    tcp_err(pcb, lost);
    tcp_recv(pcb, answered);
    tcp_connect(pcb, &to, PORT, connected);
    netif_poll_all();
    return pcb;
}

static void ask(struct tcp_pcb *pcb)
{
    unsigned before = echoes;

    assert_int_equal(tcp_write(pcb, "x", 1, TCP_WRITE_FLAG_COPY), ERR_OK);
    tcp_output(pcb);
    netif_poll_all();
    assert_int_equal(echoes, before + 1);
}

static void begin(void)
{
    static const ip4_addr_t none = {0};
    struct tcp_pcb *listener;
    ip4_addr_t at, mask;

    lwip_host_start();
    lwip_end_all();
    seed = 7;
    accepted_count = connected_count = failed = echoes = 0;
    IP4_ADDR(&at, 10, 0, 0, 1);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    netif_add(&wire, &at, &mask, &none, NULL, set_up, ip_input);
    netif_set_up(&wire);
    netif_set_default(&wire);
    listener = tcp_new();
    tcp_bind(listener, IP_ADDR_ANY, PORT);
    listener = tcp_listen(listener);
    tcp_accept(listener, accepted);
    lwip_bytes_max = 0;
}

static void finish(unsigned objects)
{
    assert_int_equal(failed, 0);
    lwip_end_all();
    netif_remove(&wire);
    assert_int_equal(lwip_objects, objects);
}

/* ---- Floods ---------------------------------------------------------------------------------- */

/* Packet i of a flood arrives; time passes. */
static void step(unsigned i, void (*packet)(void))
{
    packet();
    if (i % OF_A_MS == 0)
        lwip_pass(1, 1);
}

static void connections_begin_and_go_on_in_a_flood_of_syns(UNUSED void **state)
{
    unsigned objects = lwip_objects, opened = 0;
    struct tcp_pcb *old;

    begin();
    old = open_one();
    for (unsigned i = 0; i < PACKETS; i++) {
        step(i, flood_syn);
        if (i % BETWEEN)
            continue;
        ask(old);
        struct tcp_pcb *new = open_one();
        assert_int_equal(connected_count, ++opened + 1);
        ask(new);
        tcp_close(new);
        netif_poll_all();
    }
    assert_true(lwip_bytes_max < FLOODED_MB * MIB);
    finish(objects);
}

static void a_client_from_outside_comes_in_in_a_flood_of_syns(UNUSED void **state)
{
    unsigned objects = lwip_objects;
    const uint32_t ip = 0x30000001;

    begin();
    for (unsigned i = 0; i < PACKETS / 10; i++) {
        step(i, flood_syn);
        if (i % BETWEEN)
            continue;
        uint16_t port = (uint16_t)(1000 + i / BETWEEN);
        unsigned before = accepted_count;
        segment(ip, port, TCP_SYN, 77, 0);
        assert_int_equal(last.flags, TCP_SYN | TCP_ACK);
        assert_int_equal(last.port, port);
        segment(ip, port, TCP_ACK, 78, last.seq + 1);
        assert_int_equal(accepted_count, before + 1);
        segment(ip, port, TCP_RST, 78, 0);
    }
    finish(objects);
}

/* Guessed cookies open nothing. */
static void flood_ack(void)
{
    uint64_t random = test_random(&seed);

    segment(0x20000000 | (random >> 8 & 0xfffffff), (uint16_t)(random >> 40), TCP_ACK,
            (uint32_t)(random >> 16), (uint32_t)random);
}

static void a_flood_of_acks_opens_nothing(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    begin();
    for (unsigned i = 0; i < 2 * TCP_HALF_OPEN_MAX; i++)
        flood_syn();
    for (unsigned i = 0; i < PACKETS; i++)
        step(i, flood_ack);
    assert_true(accepted_count <= 1); /* the chance of each is 1 of 2^28 */
    finish(objects);
}

/* The first part of a packet whose others never come. */
static const uint8_t *piece(void)
{
    static uint8_t k[14 + HEADERS] = {2, 0, 0,    0, 0, 1,       2,  0, 0,    0, 0,  2,
                                      8, 0, 0x45, 0, 0, HEADERS, 0,  0, 0x20, 0, 64, 17,
                                      0, 0, 0,    0, 0, 0,       10, 0, 0,    1};
    uint64_t random = test_random(&seed);

    put32(k + 14 + 12, 0x20000000 | (random >> 8 & 0xfffffff));
    k[14 + 20 + 4] = 4; /* UDP: 1,024 bytes in all */
    k[14 + 4] = (uint8_t)random;
    k[14 + 5] = (uint8_t)(random >> 40);
    return k;
}

static void flood_piece(void)
{
    arrive(piece() + 14, HEADERS);
}

static void connections_go_on_in_a_flood_of_fragments(UNUSED void **state)
{
    unsigned objects = lwip_objects;
    struct tcp_pcb *old;

    begin();
    old = open_one();
    for (unsigned i = 0; i < PACKETS; i++) {
        step(i, flood_piece);
        assert_true(lwip_objects - objects < 300);
        if (i % BETWEEN == 0)
            ask(old);
    }
    assert_true(lwip_bytes_max < FLOODED_MB * MIB);
    finish(objects);
}

static void fragments_are_dropped_before_lwip_where_none_are_wanted(UNUSED void **state)
{
    const uint8_t *k = piece();

    assert_int_equal(net_frame_check(k, 14 + HEADERS, 14 + HEADERS, false), FRAME_FRAGMENT);
    assert_int_equal(net_frame_check(k, 14 + HEADERS, 14 + HEADERS, true), FRAME_ACCEPTED);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define LIMIT (200 * KIB)

static unsigned client_count;

/* More connections begin than fit. */
static void use_up(void)
{
    begin();
    lwip_limit = lwip_bytes + LIMIT;
    for (client_count = 0; client_count < CLIENTS; client_count++) {
        clients[client_count] = tcp_new();
        if (!clients[client_count])
            break;
        tcp_abort(clients[client_count]);
        clients[client_count] = open_one();
    }
    assert_in_range(client_count, 50, CLIENTS - 1);
    while (client_count > connected_count) /* they did not fit */
        tcp_abort(clients[--client_count]);
    failed = 0;
}

static void free_all(unsigned objects)
{
    assert_true(lwip_bytes_max <= lwip_limit + 4 * KIB);
    lwip_limit = SIZE_MAX;
    finish(objects);
}

static void what_is_connected_goes_on_when_memory_is_short(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    use_up();
    for (unsigned i = 0; i < PACKETS / 10; i++)
        step(i, flood_syn);
    for (unsigned i = 0; i < client_count; i++)
        ask(clients[i]);
    free_all(objects);
}

/* One whose program reads nothing, and many that send to it. */
static void data_that_is_not_read_leaves_room_for_others(UNUSED void **state)
{
    static uint8_t data[8192];
    unsigned objects = lwip_objects, n;

    use_up();
    n = client_count;
    tcp_recv(clients[0], hold);
    for (unsigned i = 0; i < 100; i++) {
        if (tcp_write(servers[0], data, sizeof(data), 0) == ERR_OK)
            tcp_output(servers[0]);
        lwip_pass(50, 10);
    }
    assert_true(lwip_bytes > LIMIT * 3 / 4);
    for (unsigned i = 1; i < n; i++) {
        ask(clients[i]);
        lwip_pass(100, 10); /* its ACK is delayed */
    }
    for (unsigned i = 0; i < 100; i++) { /* it reads again */
        let_go();
        lwip_pass(1000, 10);
    }
    assert_int_equal(tcp_sndqueuelen(servers[0]), 0);
    free_all(objects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_begin_and_go_on_in_a_flood_of_syns),
        cmocka_unit_test(a_client_from_outside_comes_in_in_a_flood_of_syns),
        cmocka_unit_test(a_flood_of_acks_opens_nothing),
        cmocka_unit_test(connections_go_on_in_a_flood_of_fragments),
        cmocka_unit_test(fragments_are_dropped_before_lwip_where_none_are_wanted),
        cmocka_unit_test(what_is_connected_goes_on_when_memory_is_short),
        cmocka_unit_test(data_that_is_not_read_leaves_room_for_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
