/* Half-open connections, and first numbers. See half_open.h. */
#include "kernel/net/lwip/half_open.h"
#include "kernel/net/lwip/cookie.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/sys.h"

#define TF_HALF_OPEN      0x2000u    /* beside lwIP's own flags: it is counted */
#define COOKIES_FOR_MS    (2u << 16) /* cookies come back for that long */
#define NUMBERS_PER_MS    250        /* RFC 9293, 3.4.1 */
#define NUMBERS_OF_A_LIFE 1024       /* a short connection may begin again in the same ms */

static unsigned half_open;
static struct siphash_key key;
static bool has_key;
static bool sent_cookies;
static u32_t last_cookie_ms;
static bool opens; /* by `opening` */
static uint32_t opening;
static uint32_t lives;

static const struct siphash_key *secret(void)
{
    if (!has_key)
        for (unsigned i = 0; i < ARRAY_SIZE(key.word); i++)
            key.word[i] = (uint64_t)LWIP_RAND() << 32 | LWIP_RAND();
    has_key = true;
    return &key;
}

void tcp_half_open_begin(struct tcp_pcb *pcb)
{
    tcp_set_flags(pcb, TF_HALF_OPEN);
    half_open++;
}

void tcp_half_open_end(struct tcp_pcb *pcb)
{
    half_open -= !!(pcb->flags & TF_HALF_OPEN);
    tcp_clear_flags(pcb, TF_HALF_OPEN);
}

bool tcp_half_open_is_full(void)
{
    return half_open >= TCP_HALF_OPEN_MAX && !opens;
}

uint32_t tcp_cookie(const struct demux_ends *e, uint32_t first, uint32_t segment)
{
    sent_cookies = true;
    last_cookie_ms = sys_now();
    return cookie_make(secret(), e, first, segment, last_cookie_ms);
}

uint16_t tcp_cookie_segment(const struct demux_ends *e, uint32_t first, uint32_t cookie)
{
    if (!sent_cookies)
        return 0;
    sent_cookies = sys_now() - last_cookie_ms < COOKIES_FOR_MS;
    return sent_cookies ? cookie_check(secret(), e, first, cookie, sys_now()) : 0;
}

void tcp_cookie_begin(uint32_t cookie)
{
    opens = true;
    opening = cookie;
}

bool tcp_cookie_opens(void)
{
    return opens;
}

void tcp_cookie_end(void)
{
    opens = false;
}

uint32_t tcp_isn(uint32_t own_ip, uint16_t own_port, uint32_t remote_ip, uint16_t remote_port)
{
    const uint64_t words[] = {(uint64_t)remote_ip << 32 | own_ip,
                              (uint64_t)remote_port << 16 | own_port};

    if (opens)
        return opening;
    return (uint32_t)siphash(secret(), words, ARRAY_SIZE(words)) + sys_now() * NUMBERS_PER_MS +
           lives++ * NUMBERS_OF_A_LIFE;
}
