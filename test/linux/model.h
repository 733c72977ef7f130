/* What the programs share that compare random operations with a model: chance, and what is said of
 * the step at hand. */
#pragma once
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned step;
static uint64_t seed;
static char log_line[200]; /* what the step does */

static inline uint64_t below(uint64_t n)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % n;
}

static inline void note(const char *form, ...)
{
    va_list list;

    va_start(list, form);
    vsnprintf(log_line, sizeof log_line, form, list);
    va_end(list);
    if (getenv("VERBOSE"))
        printf("# %u: %s\n", step, log_line);
}

/* The result of a call: a number, or minus the error. */
static inline long result_of(long r)
{
    return r < 0 ? -errno : r;
}
