/* What an operation left as it was. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes in which the two differ. */
static inline size_t bytes_changed(const void *before, const void *after, size_t bytes)
{
    const uint8_t *b = before, *a = after;
    size_t changed = 0;

    for (size_t i = 0; i < bytes; i++)
        changed += b[i] != a[i];
    return changed;
}
