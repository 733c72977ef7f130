/*
 * Writes the Common Trace Format, version 1.8 (diamon.org/ctf): packets of events, and the
 * description for readers (TSDL). All data is unaligned and little-endian. Pure: memory, time and
 * tables are the caller's, so that host tests check the output with the format's own reader.
 */
#pragma once
#include "kernel/lib/base.h"

#define CTF_UUID_BYTES 16
#define CTF_TEXT_MAX   96 /* longest text; longer ones are cut off, an empty one is "-" */

enum ctf_kind { CTF_U8, CTF_U16, CTF_U32, CTF_U64, CTF_S32, CTF_HEX, CTF_TEXT, CTF_KINDS };

struct ctf_field {
    const char *name; /* not a keyword of TSDL */
    enum ctf_kind kind;
    /* meanings of the values from 0 on, NULL-terminated; NULL: a number */
    const char *const *names;
};

struct ctf_event {
    const char *name;
    const struct ctf_field *fields; /* ended by name NULL */
};

/* Returns the value that stands for a text in an array of field values. */
static inline uint64_t ctf_text(const char *s)
{
    return (uint64_t)(uintptr_t)s;
}

/* ---- Packets of events ----------------------------------------------------------------------- */
#define CTF_MAGIC        0xc1fc1fc1u
#define CTF_HEADER_BYTES 76 /* packet.header and packet.context */

struct ctf_packet {
    uint8_t *at;
    uint32_t size, used; /* bytes; `used` includes the header */
    uint32_t events;
    uint64_t begin, end; /* time */
};

struct ctf_event_header {
    uint8_t id;
    uint64_t now;
} __attribute__((packed));

/* Begins an empty packet in `memory`, which has `size` bytes, at least CTF_HEADER_BYTES. */
void ctf_begin(struct ctf_packet *p, void *memory, uint32_t size, uint64_t now);
/* Adds an event; values[i] belongs to field i. Times must not decrease. Returns false if there is
 * no room; nothing is changed then. */
bool ctf_put(struct ctf_packet *p, const struct ctf_event *types, unsigned id, uint64_t now,
             const uint64_t *values);
/* As ctf_put, for an event without texts: returns where its fields, which take `bytes` bytes
 * without gaps, are to be written; NULL: there is no room. */
static inline void *ctf_place(struct ctf_packet *p, unsigned id, uint64_t now, uint32_t bytes)
{
    uint8_t *at = p->at + p->used;

    bytes += (uint32_t)sizeof(struct ctf_event_header);
    if (bytes > p->size - p->used)
        return NULL;
    *(struct ctf_event_header *)at = (struct ctf_event_header){(uint8_t)id, now};
    p->end = now;
    p->events++;
    p->used += bytes;
    return at + sizeof(struct ctf_event_header);
}
/* Returns the bytes of the fields of an event without texts. */
uint32_t ctf_fields_bytes(const struct ctf_event *type);
struct ctf_context {
    const uint8_t *uuid;
    uint32_t cpu;
    uint64_t sequence;  /* of this CPU's packets, from 0 */
    uint64_t discarded; /* events discarded by this CPU until the packet's end */
};
/* Writes the header; `now` is the packet's end. Returns the packet's size in bytes, a multiple of
 * 8; the padding is 0. */
uint32_t ctf_end(struct ctf_packet *p, uint64_t now, const struct ctf_context *c);

/* ---- The description ------------------------------------------------------------------------- */
struct ctf_trace {
    const uint8_t *uuid;
    const struct ctf_event *types; /* indexed by event id; ended by name NULL */
    uint64_t clock_hz;
    const char *architecture;
    const char *chips; /* chip of each CPU, in order: "0 0 1 1" */
};
/* Writes the description as far as it fits, always NUL-terminated. Returns the length of the whole
 * description. */
size_t ctf_describe(const struct ctf_trace *t, char *out, size_t size);

#define CTF_METADATA_MAGIC        0x75d11d57u
#define CTF_METADATA_HEADER_BYTES 37
/* Makes a packet of `bytes` bytes of the description in `memory`, which has at least
 * CTF_METADATA_HEADER_BYTES + bytes + 8. Returns its size in bytes, a multiple of 8. */
uint32_t ctf_metadata(void *memory, const uint8_t *uuid, const char *text, uint32_t bytes);
