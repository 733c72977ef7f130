/* See chacha20.h. */
#include "kernel/lib/chacha20.h"

#define DOUBLE_ROUNDS 10
#define WORDS         (CHACHA20_BLOCK / sizeof(uint32_t))

static uint32_t rotate(uint32_t v, unsigned bits)
{
    return v << bits | v >> (32 - bits);
}

static void quarter_round(uint32_t s[WORDS], unsigned a, unsigned b, unsigned c, unsigned d)
{
    s[a] += s[b];
    s[d] = rotate(s[d] ^ s[a], 16);
    s[c] += s[d];
    s[b] = rotate(s[b] ^ s[c], 12);
    s[a] += s[b];
    s[d] = rotate(s[d] ^ s[a], 8);
    s[c] += s[d];
    s[b] = rotate(s[b] ^ s[c], 7);
}

static void double_round(uint32_t s[WORDS])
{
    for (unsigned i = 0; i < 4; i++)
        quarter_round(s, i, i + 4, i + 8, i + 12);
    for (unsigned i = 0; i < 4; i++)
        quarter_round(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
}

void chacha20_block(const uint32_t key[CHACHA20_KEY_WORDS], uint32_t number,
                    const uint32_t nonce[CHACHA20_NONCE_WORDS], uint8_t out[CHACHA20_BLOCK])
{
    /* "expand 32-byte k" */
    uint32_t first[WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, s[WORDS];

    memcpy(first + 4, key, CHACHA20_KEY_WORDS * sizeof(*key));
    first[12] = number;
    memcpy(first + 13, nonce, CHACHA20_NONCE_WORDS * sizeof(*nonce));
    memcpy(s, first, sizeof(s));
    for (unsigned i = 0; i < DOUBLE_ROUNDS; i++)
        double_round(s);
    for (unsigned i = 0; i < WORDS; i++) {
        uint32_t v = s[i] + first[i];
        for (unsigned j = 0; j < sizeof(v); j++)
            out[i * sizeof(v) + j] = (uint8_t)(v >> 8 * j);
    }
}
