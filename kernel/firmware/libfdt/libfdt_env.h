/* The environment that libfdt needs: big-endian numbers, and a few string functions. */
#pragma once
#include "kernel/lib/base.h"

typedef uint16_t fdt16_t;
typedef uint32_t fdt32_t;
typedef uint64_t fdt64_t;

#define fdt16_to_cpu(x) __builtin_bswap16(x)
#define fdt32_to_cpu(x) __builtin_bswap32(x)
#define fdt64_to_cpu(x) __builtin_bswap64(x)
#define cpu_to_fdt16(x) __builtin_bswap16(x)
#define cpu_to_fdt32(x) __builtin_bswap32(x)
#define cpu_to_fdt64(x) __builtin_bswap64(x)

#if __STDC_HOSTED__
#include <limits.h>
#include <string.h>
#else
#define INT_MAX __INT_MAX__

static inline size_t strnlen(const char *s, size_t max)
{
    size_t n = 0;

    while (n < max && s[n])
        n++;
    return n;
}

static inline size_t strlen(const char *s)
{
    return strnlen(s, SIZE_MAX);
}

static inline void *memchr(const void *p, int byte, size_t n)
{
    const unsigned char *s = p;

    for (; n; n--, s++) {
        if (*s == (unsigned char)byte)
            return (void *)s;
    }
    return NULL;
}

static inline char *strchr(const char *s, int c)
{
    return memchr(s, c, strlen(s) + 1);
}

static inline char *strrchr(const char *s, int c)
{
    for (size_t n = strlen(s) + 1; n--;) {
        if (s[n] == (char)c)
            return (char *)s + n;
    }
    return NULL;
}

static inline int strncmp(const char *a, const char *b, size_t n)
{
    for (; n && *a == *b && *a; n--)
        a++, b++;
    return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

static inline int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}
#endif
