/*
 * A compressor of the LZ77 family (Ziv and Lempel, "A universal algorithm for sequential data
 * compression", 1977): matches within a window, found by chains of positions with the same hash.
 *
 * Format: a control byte c, then what it announces. c < 128: c + 1 literal bytes; else a match of
 * c - 128 + LZ_MATCH_MIN bytes at a distance, 1..LZ_WINDOW, of two bytes, low byte first. Pure.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    LZ_HASH_BITS = 14,
    LZ_WINDOW = 1 << 15,
    LZ_MATCH_MIN = 4,
    LZ_MATCH_MAX = 127 + LZ_MATCH_MIN
};

/* Where each hash was last seen, and for each position of the window where its hash was seen
 * before: position + 1, or 0. */
struct lz_tables {
    uint32_t head[1 << LZ_HASH_BITS];
    uint32_t previous[LZ_WINDOW];
};

/* Room that bytes take at most when compressed. */
size_t lz_bound(size_t bytes);

/* bytes of in, less than 2^31, into out, which has room for lz_bound(bytes); the tables may hold
 * anything. Bytes written. */
size_t lz_compress(struct lz_tables *tables, const uint8_t *in, size_t bytes, uint8_t *out);

/* Any bytes may be given. Bytes written, at most room; -1 when in is not what lz_compress wrote,
 * or does not fit. */
ptrdiff_t lz_decompress(const uint8_t *in, size_t bytes, uint8_t *out, size_t room);
