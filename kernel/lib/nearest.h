/*
 * Finds the known name that an unknown word was probably meant to be, for error messages. Pure.
 * Needs nothing of the kernel, so applications use it too.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEAREST_MAX 160 /* longer names match nothing */

struct nearest {
    const char *text; /* the unknown word: `n` characters */
    size_t n;
    const char *best; /* the nearest name so far; NULL: none is near enough */
    unsigned distance;
};

static inline bool nearest_alike(char a, char b)
{
    bool letters = (a | 32) >= 'a' && (a | 32) <= 'z';

    return a == b || (letters && (a | 32) == (b | 32));
}

static inline unsigned nearest_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the edit distance of `a` and `b`: the number of characters that are changed, added,
 * removed or swapped with their neighbours to make one from the other, regardless of case; no
 * character takes part twice (R. A. Wagner, M. J. Fischer, JACM 21(1), 1974; swapping: F. J.
 * Damerau, CACM 7(3), 1964). The lengths `m` and `n` are below NEAREST_MAX. */
static inline unsigned nearest_distance(const char *a, size_t m, const char *b, size_t n)
{
    uint8_t rows[3][NEAREST_MAX]; /* for the first i - 2, i - 1 and i characters of a */
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= n; j++)
        last[j] = (uint8_t)j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned d = last[j - 1] + !nearest_alike(a[i - 1], b[j - 1]);
            d = nearest_least(d, 1u + nearest_least(last[j], row[j - 1]));
            if (i > 1 && j > 1 && nearest_alike(a[i - 1], b[j - 2]) &&
                nearest_alike(a[i - 2], b[j - 1]))
                d = nearest_least(d, 1u + before[j - 2]);
            row[j] = (uint8_t)d;
        }
        uint8_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[n];
}

/* Remembers `name`, which must stay valid, if it is nearer to the unknown word than all names
 * before, and its distance is at most a third of the word's length, or 1. */
static inline void nearest_consider(struct nearest *s, const char *name)
{
    size_t length = 0, limit = s->n / 3 ? s->n / 3 : 1;

    while (length < NEAREST_MAX && name[length])
        length++;
    if (length == NEAREST_MAX || s->n >= NEAREST_MAX)
        return;
    if (length > s->n + limit || s->n > length + limit) /* the lengths alone differ too much */
        return;
    unsigned d = nearest_distance(s->text, s->n, name, length);
    if (d > limit || (s->best && d >= s->distance))
        return;
    s->best = name;
    s->distance = d;
}
