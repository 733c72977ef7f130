/* Makes archives byte by byte. */
#pragma once
#include <stdio.h>
#include <string.h>
#include "kernel/lib/base.h"

struct archive {
    uint64_t size;
    uint8_t bytes[1 << 18];
};

static inline void archive_sum(uint8_t *h)
{
    unsigned sum = 0;

    memset(h + 148, ' ', 8);
    for (unsigned i = 0; i < 512; i++)
        sum += h[i];
    snprintf((char *)h + 148, 8, "%06o", sum);
}

/* Adds an entry with contents; names longer than 100 bytes are cut off. Returns its header. */
static inline uint8_t *archive_add(struct archive *a, char type, const char *name,
                                   const char *target, const void *data, size_t n)
{
    uint8_t *h = a->bytes + a->size;

    memset(h, 0, 512);
    memcpy(h, name, MIN(strlen(name), (size_t)100));
    snprintf((char *)h + 100, 8, "%07o", type == '5' ? 0755 : 0644);
    snprintf((char *)h + 124, 12, "%011o", (unsigned)n);
    snprintf((char *)h + 136, 12, "%011o", 1000u);
    h[156] = (uint8_t)type;
    memcpy(h + 157, target, MIN(strlen(target), (size_t)100));
    memcpy(h + 257, "ustar\00000", 8);
    archive_sum(h);
    memcpy(h + 512, data, n);
    memset(h + 512 + n, 0, -n % 512);
    a->size += 512 + ALIGN_UP(n, (size_t)512);
    return h;
}

static inline uint8_t *archive_file(struct archive *a, const char *name, const char *text)
{
    return archive_add(a, '0', name, "", text, strlen(text));
}

/* Adds a pax header with one record. */
static inline void archive_pax(struct archive *a, const char *key, const char *value)
{
    char record[8192];
    size_t n = strlen(key) + strlen(value) + 3, all = n + 1;

    while (snprintf(record, sizeof(record), "%zu", all) + n != all)
        all++;
    snprintf(record, sizeof(record), "%zu %s=%s\n", all, key, value);
    archive_add(a, 'x', "pax", "", record, all);
}
