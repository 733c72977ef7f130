/*
 * The four memory functions, which the compiler also calls by itself.  Words where alignment allows it on
 * every ISA; the loops are marked so that the compiler does not turn them into calls of themselves.
 */
#include "kernel/base.h"

#pragma GCC optimize("no-tree-loop-distribute-patterns")

typedef uint64_t __attribute__((may_alias)) word_t;
typedef word_t
    ALIGNED(1) loose_t; /* at any address: where the ISA wants alignment, the compiler makes bytes of it */

static bool alike(const void *a, const void *b)
{
    return ((uintptr_t)a - (uintptr_t)b) % sizeof(word_t) == 0;
}

/* Bytes before the next aligned word, at most n. */
static size_t before_word(const void *p, size_t n)
{
    return MIN(-(uintptr_t)p % sizeof(word_t), n);
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

    if (alike(d, s)) {
        for (size_t odd = before_word(d, n); odd; odd--, n--)
            *d++ = *s++;
        for (; n >= 4 * sizeof(word_t); n -= 4 * sizeof(word_t)) {
            word_t a = ((const word_t *)s)[0], b = ((const word_t *)s)[1];
            word_t c = ((const word_t *)s)[2], e = ((const word_t *)s)[3];
            ((word_t *)d)[0] = a;
            ((word_t *)d)[1] = b;
            ((word_t *)d)[2] = c;
            ((word_t *)d)[3] = e;
            d += 4 * sizeof(word_t);
            s += 4 * sizeof(word_t);
        }
        for (; n >= sizeof(word_t); n -= sizeof(word_t)) {
            *(word_t *)d = *(const word_t *)s;
            d += sizeof(word_t);
            s += sizeof(word_t);
        }
    }
    for (; n >= sizeof(word_t); n -= sizeof(word_t)) {
        *(loose_t *)d = *(const loose_t *)s;
        d += sizeof(word_t);
        s += sizeof(word_t);
    }
    while (n--)
        *d++ = *s++;
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

    /* Forwards is safe when the destination starts before the source: what is read is behind all that has been written, as long as
     * nothing is held back, and four words are that only where the two are as far apart. */
    if (d <= s || d >= s + n) {
        if (d >= s + n || (size_t)(s - d) >= 4 * sizeof(word_t))
            return memcpy(dst, src, n);
        while (n--)
            *d++ = *s++;
        return dst;
    }
    for (; alike(d, s) && n && (uintptr_t)(d + n) % sizeof(word_t); n--)
        d[n - 1] = s[n - 1];
    for (; alike(d, s) && n >= sizeof(word_t); n -= sizeof(word_t))
        *(word_t *)(d + n - sizeof(word_t)) = *(const word_t *)(s + n - sizeof(word_t));
    for (; n >= sizeof(word_t); n -= sizeof(word_t))
        *(loose_t *)(d + n - sizeof(word_t)) = *(const loose_t *)(s + n - sizeof(word_t));
    while (n--)
        d[n] = s[n];
    return dst;
}

void *memset(void *dst, int byte, size_t n)
{
    uint8_t *d = dst;
    word_t word = 0x0101010101010101u * (uint8_t)byte;

    for (size_t odd = before_word(d, n); odd; odd--, n--)
        *d++ = (uint8_t)byte;
    for (; n >= 4 * sizeof(word_t); n -= 4 * sizeof(word_t)) {
        ((word_t *)d)[0] = word;
        ((word_t *)d)[1] = word;
        ((word_t *)d)[2] = word;
        ((word_t *)d)[3] = word;
        d += 4 * sizeof(word_t);
    }
    for (; n >= sizeof(word_t); n -= sizeof(word_t)) {
        *(word_t *)d = word;
        d += sizeof(word_t);
    }
    while (n--)
        *d++ = (uint8_t)byte;
    return dst;
}

/* Words that are the same are the same however they are read. */
int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;

    if (alike(x, y)) {
        for (size_t odd = before_word(x, n); odd && *x == *y; odd--, n--)
            x++, y++;
        for (; n >= sizeof(word_t) && (uintptr_t)x % sizeof(word_t) == 0 &&
               *(const word_t *)x == *(const word_t *)y;
             n -= sizeof(word_t)) {
            x += sizeof(word_t);
            y += sizeof(word_t);
        }
    }
    for (; n >= sizeof(word_t) && *(const loose_t *)x == *(const loose_t *)y; n -= sizeof(word_t)) {
        x += sizeof(word_t);
        y += sizeof(word_t);
    }
    for (; n; n--, x++, y++) {
        if (*x != *y)
            return *x - *y;
    }
    return 0;
}

int __popcountdi2(int64_t v);
int __popcountdi2(int64_t v)
{
    uint64_t n = (uint64_t)v;

    n -= n >> 1 & 0x5555555555555555;
    n = (n & 0x3333333333333333) + (n >> 2 & 0x3333333333333333);
    n = (n + (n >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (int)(n * 0x0101010101010101 >> 56);
}
