/* See spe_packets.h. The header of an unknown packet still tells its length, so it is passed over.
 * A header without a length breaks the record; then the next record can be found only where each
 * record begins at a multiple of a fixed size. */
#include "hpm/pmu/arm/spe_packets.h"

enum { PADDING = 0x00, END = 0x01, TIMESTAMP = 0x71 };
enum { ADDRESS_PC = 0, ADDRESS_DATA = 2, ADDRESS_PHYS = 3 };
enum { COUNTER_TOTAL = 0, COUNTER_TRANSLATION = 2 };
enum { CLASS_LOAD_STORE = 1 };

/* Its low bits and another byte are the header. */
#define IS_EXTENDED(header) (((header)&0xfc) == 0x20)
#define HAS_PAYLOAD(header) ((header) >> 6 == 1 || (header) >> 6 == 2)
#define PAYLOAD(header)     ((size_t)1 << ((header) >> 4 & 3))

#define ADDRESS_BITS     56
#define ADDRESS_LEVEL(v) ((uint8_t)((v) >> 61 & 3))

struct packet {
    size_t bytes;   /* including the header */
    uint8_t header; /* of an extended one the second byte */
    bool extended;
    unsigned index; /* of an extended one with two bits of the first byte */
    uint64_t payload;
};

static uint64_t low(uint64_t v, unsigned bits)
{
    return v & (((uint64_t)1 << bits) - 1);
}

/* Returns the address without the bits above, a tag or the exception level; they become like bit
 * 55, as in the processor's translation. */
static uint64_t virtual_address(uint64_t v)
{
    return (uint64_t)((int64_t)(v << (64 - ADDRESS_BITS)) >> (64 - ADDRESS_BITS));
}

/* ---- Packets, by what they are about --------------------------------------------------------- */

static void take_events(const struct packet *p, struct spe_record *out)
{
    out->events = p->payload;
    out->has |= SPE_HAS_EVENTS;
}

static void take_source(const struct packet *p, struct spe_record *out)
{
    out->source = (uint16_t)p->payload;
    out->has |= SPE_HAS_SOURCE;
}

static void take_operation(const struct packet *p, struct spe_record *out)
{
    if ((p->index & 3) != CLASS_LOAD_STORE)
        return;
    out->store = p->payload & 1;
    out->has |= SPE_HAS_ACCESS;
}

static void take_address(const struct packet *p, struct spe_record *out)
{
    switch (p->index) {
    case ADDRESS_PC:
        out->pc = virtual_address(p->payload);
        out->level = ADDRESS_LEVEL(p->payload);
        out->has |= SPE_HAS_PC;
        return;
    case ADDRESS_DATA:
        out->data = virtual_address(p->payload);
        out->has |= SPE_HAS_DATA;
        return;
    case ADDRESS_PHYS:
        out->phys = low(p->payload, ADDRESS_BITS);
        out->has |= SPE_HAS_PHYS;
        return;
    }
}

static void take_counter(const struct packet *p, struct spe_record *out)
{
    if (p->index == COUNTER_TRANSLATION)
        out->translation = (uint16_t)p->payload;
    if (p->index != COUNTER_TOTAL)
        return;
    out->latency = (uint16_t)p->payload;
    out->has |= SPE_HAS_LATENCY;
}

static void take_time(const struct packet *p, struct spe_record *out)
{
    out->time = p->payload;
    out->has |= SPE_HAS_TIME;
}

/* Contexts, branch targets and other counters are not used. Extended headers are defined only for
 * packets with an index in their low three bits. */
enum { INDEXED = 0xf8 };
static const struct {
    uint8_t mask, header;
    void (*take)(const struct packet *p, struct spe_record *out);
} kinds[] = {
    {0xcf, 0x42, take_events},     {0xcf, 0x43, take_source},     {0xfc, 0x48, take_operation},
    {INDEXED, 0xb0, take_address}, {INDEXED, 0x98, take_counter}, {0xff, TIMESTAMP, take_time},
};

static void take_packet(const struct packet *p, struct spe_record *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if ((p->header & kinds[i].mask) == kinds[i].header &&
            (!p->extended || kinds[i].mask == INDEXED))
            kinds[i].take(p, out);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Returns the length of a padding up to the next multiple of 2 to 16: an extended header with a
 * second byte of 0. */
static size_t padding_length(const struct spe_bytes *b, uint8_t first)
{
    size_t multiple = (size_t)2 << (first & 3);

    return MIN(multiple - b->at % multiple, b->size - b->at);
}

/* Reads the packet at b->at, which is before the end. SPE_RECORD stands for a complete packet. */
static enum spe_found read_packet(const struct spe_bytes *b, struct packet *p)
{
    const uint8_t *bytes = b->base + b->at;
    size_t left = b->size - b->at, head = 1;

    *p = (struct packet){.header = bytes[0], .index = bytes[0] & 7, .bytes = 1};
    if (p->header == PADDING || p->header == END)
        return SPE_RECORD;
    if (IS_EXTENDED(p->header)) {
        if (left < ++head)
            return SPE_CUT;
        p->extended = true;
        p->header = bytes[1];
        p->index = (bytes[0] & 3u) << 3 | (bytes[1] & 7);
        p->bytes = padding_length(b, bytes[0]);
        if (p->header == PADDING)
            return SPE_RECORD;
    }
    if (!HAS_PAYLOAD(p->header))
        return SPE_BROKEN;
    p->bytes = head + PAYLOAD(p->header);
    if (p->bytes > left)
        return SPE_CUT;
    for (size_t i = p->bytes; i-- > head;)
        p->payload = p->payload << 8 | bytes[i];
    return SPE_RECORD;
}

/* Passes over the record that began at `start`, which is invalid. */
static enum spe_found pass_over(struct spe_bytes *b, size_t start)
{
    size_t next = b->align >= b->record_max ? (start / b->align + 1) * b->align : b->size;

    b->at = MIN(next, b->size);
    return SPE_BROKEN;
}

static enum spe_found cut_off(struct spe_bytes *b)
{
    b->at = b->size;
    return SPE_CUT;
}

static bool is_last(const struct packet *p)
{
    return !p->extended && (p->header == END || p->header == TIMESTAMP);
}

/* Reads the rest of a record, which begins with packet *p. */
static enum spe_found read_record(struct spe_bytes *b, struct packet *p, struct spe_record *out)
{
    size_t start = b->at;

    for (;;) {
        b->at += p->bytes;
        if (b->at - start > b->record_max)
            return pass_over(b, start);
        take_packet(p, out);
        if (is_last(p))
            return SPE_RECORD;
        enum spe_found found = b->at < b->size ? read_packet(b, p) : SPE_CUT;
        if (found != SPE_RECORD)
            return found == SPE_CUT ? cut_off(b) : pass_over(b, start);
    }
}

enum spe_found spe_next(struct spe_bytes *b, struct spe_record *out)
{
    struct packet p;

    *out = (struct spe_record){.has = 0};
    for (; b->at < b->size; b->at += p.bytes) {
        enum spe_found found = read_packet(b, &p);
        if (found != SPE_RECORD)
            return found == SPE_CUT ? cut_off(b) : pass_over(b, b->at);
        if (p.header != PADDING)
            return read_record(b, &p, out);
    }
    return SPE_NOTHING;
}
