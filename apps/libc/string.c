/* String functions on top of each ISA's fast ones (its folder's, or newlib's), in place of newlib's
 * loops over bytes. */
#include <string.h>
#include "apps/libc/names.h"

/* Returns the length of s, at most n. */
static size_t length(const char *s, size_t n)
{
    const char *end = memchr(s, '\0', n);

    return end ? (size_t)(end - s) : n;
}

char *strncat(char *restrict d, const char *restrict s, size_t n)
{
    char *end = d + strlen(d);
    size_t copied = length(s, n);

    memcpy(end, s, copied);
    end[copied] = '\0';
    return d;
}

POSIX char *stpncpy(char *restrict d, const char *restrict s, size_t n)
{
    size_t copied = length(s, n);

    memcpy(d, s, copied);
    memset(d + copied, 0, n - copied);
    return d + copied;
}

POSIX void *mempcpy(void *d, const void *s, size_t n)
{
    return (char *)memcpy(d, s, n) + n;
}

POSIX void *memccpy(void *restrict d, const void *restrict s, int byte, size_t n)
{
    const char *end = memchr(s, byte, n);

    memcpy(d, s, end ? (size_t)(end + 1 - (const char *)s) : n);
    return end ? (char *)d + (end + 1 - (const char *)s) : NULL;
}
