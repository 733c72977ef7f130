/* See lwip_host.h. */
#include "lwip_host.h"
#include <malloc.h>
#include <stdio.h>
#include "kernel/net/lwip/room.h"
#include "lwip/init.h"
#include "lwip/ip4_frag.h"
#include "lwip/netif.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/timeouts.h"
#include "test/host/double/random.h"

uint32_t lwip_sys_now;
uint64_t lwip_seed = 1;
unsigned lwip_objects, lwip_fail_at;
size_t lwip_bytes, lwip_bytes_max, lwip_limit = SIZE_MAX;

static bool fails(size_t bytes)
{
    return (lwip_fail_at && !--lwip_fail_at) || !net_has_room(lwip_limit, lwip_bytes, bytes);
}

static void *count(void *p)
{
    if (p) {
        lwip_objects++;
        lwip_bytes += malloc_usable_size(p);
        lwip_bytes_max = MAX(lwip_bytes_max, lwip_bytes);
    }
    return p;
}

void *lwip_malloc(size_t bytes)
{
    return count(fails(bytes) ? NULL : malloc(bytes));
}

void *lwip_calloc(size_t n, size_t bytes)
{
    return count(fails(n * bytes) ? NULL : calloc(n, bytes));
}

bool lwip_is_short(void)
{
    return net_is_short(lwip_limit, lwip_bytes);
}

void lwip_free(void *p)
{
    if (p) {
        lwip_objects--;
        lwip_bytes -= malloc_usable_size(p);
    }
    free(p);
}

uint32_t lwip_random(void)
{
    return (uint32_t)(test_random(&lwip_seed) >> 32);
}

void lwip_dhcp_option(unsigned option, unsigned bytes, const struct pbuf *p, unsigned at)
{
    (void)option;
    (void)bytes;
    (void)p;
    (void)at;
}

void lwip_refused(const struct pbuf *p)
{
    (void)p;
}

struct udp_pcb *udp_receiver_of(struct udp_pcb *pcb, unsigned ip, unsigned port)
{
    (void)ip;
    (void)port;
    return pcb;
}

uint32_t sys_now(void)
{
    return lwip_sys_now;
}

#ifdef DEBUG
void lwip_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: lwIP: %s\n", file, line, what);
    abort();
}
#endif

void lwip_host_start(void)
{
    static bool started;

    if (!started)
        lwip_init();
    started = true;
}

void lwip_pass(uint32_t ms, uint32_t step)
{
    for (uint32_t passed = 0; passed < ms; passed += step) {
        lwip_sys_now += step;
        sys_check_timeouts();
        netif_poll_all();
    }
}

void lwip_end_all(void)
{
    while (tcp_active_pcbs)
        tcp_abandon(tcp_active_pcbs, 0);
    while (tcp_tw_pcbs)
        tcp_abandon(tcp_tw_pcbs, 0);
    while (tcp_bound_pcbs)
        tcp_abandon(tcp_bound_pcbs, 0);
    while (tcp_listen_pcbs.listen_pcbs)
        tcp_close((struct tcp_pcb *)tcp_listen_pcbs.listen_pcbs);
    netif_poll_all();
    /* The timer of TCP ends when it finds no connection; pieces of packets are given up. */
    lwip_pass((IP_REASS_MAXAGE + 2) * IP_TMR_INTERVAL, IP_TMR_INTERVAL);
}

struct received {
    struct pbuf_custom custom;
    void *bytes;
};

static void free_received(struct pbuf *p)
{
    struct received *r = (struct received *)p;

    free(r->bytes);
    free(r);
    lwip_objects--;
}

struct pbuf *lwip_received(const void *bytes, size_t n)
{
    struct received *r = malloc(sizeof(*r));

    lwip_objects++;
    r->bytes = malloc(n ? n : 1);
    memcpy(r->bytes, bytes, n);
    r->custom.custom_free_function = free_received;
    return pbuf_alloced_custom(PBUF_RAW, (u16_t)n, PBUF_REF, &r->custom, r->bytes, (u16_t)n);
}
