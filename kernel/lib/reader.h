/*
 * Bytes that are read in order, of a table that may be broken. Beyond their end 0 is read, and the
 * reader is bad from then on, so one look at the end of a piece is enough. Numbers are
 * little-endian. LEB128: DWARF 5, 7.6. Pure.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
    const uint8_t *at, *end;
    bool bad; /* it went beyond the end, or a number is too long */
};

/* Takes n bytes. Returns where they are, or NULL if there are fewer or the reader is bad. */
static inline const uint8_t *take(struct reader *r, uint64_t n)
{
    const uint8_t *at = r->at;

    if (r->bad || n > (uint64_t)(r->end - at)) {
        r->bad = true;
        return NULL;
    }
    r->at += n;
    return at;
}

/* Takes a number of n bytes, up to 8. */
static inline uint64_t take_number(struct reader *r, size_t n)
{
    const uint8_t *at = take(r, n);
    uint64_t v = 0;

    for (size_t i = 0; at && i < n; i++)
        v |= (uint64_t)at[i] << 8 * i;
    return v;
}

/* Takes a number of n bytes, 1 to 8, that has a sign. */
static inline int64_t take_signed(struct reader *r, size_t n)
{
    unsigned unused = 64 - 8 * (unsigned)n;

    return (int64_t)(take_number(r, n) << unused) >> unused;
}

static inline uint64_t take_leb(struct reader *r, bool is_signed)
{
    uint64_t v = 0;
    unsigned bit = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)take_number(r, 1);
        if (bit < 64)
            v |= (uint64_t)(byte & 0x7f) << bit;
        bit += 7;
    } while (byte & 0x80 && bit < 70); /* a number of 64 bits has no more bytes */
    r->bad |= byte >> 7;
    if (is_signed && byte & 0x40 && bit < 64)
        v |= UINT64_MAX << bit;
    return v;
}

static inline uint64_t take_uleb(struct reader *r)
{
    return take_leb(r, false);
}

static inline int64_t take_sleb(struct reader *r)
{
    return (int64_t)take_leb(r, true);
}
