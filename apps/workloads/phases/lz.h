/*
 * A compressor of the LZ77 family (Ziv and Lempel, "A universal algorithm for sequential data
 * compression", 1977): matches within a window, found by chains of positions with the same hash.
 * Pure.
 *
 * Format: a control byte c and its data. c < 128: c + 1 literal bytes follow. Else a match of c -
 * 128 + LZ_MATCH_MIN bytes, at a distance of 1 to LZ_WINDOW in the next two bytes, low byte first.
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

/* The last position of each hash, and for each position of the window the previous one of its hash:
 * position + 1, or 0. */
struct lz_tables {
    uint32_t head[1 << LZ_HASH_BITS];
    uint32_t previous[LZ_WINDOW];
};

/* Returns the largest size of `bytes` bytes when compressed. */
size_t lz_bound(size_t bytes);

/* Compresses `bytes` bytes, less than 2^31, to `out`, which has room for lz_bound(bytes). The
 * tables need no initial value. Returns the bytes written. */
size_t lz_compress(struct lz_tables *tables, const uint8_t *in, size_t bytes, uint8_t *out);

/* Decompresses any bytes. Returns the bytes written, at most `room`; -1 if `in` was not written by
 * lz_compress() or does not fit. */
ptrdiff_t lz_decompress(const uint8_t *in, size_t bytes, uint8_t *out, size_t room);
