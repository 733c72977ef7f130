/*
 * String functions on top of newlib's for this ISA (newlib/libc/machine/aarch64), in place of its
 * loops over words; and a strncmp(), as newlib's (3.3.0) reads beyond the page in which a string
 * ends where the strings are aligned differently.
 */
#include <stdint.h>
#include <string.h>

#define PAGE 4096
#define WORD sizeof(uint64_t)
#define ONES 0x0101010101010101u

typedef uint64_t __attribute__((may_alias, aligned(1))) loose64;

char *strcat(char *restrict d, const char *restrict s)
{
    strcpy(d + strlen(d), s);
    return d;
}

char *strncpy(char *restrict d, const char *restrict s, size_t n)
{
    size_t copied = strnlen(s, n);

    memcpy(d, s, copied);
    memset(d + copied, 0, n - copied);
    return d;
}

/* Returns the number of the n bytes at p that lie in p's page. */
static inline __attribute__((target("no-strict-align"))) size_t in_page(const char *p, size_t n)
{
    size_t left = PAGE - (uintptr_t)p % PAGE;

    return left < n ? left : n;
}

/* Returns the number of the n bytes, or up to a word less, that are equal and no end. Loads words
 * at any address, which programs may do. */
static inline __attribute__((target("no-strict-align"))) size_t same_words(const char *a,
                                                                           const char *b, size_t n)
{
    size_t i = 0;

    for (; i + WORD <= n; i += WORD) {
        uint64_t x = *(const loose64 *)(a + i);
        if (x != *(const loose64 *)(b + i) || ((x - ONES) & ~x & ONES << 7))
            break;
    }
    return i;
}

__attribute__((target("no-strict-align"))) int strncmp(const char *a, const char *b, size_t n)
{
    while (n) {
        size_t room = in_page(a, in_page(b, n)), same = same_words(a, b, room);
        for (size_t i = same; i < room; i++)
            if (a[i] != b[i] || !a[i])
                return (unsigned char)a[i] - (unsigned char)b[i];
        a += room;
        b += room;
        n -= room;
    }
    return 0;
}
