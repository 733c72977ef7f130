/*
 * Memory and string functions by vectors. The file that includes this one (string_sse2.c,
 * string_avx2.c) defines for its width:
 *   vec                   a vector
 *   load, store           at any address
 *   load_aligned, store_aligned
 *                         at multiples of VEC
 *   every                 a vector of one byte
 *   equal, least, all     byte by byte: 0xff where equal; the minimum; and
 *   bits                  bit i: byte i's top bit
 *   WHOLE                 bits of a vector of 0xff
 *   NAME(function)        the function's name at this width
 *
 * Copies of up to 8 vectors load all before they store anything. Longer ones load both ends first
 * and store them last. So operands that overlap need no code of their own. Searches load aligned
 * vectors, each of which lies in one page, so no byte of the page behind the end is read;
 * comparisons do the same by counting the bytes left in each page.
 */
#include "apps/libc/x86_64/string_width.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Keeps the compiler from replacing a loop by a call of the very function that contains it. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

#define VEC    sizeof(vec)
#define FOUR   (4 * VEC)
#define PAGE   4096
#define INLINE static inline __attribute__((always_inline))

typedef uint64_t __attribute__((may_alias, aligned(1))) loose64;
typedef uint32_t __attribute__((may_alias, aligned(1))) loose32;
typedef uint16_t __attribute__((may_alias, aligned(1))) loose16;
typedef char __attribute__((vector_size(16), may_alias, aligned(1))) loose128;

/* Returns a mask: bit i is set if bytes i are equal. */
INLINE uint32_t same(vec a, vec b)
{
    return bits(equal(a, b));
}

INLINE const char *align_down(const char *p, size_t to)
{
    return (const char *)((uintptr_t)p & -to);
}

/* ---- Copying and setting --------------------------------------------------------------------- */

#define COPY_ENDS(type)                                    \
    do {                                                   \
        type low = *(const type *)s;                       \
        type high = *(const type *)(s + n - sizeof(type)); \
        *(type *)d = low;                                  \
        *(type *)(d + n - sizeof(type)) = high;            \
    } while (0)

/* Copies less than a vector. */
INLINE void copy_short(char *d, const char *s, size_t n)
{
    if (n >= 16)
        COPY_ENDS(loose128);
    else if (n >= 8)
        COPY_ENDS(loose64);
    else if (n >= 4)
        COPY_ENDS(loose32);
    else if (n >= 2)
        COPY_ENDS(loose16);
    else if (n)
        *d = *s;
}

/* Copies from `pairs` to 2 * `pairs` vectors, from both ends. */
INLINE void copy_vectors(char *d, const char *s, size_t n, unsigned pairs)
{
    vec low[4], high[4];

#pragma GCC unroll 4
    for (unsigned i = 0; i < pairs; i++) {
        low[i] = load(s + i * VEC);
        high[i] = load(s + n - (i + 1) * VEC);
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < pairs; i++) {
        store(d + i * VEC, low[i]);
        store(d + n - (i + 1) * VEC, high[i]);
    }
}

/* Copies more than 8 vectors forward, with the destination aligned. */
INLINE void copy_up(char *d, const char *s, size_t n)
{
    vec first = load(s), last[4];

#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        last[i] = load(s + n - FOUR + i * VEC);
    const char *end = d + n - FOUR;
    char *at = d + VEC - (uintptr_t)d % VEC;
    ptrdiff_t apart = s - d;
    for (; at < end; at += FOUR) {
        vec a = load(at + apart), b = load(at + apart + VEC);
        vec c = load(at + apart + 2 * VEC), e = load(at + apart + 3 * VEC);
        store_aligned(at, a);
        store_aligned(at + VEC, b);
        store_aligned(at + 2 * VEC, c);
        store_aligned(at + 3 * VEC, e);
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        store(d + n - FOUR + i * VEC, last[i]);
    store(d, first);
}

/* Copies more than 8 vectors backward. */
INLINE void copy_down(char *d, const char *s, size_t n)
{
    vec first[4], last = load(s + n - VEC);

#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        first[i] = load(s + i * VEC);
    char *at = d + n - (uintptr_t)(d + n) % VEC;
    ptrdiff_t apart = s - d;
    for (; at > d + FOUR; at -= FOUR) {
        vec a = load(at + apart - VEC), b = load(at + apart - 2 * VEC);
        vec c = load(at + apart - 3 * VEC), e = load(at + apart - 4 * VEC);
        store_aligned(at - VEC, a);
        store_aligned(at - 2 * VEC, b);
        store_aligned(at - 3 * VEC, c);
        store_aligned(at - 4 * VEC, e);
    }
    store(d + n - VEC, last);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        store(d + i * VEC, first[i]);
}

INLINE void copy_long(char *d, const char *s, size_t n)
{
    size_t ahead = (uintptr_t)d - (uintptr_t)s;

    if (ahead < n)
        copy_down(d, s, n);
    else if (n >= string_rep_min && -ahead >= n)
        __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    else
        copy_up(d, s, n);
}

INLINE void copy(char *d, const char *s, size_t n)
{
    if (n < VEC)
        copy_short(d, s, n);
    else if (n <= 2 * VEC)
        copy_vectors(d, s, n, 1);
    else if (n <= 4 * VEC)
        copy_vectors(d, s, n, 2);
    else if (n <= 8 * VEC)
        copy_vectors(d, s, n, 4);
    else
        copy_long(d, s, n);
}

void *NAME(memmove)(void *dst, const void *src, size_t n)
{
    copy(dst, src, n);
    return dst;
}

INLINE void set_short(char *d, vec v, char byte, size_t n)
{
    loose128 half;

    __builtin_memcpy(&half, &v, sizeof half);
    uint64_t word = (uint64_t)(unsigned char)byte * 0x0101010101010101;
    if (n >= 16)
        *(loose128 *)d = *(loose128 *)(d + n - 16) = half;
    else if (n >= 8)
        *(loose64 *)d = *(loose64 *)(d + n - 8) = word;
    else if (n >= 4)
        *(loose32 *)d = *(loose32 *)(d + n - 4) = (uint32_t)word;
    else if (n)
        d[0] = d[n / 2] = d[n - 1] = byte;
}

/* Sets more than 4 vectors. */
INLINE void set_long(char *d, vec v, int byte, size_t n)
{
    if (n >= string_rep_min) {
        __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(byte) : "memory");
        return;
    }
    store(d, v);
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        store(d + n - FOUR + i * VEC, v);
    for (char *at = d + VEC - (uintptr_t)d % VEC, *end = d + n - FOUR; at < end; at += FOUR) {
        store_aligned(at, v);
        store_aligned(at + VEC, v);
        store_aligned(at + 2 * VEC, v);
        store_aligned(at + 3 * VEC, v);
    }
}

INLINE void set(char *d, int byte, size_t n)
{
    vec v = every((char)byte);

    if (n < VEC) {
        set_short(d, v, (char)byte, n);
    } else if (n <= 4 * VEC) {
        store(d, v);
        store(d + n - VEC, v);
        if (n > 2 * VEC) {
            store(d + VEC, v);
            store(d + n - 2 * VEC, v);
        }
    } else {
        set_long(d, v, byte, n);
    }
}

void *NAME(memset)(void *dst, int byte, size_t n)
{
    set(dst, byte, n);
    return dst;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* Returns the difference of the first bytes that have their bit in `different` set. */
INLINE int difference(const char *a, const char *b, uint32_t different)
{
    unsigned i = (unsigned)__builtin_ctz(different);

    return (unsigned char)a[i] - (unsigned char)b[i];
}

INLINE int compare_short(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return (unsigned char)a[i] - (unsigned char)b[i];
    return 0;
}

INLINE uint32_t differ(const char *a, const char *b)
{
    return same(load(a), load(b)) ^ WHOLE;
}

/* Returns the first difference from `a` on; there is one. */
INLINE int find_difference(const char *a, ptrdiff_t apart)
{
    uint32_t different;

    while (!(different = differ(a, a + apart)))
        a += VEC;
    return difference(a, a + apart, different);
}

INLINE int four_differ(const char *a, const char *b)
{
    vec one = all(equal(load(a), load(b)), equal(load(a + VEC), load(b + VEC)));
    vec two = all(equal(load(a + 2 * VEC), load(b + 2 * VEC)),
                  equal(load(a + 3 * VEC), load(b + 3 * VEC)));

    return bits(all(one, two)) != WHOLE;
}

int NAME(memcmp)(const void *left, const void *right, size_t n)
{
    const char *a = left, *last;
    ptrdiff_t apart = (const char *)right - a;

    if (n < VEC)
        return compare_short(a, right, n);
    if (n < FOUR) {
        for (last = a + n - VEC; a < last; a += VEC)
            if (differ(a, a + apart))
                return find_difference(a, apart);
        return differ(last, last + apart) ? find_difference(last, apart) : 0;
    }
    for (last = a + n - FOUR; a < last; a += FOUR)
        if (four_differ(a, a + apart))
            return find_difference(a, apart);
    return four_differ(last, last + apart) ? find_difference(last, apart) : 0;
}

/* Returns a vector that is 0 where the bytes differ or both strings end. */
INLINE vec goes_on(const char *a, const char *b)
{
    vec v = load(a);

    return least(v, equal(v, load(b)));
}

/* Returns the number of the n bytes at p that lie in p's page. */
INLINE size_t in_page(const char *p, size_t n)
{
    size_t left = PAGE - (uintptr_t)p % PAGE;

    return left < n ? left : n;
}

/* Compares byte by byte. Returns true once the result is known. */
INLINE int step(const char *a, const char *b, size_t n, int *result)
{
    for (size_t i = 0; i < n; i++) {
        *result = (unsigned char)a[i] - (unsigned char)b[i];
        if (*result || !a[i])
            return 1;
    }
    return 0;
}

INLINE int compare_by_pages(const char *a, const char *b, size_t n)
{
    const vec zero = every(0);
    int result;

    while (n) {
        size_t room = in_page(a, in_page(b, n));
        const char *end = a + room;
        ptrdiff_t apart = b - a;
        for (; a + FOUR <= end; a += FOUR) {
            vec one = least(goes_on(a, a + apart), goes_on(a + VEC, a + apart + VEC));
            vec two = least(goes_on(a + 2 * VEC, a + apart + 2 * VEC),
                            goes_on(a + 3 * VEC, a + apart + 3 * VEC));
            if (same(least(one, two), zero))
                break;
        }
        for (; a + VEC <= end; a += VEC) {
            uint32_t stop = same(goes_on(a, a + apart), zero);
            if (stop)
                return difference(a, a + apart, stop);
        }
        if (step(a, a + apart, (size_t)(end - a), &result))
            return result;
        a = end;
        b = a + apart;
        n -= room;
    }
    return 0;
}

/* Compares. The first four vectors go by themselves where both strings have them in one page; most
 * strings end there. */
INLINE int compare(const char *a, const char *b, size_t n)
{
    if (((uintptr_t)a | (uintptr_t)b) % PAGE > PAGE - FOUR)
        return compare_by_pages(a, b, n);
#pragma GCC unroll 4
    for (size_t at = 0; at < FOUR; at += VEC) {
        uint32_t stop = same(goes_on(a + at, b + at), every(0));
        if (stop)
            return at + (unsigned)__builtin_ctz(stop) < n ? difference(a + at, b + at, stop) : 0;
        if (n <= at + VEC)
            return 0;
    }
    return compare_by_pages(a + FOUR, b + FOUR, n - FOUR);
}

int NAME(strcmp)(const char *a, const char *b)
{
    return compare(a, b, SIZE_MAX);
}

int NAME(strncmp)(const char *a, const char *b, size_t n)
{
    return compare(a, b, n);
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* Returns a vector that is 0 where the byte equals the one in `one`, or is 0 itself if `ends`. */
INLINE vec unlike(const char *p, vec one, int ends)
{
    vec v = load_aligned(p), other = v ^ one;

    return ends ? least(v, other) : other;
}

/* Returns a mask: bit i is set if byte i of the aligned vector at p matches. */
INLINE uint32_t hits(const char *p, vec one, int ends)
{
    return same(unlike(p, one, ends), every(0));
}

INLINE vec unlike_four(const char *p, vec one, int ends)
{
    return least(least(unlike(p, one, ends), unlike(p + VEC, one, ends)),
                 least(unlike(p + 2 * VEC, one, ends), unlike(p + 3 * VEC, one, ends)));
}

/* Returns the first match from s on, looking before `end` but in whole vectors; NULL: none. */
INLINE const char *find(const char *s, const char *end, vec one, int ends)
{
    const char *p = align_down(s, VEC);
    uint32_t hit = hits(p, one, ends) >> (s - p);

    if (hit)
        return s + __builtin_ctz(hit);
    for (p += VEC; (uintptr_t)p % FOUR; p += VEC) {
        if (p >= end)
            return NULL;
        if ((hit = hits(p, one, ends)))
            return p + __builtin_ctz(hit);
    }
    while (p < end && !same(unlike_four(p, one, ends), every(0)))
        p += FOUR;
    for (; p < end; p += VEC)
        if ((hit = hits(p, one, ends)))
            return p + __builtin_ctz(hit);
    return NULL;
}

#define NO_END ((const char *)UINTPTR_MAX)

/* Returns the end of n bytes at s, without wrapping around. */
INLINE const char *end_of(const char *s, size_t n)
{
    return n > UINTPTR_MAX - (uintptr_t)s ? NO_END : s + n;
}

INLINE const char *find_before(const char *s, size_t n, vec one)
{
    const char *end = end_of(s, n), *p = n ? find(s, end, one, 0) : NULL;

    return p && p < end ? p : NULL;
}

INLINE size_t length(const char *s)
{
    return (size_t)(find(s, NO_END, every(0), 0) - s);
}

INLINE size_t length_to(const char *s, size_t n)
{
    const char *end = find_before(s, n, every(0));

    return end ? (size_t)(end - s) : n;
}

size_t NAME(strlen)(const char *s)
{
    return length(s);
}

size_t NAME(strnlen)(const char *s, size_t n)
{
    return length_to(s, n);
}

void *NAME(memchr)(const void *s, int byte, size_t n)
{
    return (void *)find_before(s, n, every((char)byte));
}

char *NAME(strchrnul)(const char *s, int byte)
{
    return (char *)find(s, NO_END, every((char)byte), 1);
}

char *NAME(strchr)(const char *s, int byte)
{
    const char *p = find(s, NO_END, every((char)byte), 1);

    return *p == (char)byte ? (char *)p : NULL;
}

/* Sets `last` to the last match in the aligned vector at p, among bits of `keep`, before the
 * string's end. Returns whether the string ends there. */
INLINE int last_in(const char *p, uint32_t keep, vec one, const char **last)
{
    if (!(hits(p, one, 1) & keep))
        return 0;
    uint32_t hit = hits(p, one, 0) & keep;
    if (!hit)
        return 1;
    uint32_t end = hits(p, every(0), 0) & keep;
    if (end)
        hit &= end ^ (end - 1);
    if (hit)
        *last = p + 31 - __builtin_clz(hit);
    return end != 0;
}

/* Goes vector by vector up to a multiple of four, then by four, which lie in one page. */
char *NAME(strrchr)(const char *s, int byte)
{
    const vec one = every((char)byte), zero = every(0);
    const char *p = align_down(s, VEC), *last = NULL, *with = NULL;

    if (last_in(p, WHOLE << (s - p), one, &last))
        return (char *)last;
    for (p += VEC; (uintptr_t)p % FOUR; p += VEC)
        if (last_in(p, WHOLE, one, &last))
            return (char *)last;
    for (; !same(unlike_four(p, zero, 0), zero); p += FOUR)
        if (same(unlike_four(p, one, 0), zero))
            with = p;
    for (size_t i = 0; with && i < FOUR; i += VEC)
        last_in(with + i, WHOLE, one, &last);
    for (; !last_in(p, WHOLE, one, &last); p += VEC)
        ;
    return (char *)last;
}

/* ---- Copying strings ------------------------------------------------------------------------- */

char *NAME(strcpy)(char *d, const char *s)
{
    copy(d, s, length(s) + 1);
    return d;
}

char *NAME(strcat)(char *d, const char *s)
{
    copy(d + length(d), s, length(s) + 1);
    return d;
}

char *NAME(strncpy)(char *d, const char *s, size_t n)
{
    size_t copied = length_to(s, n);

    copy(d, s, copied);
    if (copied < n)
        set(d + copied, 0, n - copied);
    return d;
}
