/* See lz.h. */
#include "apps/workloads/phases/lz.h"
#include <stdbool.h>
#include <string.h>

enum { LITERALS_MAX = 128, CHAIN_MAX = 16 };

size_t lz_bound(size_t bytes)
{
    return bytes + (bytes + LITERALS_MAX - 1) / LITERALS_MAX;
}

static unsigned hash_at(const uint8_t *in)
{
    uint32_t word;

    memcpy(&word, in, sizeof word);
    return word * 0x9e3779b1u >> (32 - LZ_HASH_BITS);
}

static void remember(struct lz_tables *tables, const uint8_t *in, size_t at)
{
    unsigned hash = hash_at(in + at);

    tables->previous[at % LZ_WINDOW] = tables->head[hash];
    tables->head[hash] = (uint32_t)at + 1;
}

static size_t match_length(const uint8_t *a, const uint8_t *b, size_t most)
{
    size_t n = 0;

    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* Finds the longest match among the nearest candidates; 0: none long enough. */
static size_t find_match(const struct lz_tables *tables, const uint8_t *in, size_t at, size_t bytes,
                         size_t *distance)
{
    size_t most = bytes - at < LZ_MATCH_MAX ? bytes - at : LZ_MATCH_MAX, best = LZ_MATCH_MIN - 1;
    uint32_t candidate = tables->head[hash_at(in + at)];

    for (unsigned i = 0; i < CHAIN_MAX && candidate && at - (candidate - 1) <= LZ_WINDOW; i++) {
        size_t from = candidate - 1, length = match_length(in + from, in + at, most);
        if (length > best) {
            best = length;
            *distance = at - from;
        }
        candidate = tables->previous[from % LZ_WINDOW];
        /* the window has moved on, and the entry belongs to a later position */
        if (candidate > from)
            break;
    }
    return best >= LZ_MATCH_MIN ? best : 0;
}

static uint8_t *put_literals(uint8_t *out, const uint8_t *literals, size_t count)
{
    while (count) {
        size_t part = count < LITERALS_MAX ? count : LITERALS_MAX;
        *out++ = (uint8_t)(part - 1);
        memcpy(out, literals, part);
        out += part;
        literals += part;
        count -= part;
    }
    return out;
}

static uint8_t *put_match(uint8_t *out, size_t length, size_t distance)
{
    *out++ = (uint8_t)(LITERALS_MAX + length - LZ_MATCH_MIN);
    *out++ = (uint8_t)distance;
    *out++ = (uint8_t)(distance >> 8);
    return out;
}

size_t lz_compress(struct lz_tables *tables, const uint8_t *in, size_t bytes, uint8_t *out)
{
    uint8_t *start = out;
    size_t at = 0, literals = 0; /* literals: where literals begin that are not yet written */

    memset(tables, 0, sizeof *tables);
    while (at + LZ_MATCH_MIN <= bytes) {
        size_t distance = 0, length = find_match(tables, in, at, bytes, &distance);
        if (!length) {
            remember(tables, in, at++);
            continue;
        }
        out = put_literals(out, in + literals, at - literals);
        out = put_match(out, length, distance);
        for (size_t end = at + length; at < end; at++) {
            if (at + LZ_MATCH_MIN <= bytes)
                remember(tables, in, at);
        }
        literals = at;
    }
    return (size_t)(put_literals(out, in + literals, bytes - literals) - start);
}

/* A match may overlap its own output, so it is copied byte by byte from the front. */
static void copy_match(uint8_t *out, size_t distance, size_t length)
{
    for (size_t i = 0; i < length; i++)
        out[i] = out[i - distance];
}

ptrdiff_t lz_decompress(const uint8_t *in, size_t bytes, uint8_t *out, size_t room)
{
    size_t done = 0;

    for (size_t at = 0; at < bytes;) {
        uint8_t control = in[at++];
        bool match = control >= LITERALS_MAX;
        size_t length = (size_t)(match ? control - LITERALS_MAX + LZ_MATCH_MIN : control + 1);
        size_t taken = match ? 2 : length;
        if (taken > bytes - at || length > room - done)
            return -1;
        if (match) {
            size_t distance = in[at] | (size_t)in[at + 1] << 8;
            if (!distance || distance > done)
                return -1;
            copy_match(out + done, distance, length);
        } else {
            memcpy(out + done, in + at, length);
        }
        at += taken;
        done += length;
    }
    return (ptrdiff_t)done;
}
