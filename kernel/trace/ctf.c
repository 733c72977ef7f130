/* See ctf.h: packets. */
#include "kernel/trace/ctf.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are");

#define HEADER_BYTES_OF_EVENT sizeof(struct ctf_event_header)
#define PACKET_ALIGN          8
#define BITS                  8

static const uint8_t kind_bytes[CTF_KINDS] = {
    [CTF_U8] = 1, [CTF_U16] = 2, [CTF_U32] = 4, [CTF_U64] = 8, [CTF_S32] = 4, [CTF_HEX] = 8};

static uint8_t *put_value(uint8_t *at, const void *value, size_t bytes)
{
    memcpy(at, value, bytes);
    return at + bytes;
}

static uint8_t *put_u32(uint8_t *at, uint32_t v)
{
    return put_value(at, &v, sizeof(v));
}

static uint8_t *put_u64(uint8_t *at, uint64_t v)
{
    return put_value(at, &v, sizeof(v));
}

/* Returns the text, or "-" for an empty one, which babeltrace2 2.0.4 shows as the text before
 * it. */
static const char *text_of(uint64_t value)
{
    const char *s = (const char *)(uintptr_t)value;

    return *s ? s : "-";
}

static uint32_t text_bytes(uint64_t value)
{
    const char *s = text_of(value);
    uint32_t n = 0;

    while (n < CTF_TEXT_MAX && s[n])
        n++;
    return n;
}

/* Writes a text with '?' for unprintable characters. */
static uint8_t *put_text(uint8_t *at, uint64_t value)
{
    const char *s = text_of(value);

    for (uint32_t n = text_bytes(value); n; n--, s++)
        *at++ = *s >= ' ' && *s <= '~' ? (uint8_t)*s : '?';
    *at++ = '\0';
    return at;
}

static uint32_t event_bytes(const struct ctf_field *f, const uint64_t *values)
{
    uint32_t bytes = (uint32_t)HEADER_BYTES_OF_EVENT;

    for (; f->name; f++, values++)
        bytes += f->kind == CTF_TEXT ? text_bytes(*values) + 1 : kind_bytes[f->kind];
    return bytes;
}

void ctf_begin(struct ctf_packet *p, void *memory, uint32_t size, uint64_t now)
{
    *p = (struct ctf_packet){
        .at = memory, .size = size, .used = CTF_HEADER_BYTES, .begin = now, .end = now};
}

bool ctf_put(struct ctf_packet *p, const struct ctf_event *types, unsigned id, uint64_t now,
             const uint64_t *values)
{
    const struct ctf_field *f = types[id].fields;
    uint32_t bytes = event_bytes(f, values);

    if (bytes > p->size - p->used)
        return false;
    uint8_t *at = p->at + p->used;
    *at++ = (uint8_t)id;
    at = put_u64(at, now);
    for (; f->name; f++, values++)
        at = f->kind == CTF_TEXT ? put_text(at, *values)
                                 : put_value(at, values, kind_bytes[f->kind]);
    p->end = now;
    p->events++;
    p->used += bytes;
    return true;
}

uint32_t ctf_fields_bytes(const struct ctf_event *type)
{
    uint32_t bytes = 0;

    for (const struct ctf_field *f = type->fields; f->name; f++) {
        ASSERT(f->kind != CTF_TEXT);
        bytes += kind_bytes[f->kind];
    }
    return bytes;
}

/* Pads to a multiple of 8. The packet's memory has room if its size is such a multiple. */
static uint32_t pad(uint8_t *packet, uint32_t used)
{
    while (used % PACKET_ALIGN)
        packet[used++] = 0;
    return used;
}

uint32_t ctf_end(struct ctf_packet *p, uint64_t now, const struct ctf_context *c)
{
    uint32_t bytes = pad(p->at, p->used);
    uint8_t *at = put_u32(p->at, CTF_MAGIC);

    p->end = now;
    at = put_value(at, c->uuid, CTF_UUID_BYTES);
    at = put_u32(at, 0); /* stream_id */
    at = put_u64(at, p->begin);
    at = put_u64(at, p->end);
    at = put_u64(at, (uint64_t)p->used * BITS);
    at = put_u64(at, (uint64_t)bytes * BITS);
    at = put_u64(at, c->sequence);
    at = put_u64(at, c->discarded);
    at = put_u32(at, c->cpu);
    ASSERT(at == p->at + CTF_HEADER_BYTES);
    return bytes;
}

uint32_t ctf_metadata(void *memory, const uint8_t *uuid, const char *text, uint32_t bytes)
{
    /* compression, encryption, checksum: none; version */
    static const uint8_t plain_1_8[] = {0, 0, 0, 1, 8};
    uint8_t *packet = memory;
    uint32_t used = CTF_METADATA_HEADER_BYTES + bytes, size = ALIGN_UP(used, PACKET_ALIGN);
    uint8_t *at = put_u32(packet, CTF_METADATA_MAGIC);

    at = put_value(at, uuid, CTF_UUID_BYTES);
    at = put_u32(at, 0); /* checksum */
    at = put_u32(at, used * BITS);
    at = put_u32(at, size * BITS);
    at = put_value(at, plain_1_8, sizeof(plain_1_8));
    ASSERT(at == packet + CTF_METADATA_HEADER_BYTES);
    put_value(at, text, bytes);
    return pad(packet, used);
}
