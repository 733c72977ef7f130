/*
 * The four memory functions, which the compiler also calls by itself. They work on words on every
 * ISA, whatever the alignment of the arguments. The pragma below keeps the compiler from turning
 * their loops into calls of themselves.
 *
 * The target is aligned first. Where the CPU loads words at any address, the source is read
 * unaligned. Where it does not (STRICT_ALIGN: AArch64 before its MMU is on), aligned words are read
 * and shifted into place, and none of them reaches beyond the source. Copies in either direction
 * read nothing that they have written, so they move overlapping memory.
 */
#include "kernel/lib/base.h"

#pragma GCC optimize("no-tree-loop-distribute-patterns")

typedef uint64_t __attribute__((may_alias)) word_t;
/* A word at any address: where the ISA requires alignment, the compiler accesses bytes. */
typedef word_t ALIGNED(1) loose_t;

#define WORD sizeof(word_t)
#ifdef STRICT_ALIGN
#define ANYWHERE false
#else
#define ANYWHERE true
#endif

/* Returns the number of bytes of the last aligned word that lie before `p`. */
static size_t past_word(const void *p)
{
    return (uintptr_t)p % WORD;
}

/* Returns the number of bytes up to the next aligned word, at most `n`. */
static size_t before_word(const void *p, size_t n)
{
    return MIN(-(uintptr_t)p % WORD, n);
}

/* Reads a word at `p`, which is aligned if `aligned`, a constant, says so. */
static inline __attribute__((always_inline)) word_t word_at(const uint8_t *p, bool aligned)
{
    return aligned ? *(const word_t *)p : *(const loose_t *)p;
}

/* Returns `n` bytes, less than a word, as the lowest bytes of a word. */
static word_t bytes_at(const uint8_t *p, size_t n)
{
    word_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (word_t)p[i] << 8 * i;
    return word;
}

/* ---- Upwards: whole words to an aligned target. Each returns the number of bytes copied. ----- */

static inline __attribute__((always_inline)) size_t words_up(uint8_t *d, const uint8_t *s, size_t n,
                                                             bool aligned)
{
    size_t i = 0;

    for (; n - i >= 4 * WORD; i += 4 * WORD) {
        word_t a = word_at(s + i, aligned), b = word_at(s + i + WORD, aligned);
        word_t c = word_at(s + i + 2 * WORD, aligned), e = word_at(s + i + 3 * WORD, aligned);
        *(word_t *)(d + i) = a;
        *(word_t *)(d + i + WORD) = b;
        *(word_t *)(d + i + 2 * WORD) = c;
        *(word_t *)(d + i + 3 * WORD) = e;
    }
    for (; n - i >= WORD; i += WORD)
        *(word_t *)(d + i) = word_at(s + i, aligned);
    return i;
}

/* Copies from a source that is not aligned: each word of the target is the rest of one source word
 * and the beginning of the next. */
static size_t shifted_up(uint8_t *d, const uint8_t *s, size_t n)
{
    const unsigned have = (unsigned)before_word(s, WORD), low = 8 * have, high = 8 * (WORD - have);
    word_t carry = bytes_at(s, have);
    size_t i = 0;

#pragma GCC unroll 4
    for (; n - i >= have + WORD; i += WORD) {
        word_t next = word_at(s + i + have, true);
        *(word_t *)(d + i) = carry | next << low;
        carry = next >> high;
    }
    return i;
}

static void copy_up(uint8_t *d, const uint8_t *s, size_t n)
{
    size_t done = 0;

    for (size_t odd = before_word(d, n); odd; odd--, n--)
        *d++ = *s++;
    if (n >= WORD && ANYWHERE)
        done = words_up(d, s, n, false);
    else if (n >= WORD)
        done = past_word(s) ? shifted_up(d, s, n) : words_up(d, s, n, true);
    for (; done < n; done++)
        d[done] = s[done];
}

/* ---- Downwards, from an aligned end. Each returns the number of bytes left to copy. ---------- */

static inline __attribute__((always_inline)) size_t words_down(uint8_t *d, const uint8_t *s,
                                                               size_t n, bool aligned)
{
    for (; n >= WORD; n -= WORD)
        *(word_t *)(d + n - WORD) = word_at(s + n - WORD, aligned);
    return n;
}

static size_t shifted_down(uint8_t *d, const uint8_t *s, size_t n)
{
    const unsigned have = (unsigned)past_word(s + n), low = 8 * have, high = 8 * (WORD - have);
    word_t carry = bytes_at(s + n - have, have);

#pragma GCC unroll 4
    for (; n >= have + WORD; n -= WORD) {
        word_t next = word_at(s + n - have - WORD, true);
        *(word_t *)(d + n - WORD) = next >> low | carry << high;
        carry = next;
    }
    return n;
}

static void copy_down(uint8_t *d, const uint8_t *s, size_t n)
{
    for (; n && past_word(d + n); n--)
        d[n - 1] = s[n - 1];
    if (n >= WORD && ANYWHERE)
        n = words_down(d, s, n, false);
    else if (n >= WORD)
        n = past_word(s + n) ? shifted_down(d, s, n) : words_down(d, s, n, true);
    while (n--)
        d[n] = s[n];
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    copy_up(dst, src, n);
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    if ((uintptr_t)dst - (uintptr_t)src < n)
        copy_down(dst, src, n);
    else
        copy_up(dst, src, n);
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

/* ---- Comparing whole words; x is aligned. Each returns the number of equal bytes. ------------ */

static inline __attribute__((always_inline)) size_t same_words(const uint8_t *x, const uint8_t *y,
                                                               size_t n, bool aligned)
{
    size_t i = 0;

    while (n - i >= WORD && word_at(x + i, true) == word_at(y + i, aligned))
        i += WORD;
    return i;
}

static size_t same_shifted(const uint8_t *x, const uint8_t *y, size_t n)
{
    const unsigned have = (unsigned)before_word(y, WORD), low = 8 * have, high = 8 * (WORD - have);
    word_t carry = bytes_at(y, have);
    size_t i = 0;

    for (; n - i >= have + WORD; i += WORD) {
        word_t next = word_at(y + i + have, true);
        if (word_at(x + i, true) != (carry | next << low))
            break;
        carry = next >> high;
    }
    return i;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;
    size_t same = 0, odd = before_word(x, n);

    for (; odd && *x == *y; odd--, n--)
        x++, y++;
    if (!odd && n >= WORD && ANYWHERE)
        same = same_words(x, y, n, false);
    else if (!odd && n >= WORD)
        same = past_word(y) ? same_shifted(x, y, n) : same_words(x, y, n, true);
    for (; same < n; same++)
        if (x[same] != y[same])
            return x[same] - y[same];
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
