/* What lwIP uses of the C library, in the kernel. */
#pragma once
#include "kernel/lib/base.h"

static inline size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n])
        n++;
    return n;
}

static inline int strncmp(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

static inline int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}
