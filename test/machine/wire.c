/* See wire.h. */
#include <stdlib.h>
#include <string.h>
#include "test/machine/wire.h"

void wire_init(struct wire *w, uint64_t latency_cycles, uint32_t mbps, uint64_t cycle)
{
    *w = (struct wire){.there = true, .latency = latency_cycles * cycle, .mbps = mbps};
    w->cycle = cycle;
    for (unsigned port = 0; port < MACHINE_WIRE_PORTS; port++)
        w->from[port].end = &w->from[port].first;
}

/* ---- Frames on their way --------------------------------------------------------------------- */

/* Returns how long a frame takes to leave. */
static uint64_t length(const struct wire *w, uint32_t bytes)
{
    uint64_t all = MAX(bytes, (uint32_t)MACHINE_WIRE_BYTES_MIN) + MACHINE_WIRE_BYTES_MORE;

    return w->mbps ? all * 8000 * w->cycle / w->mbps : 0;
}

struct wire_frame *wire_send(struct wire *w, unsigned port, uint64_t now, uint32_t bytes)
{
    struct wire_direction *d = &w->from[port];
    struct wire_frame *f = calloc(1, sizeof(*f) + bytes);

    if (!f)
        return NULL;
    f->bytes = bytes;
    f->leaves = d->free = MAX(now, d->free) + length(w, bytes);
    d->busy += length(w, bytes);
    f->arrives = f->leaves + w->latency;
    *d->end = f;
    d->end = &f->next;
    if (!d->waiting)
        d->waiting = f;
    return f;
}

uint64_t wire_next(const struct wire *w)
{
    uint64_t next = UINT64_MAX;

    for (const struct wire_direction *d = w->from; d < w->from + MACHINE_WIRE_PORTS; d++) {
        if (d->waiting)
            next = MIN(next, d->waiting->leaves);
        if (d->first)
            next = MIN(next, d->first->arrives);
    }
    return next;
}

struct wire_frame *wire_leaving(struct wire *w, unsigned port, uint64_t now)
{
    struct wire_direction *d = &w->from[port];
    struct wire_frame *f = d->waiting;

    if (!f || f->leaves > now)
        return NULL;
    d->waiting = f->next;
    d->left = f->leaves;
    return f;
}

struct wire_frame *wire_arriving(struct wire *w, unsigned port, uint64_t now)
{
    struct wire_direction *d = &w->from[port];
    struct wire_frame *f = d->first;

    if (!f || f == d->waiting || f->arrives > now)
        return NULL;
    d->first = f->next;
    if (!d->first)
        d->end = &d->first;
    return f;
}

void wire_forget(struct wire *w, unsigned port)
{
    struct wire_direction *d = &w->from[port];
    struct wire_frame *f = d->waiting, *next;

    d->end = &d->first;
    while (*d->end != f)
        d->end = &(*d->end)->next;
    *d->end = NULL;
    for (; f; f = next) {
        next = f->next;
        free(f);
    }
    d->waiting = NULL;
    d->free = d->left;
}

/* ---- What frames are ------------------------------------------------------------------------- */

#define ETHERNET 14 /* bytes of its header */
#define IP_LEAST 20
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };

struct packet {
    const uint8_t *ip;
    unsigned header, bytes; /* of its header; of all, within the frame */
    bool whole;             /* not a fragment */
};

static unsigned get16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static bool find_packet(const uint8_t *frame, uint32_t bytes, struct packet *p)
{
    const uint8_t *ip = frame + ETHERNET;

    if (bytes < ETHERNET + IP_LEAST || get16(frame + 12) != 0x0800 || ip[0] >> 4 != 4)
        return false;
    *p = (struct packet){.ip = ip, .header = (ip[0] & 15u) * 4, .bytes = get16(ip + 2)};
    p->whole = !(get16(ip + 6) & 0x3fff);
    return p->header >= IP_LEAST && p->bytes >= p->header && p->bytes <= bytes - ETHERNET;
}

uint32_t wire_hash(const uint8_t *key, const uint8_t *bytes, size_t n)
{
    uint32_t hash = 0;

    for (size_t bit = 0; bit < 8 * n; bit++) {
        if (!(bytes[bit / 8] & 0x80 >> bit % 8))
            continue;
        for (size_t k = 0; k < 32; k++) {
            size_t at = bit + k;
            hash ^= (uint32_t)(key[at / 8] >> (7 - at % 8) & 1) << (31 - k);
        }
    }
    return hash;
}

bool wire_hash_frame(const uint8_t *key, const uint8_t *frame, uint32_t bytes, uint32_t *hash)
{
    struct packet p;
    uint8_t tuple[12];
    size_t n = 8;

    *hash = 0;
    if (!find_packet(frame, bytes, &p))
        return false;
    memcpy(tuple, p.ip + 12, 8);
    if (p.whole && p.ip[9] == PROTOCOL_TCP && p.bytes >= p.header + 4) {
        memcpy(tuple + 8, p.ip + p.header, 4);
        n = 12;
    }
    *hash = wire_hash(key, tuple, n);
    return true;
}

static uint32_t add_words(uint32_t sum, const uint8_t *at, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    return sum;
}

bool wire_sum_is_right(const uint8_t *frame, uint32_t bytes)
{
    struct packet p;

    if (!find_packet(frame, bytes, &p) || !p.whole)
        return false;
    const uint8_t *segment = p.ip + p.header;
    unsigned protocol = p.ip[9], length = p.bytes - p.header;
    if (protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP)
        return false;
    if (length < (protocol == PROTOCOL_TCP ? 20u : 8u) ||
        (protocol == PROTOCOL_UDP && !get16(segment + 6))) /* without a checksum */
        return false;
    uint32_t sum = add_words(protocol + length, p.ip + 12, 8);
    sum = add_words(sum, segment, length);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}
