/* Builds messages piece by piece in a bounded buffer, for parsers that report errors. Always
 * NUL-terminated. */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/lib/nearest.h"

/* Text that does not fit is cut off. */
struct text {
    char *at;
    size_t left; /* free bytes, the final NUL included */
};

static inline void text_put(struct text *t, const char *s)
{
    for (; *s && t->left > 1; s++, t->left--)
        *t->at++ = *s;
    if (t->left)
        *t->at = '\0';
}

/* Quotes a part of the input inside a message: at most 40 characters, with '?' for unprintable
 * ones. */
static inline void text_put_quoted(struct text *t, const char *s, size_t n)
{
    text_put(t, "'");
    for (size_t i = 0; i < n && s[i] && i < 40; i++)
        text_put(t, s[i] >= ' ' && s[i] <= '~' ? (char[]){s[i], '\0'} : "?");
    text_put(t, n > 40 ? "...'" : "'");
}

/* A part of the input as the value of a key: no blank, and no ':', with which keys end. */
static inline void text_put_key(struct text *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n && s[i] && i < 40; i++)
        text_put(t, s[i] > ' ' && s[i] <= '~' && s[i] != ':' ? (char[]){s[i], '\0'} : "_");
}

static inline void text_put_number(struct text *t, uint64_t n)
{
    char digits[21], *first = digits + sizeof digits - 1;

    *first = '\0';
    do
        *--first = (char)('0' + n % 10);
    while (n /= 10);
    text_put(t, first);
}

/* Returns the part of a path behind its last slash. */
static inline const char *text_base(const char *path)
{
    const char *name = path;

    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

static inline size_t text_length(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

/* Returns whether `name` equals the `n` characters at `s`. */
static inline bool text_same(const char *name, const char *s, size_t n)
{
    return text_length(name) == n && !memcmp(name, s, n);
}

static inline int text_digit(char c, unsigned base)
{
    int d = c >= '0' && c <= '9'                 ? c - '0'
            : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                 : -1;
    return d >= 0 && (unsigned)d < base ? d : -1;
}

/* Appends "; nearest: NAME", if a near name was found. */
static inline void text_put_nearest(struct text *t, const struct nearest *s)
{
    if (!s->best)
        return;
    text_put(t, "; nearest: ");
    text_put(t, s->best);
}
