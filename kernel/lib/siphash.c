/* SipHash-2-4. See siphash.h. */
#include "kernel/lib/siphash.h"

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned n)
{
    while (n--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

uint64_t siphash(const struct siphash_key *k, const uint64_t *words, size_t n)
{
    uint64_t v[4] = {k->word[0] ^ 0x736f6d6570736575, k->word[1] ^ 0x646f72616e646f6d,
                     k->word[0] ^ 0x6c7967656e657261, k->word[1] ^ 0x7465646279746573};

    for (size_t i = 0; i < n; i++)
        take(v, words[i]);
    take(v, (uint64_t)(n * 8) << 56);
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
