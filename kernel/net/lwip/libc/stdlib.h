/* What lwIP uses of the C library, in the kernel. */
#pragma once
#include "kernel/lib/base.h"

static inline int atoi(const char *s)
{
    int n = 0;

    for (; *s >= '0' && *s <= '9'; s++)
        n = n * 10 + *s - '0';
    return n;
}
