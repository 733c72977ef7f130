/* See intel_ring.h. */
#include "intel_ring.h"

/* Received: word 0 of what the device writes has the RSS type, word 1 the hash, word 2 extended
 * status and errors, word 3 the length. */
enum {
    RSS_TYPE = 0xf,
    STATUS_DD = 1 << 0,
    STATUS_EOP = 1 << 1,
    STATUS_UDPCS = 1 << 4,
    STATUS_TCPCS = 1 << 5,
};
#define ERROR_CE  (1u << 24)
#define ERROR_SE  (1u << 25)
#define ERROR_SEQ (1u << 26)
#define ERROR_L4E (1u << 29)
#define ERROR_RXE (1u << 31)

void intel_fill_received(volatile struct intel_descriptor *d, paddr_t at)
{
    d->word[0] = (uint32_t)at;
    d->word[1] = (uint32_t)(at >> 32);
    d->word[2] = d->word[3] = 0;
}

bool intel_read_received(const volatile struct intel_descriptor *d, uint32_t room,
                         struct net_frame *out)
{
    uint32_t status = __atomic_load_n(&d->word[2], __ATOMIC_ACQUIRE);

    if (!(status & STATUS_DD))
        return false;
    *out = (struct net_frame){.bytes = d->word[3] & 0xffff, .hash = d->word[1]};
    out->broken = !(status & STATUS_EOP) ||
                  (status & (ERROR_CE | ERROR_SE | ERROR_SEQ | ERROR_RXE)) ||
                  out->bytes < NET_HEADER_BYTES || out->bytes > room;
    if ((status & (STATUS_UDPCS | STATUS_TCPCS)) && !(status & ERROR_L4E))
        out->flags |= NET_CHECKED;
    if (d->word[0] & RSS_TYPE)
        out->flags |= NET_HASHED;
    return true;
}

/* Sent: word 2 has the length, the type and commands, word 3 status and options. */
#define COMMAND_EOP  (1u << 24)
#define COMMAND_IFCS (1u << 25)
#define COMMAND_RS   (1u << 27)
#define COMMAND_DEXT (1u << 29)
#define SENT_DD      (1u << 0)
#define POPTS_TXSM   (1u << 9)

bool intel_was_sent(const volatile struct intel_descriptor *d)
{
    return __atomic_load_n(&d->word[3], __ATOMIC_ACQUIRE) & SENT_DD;
}

static void fill_data(struct intel_descriptor *d, const struct net_send *s, unsigned i,
                      uint32_t type, uint32_t options)
{
    bool last = i + 1 == s->parts;

    d->word[0] = (uint32_t)s->part[i].at;
    d->word[1] = (uint32_t)(s->part[i].at >> 32);
    d->word[2] = s->part[i].bytes | type | COMMAND_DEXT | COMMAND_IFCS |
                 (last ? COMMAND_EOP | COMMAND_RS : 0);
    d->word[3] = options | (s->sum ? POPTS_TXSM : 0);
}

/* ---- 82574 ----------------------------------------------------------------------------------- */

#define DATA_82574 (1u << 20)

static bool fill_context_82574(struct intel_descriptor *d, const struct net_send *s)
{
    unsigned at = s->sum_from + s->sum_at;

    if (s->sum_from > UINT8_MAX || at > UINT8_MAX)
        return false;
    d->word[0] = 0;
    d->word[1] = s->sum_from | at << 8; /* TUCSS, TUCSO; TUCSE 0: to the end */
    d->word[2] = COMMAND_DEXT;
    d->word[3] = 0;
    return true;
}

static void fill_part_82574(struct intel_descriptor *d, const struct net_send *s, unsigned i)
{
    fill_data(d, s, i, DATA_82574, 0);
}

const struct intel_sending intel_82574_sending = {fill_context_82574, fill_part_82574};

/* ---- 82576 ----------------------------------------------------------------------------------- */

#define CONTEXT_82576 (2u << 20)
#define DATA_82576    (3u << 20)
#define TUCMD_TCP     (1u << 11)
#define MACLEN        9
#define PAYLEN        14
#define IPLEN_MAX     511
enum { TCP_SUM_AT = 16, UDP_SUM_AT = 6 };

static bool fill_context_82576(struct intel_descriptor *d, const struct net_send *s)
{
    unsigned ip_bytes = s->sum_from - NET_HEADER_BYTES;

    if (ip_bytes > IPLEN_MAX || (s->sum_at != TCP_SUM_AT && s->sum_at != UDP_SUM_AT))
        return false;
    d->word[0] = ip_bytes | NET_HEADER_BYTES << MACLEN;
    d->word[1] = 0;
    d->word[2] = COMMAND_DEXT | CONTEXT_82576 | (s->sum_at == TCP_SUM_AT ? TUCMD_TCP : 0);
    d->word[3] = 0;
    return true;
}

static void fill_part_82576(struct intel_descriptor *d, const struct net_send *s, unsigned i)
{
    fill_data(d, s, i, DATA_82576, s->bytes << PAYLEN);
}

const struct intel_sending intel_82576_sending = {fill_context_82576, fill_part_82576};
