/* connections.c under lwIP: many connections over loopback, in virtual time. */
#include "test/host/double/expect_panic.h"
#include "lwip/priv/tcp_priv.h"
#include "test/host/double/lwip_host.h"

#define PORT    80
#define MANY    10000
#define PORTS   0x8000
#define STEP_MS 10

static struct tcp_pcb *clients[2 * PORTS], *servers[2 * PORTS];
static unsigned accepted_count, failed, got;

static err_t receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    (void)err;
    if (!p) {
        tcp_close(pcb);
        return ERR_OK;
    }
    got += pcb == servers[(uintptr_t)arg];
    pbuf_free(p);
    return ERR_OK;
}

static void lost(void *arg, err_t err)
{
    (void)arg;
    failed += err != ERR_CLSD;
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t err)
{
    (void)arg, (void)err;
    servers[accepted_count] = pcb;
    tcp_arg(pcb, (void *)(uintptr_t)accepted_count++);
    tcp_recv(pcb, receive);
    return ERR_OK;
}

static struct tcp_pcb *listener;

static void begin(void)
{
    lwip_host_start();
    lwip_end_all();
    accepted_count = failed = got = 0;
    listener = tcp_new();
    assert_int_equal(tcp_bind(listener, IP_ADDR_ANY, PORT), ERR_OK);
    listener = tcp_listen(listener);
    tcp_accept(listener, accepted);
}

static void finish(unsigned objects)
{
    lwip_end_all();
    assert_int_equal(lwip_objects, objects);
}

/* Connects to 127.0.0.`host`. */
static err_t connect_to(unsigned host, struct tcp_pcb **made)
{
    ip_addr_t to;
    struct tcp_pcb *pcb = tcp_new();
    err_t err;

    IP4_ADDR(&to, 127, 0, 0, host);
    tcp_err(pcb, lost);
    err = tcp_connect(pcb, &to, PORT, NULL);
    if (err != ERR_OK)
        tcp_abort(pcb);
    if (made)
        *made = pcb;
    netif_poll_all();
    return err;
}

static unsigned due(void)
{
    unsigned n = 0;

    tcp_turn();
    while (tcp_next_due())
        n++;
    return n;
}

static void each_of_many_connections_is_found(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    begin();
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(connect_to(1, &clients[i]), ERR_OK);
    assert_int_equal(accepted_count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(servers[i]->remote_port, clients[i]->local_port);
        assert_int_equal(tcp_write(clients[i], "x", 1, TCP_WRITE_FLAG_COPY), ERR_OK);
        tcp_output(clients[i]);
        netif_poll_all();
        assert_int_equal(got, i + 1);
    }
    finish(objects);
}

static void timers_look_at_no_connection_that_rests(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    begin();
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(connect_to(1, &clients[i]), ERR_OK);
    lwip_pass(1000, STEP_MS);
    assert_int_equal(due(), 0);
    tcp_write(clients[7], "x", 1, TCP_WRITE_FLAG_COPY);
    assert_int_equal(due(), 1);
    tcp_output(clients[7]);
    netif_poll_all();
    assert_int_equal(due(), 2); /* an answer's ACK is delayed */
    lwip_pass(1000, STEP_MS);
    assert_int_equal(due(), 0);
    finish(objects);
}

static void timers_look_at_a_connection_that_rests_and_is_to_be_kept_alive(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    begin();
    assert_int_equal(connect_to(1, &clients[0]), ERR_OK);
    lwip_pass(1000, STEP_MS);
    ip_set_option(clients[0], SOF_KEEPALIVE);
    tcp_due(clients[0]);
    assert_int_equal(due(), 1);
    finish(objects);
}

static void a_port_leads_to_several_places(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    begin();
    for (unsigned i = 0; i < PORTS; i++)
        assert_int_equal(connect_to(1, NULL), ERR_OK);
    assert_int_equal(connect_to(1, NULL), ERR_BUF);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(connect_to(2, NULL), ERR_OK); /* none is there to answer */
    finish(objects);
}

static void a_port_that_is_bound_is_not_given_to_others(UNUSED void **state)
{
    unsigned objects = lwip_objects;
    struct tcp_pcb *bound = tcp_new();
    struct tcp_pcb *other = tcp_new();

    begin();
    assert_int_equal(tcp_bind(bound, IP_ADDR_ANY, 50000), ERR_OK);
    assert_false(tcp_port_is_free(50000, other));
    assert_false(tcp_port_is_free(50000, NULL));
    assert_true(tcp_port_is_free(50001, NULL));
    assert_int_equal(tcp_bind(other, IP_ADDR_ANY, 50000), ERR_USE);
    tcp_abort(other);
    finish(objects);
}

static void instances_draw_different_ports(UNUSED void **state)
{
    static bool drawn[PORTS];
    uint16_t port = 0x8000;

    for (unsigned number = 0; number < 8; number++) {
        tcp_share_ports(number, 8);
        for (unsigned i = 0; i < PORTS / 8; i++) {
            port = tcp_next_port(port);
            assert_true(port >= 0x8000 && !drawn[port - 0x8000]);
            drawn[port - 0x8000] = true;
        }
    }
    tcp_share_ports(0, 1);
}

/* The one that ends first waits for a minute; its port is of use before. */
static void a_port_of_time_wait_is_used_again_on_the_same_host(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    begin();
    for (unsigned i = 0; i < PORTS + 1000; i++) {
        assert_int_equal(connect_to(1, &clients[0]), ERR_OK);
        assert_int_equal(clients[0]->state, ESTABLISHED);
        tcp_close(clients[0]);
        netif_poll_all();
    }
    assert_int_equal(failed, 0);
    finish(objects);
}

static void time_wait_lasts_for_a_minute(UNUSED void **state)
{
    unsigned objects = lwip_objects;

    begin();
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(connect_to(1, &clients[0]), ERR_OK);
        tcp_close(clients[0]);
        lwip_pass(20000, STEP_MS);
    }
    assert_non_null(tcp_tw_pcbs->next->next);
    lwip_pass(1000, STEP_MS);
    assert_null(tcp_tw_pcbs->next->next);
    assert_non_null(tcp_tw_pcbs->next);
    lwip_pass(20000, STEP_MS);
    assert_null(tcp_tw_pcbs->next);
    finish(objects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_many_connections_is_found),
        cmocka_unit_test(timers_look_at_no_connection_that_rests),
        cmocka_unit_test(timers_look_at_a_connection_that_rests_and_is_to_be_kept_alive),
        cmocka_unit_test(a_port_leads_to_several_places),
        cmocka_unit_test(a_port_that_is_bound_is_not_given_to_others),
        cmocka_unit_test(instances_draw_different_ports),
        cmocka_unit_test(a_port_of_time_wait_is_used_again_on_the_same_host),
        cmocka_unit_test(time_wait_lasts_for_a_minute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
