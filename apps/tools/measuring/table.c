/* See table.h: open addressing, at most three quarters full. */
#include "apps/tools/measuring/table.h"
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64 };

/* The finisher of splitmix64, over all parts. */
static size_t hash_key(const struct table_key *key)
{
    uint64_t h = 0;

    for (unsigned i = 0; i < 3; i++) {
        h = (h + key->part[i]) * 0x9e3779b97f4a7c15;
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
        h ^= h >> 27;
    }
    return (size_t)h;
}

/* Returns the slot that has the key, or would have it. */
static void **find_slot(void **slot, size_t slots, const struct table_key *key)
{
    size_t i = hash_key(key) & (slots - 1);

    while (slot[i] && memcmp(slot[i], key, sizeof *key) != 0)
        i = (i + 1) & (slots - 1);
    return &slot[i];
}

/* Returns false if there is no memory; then nothing has changed. */
static int grow_table(struct table *t)
{
    size_t slots = t->slots ? 2 * t->slots : SLOTS_FIRST, cursor = 0;
    void **slot = calloc(slots, sizeof *slot);

    if (!slot)
        return 0;
    for (void *entry; (entry = table_next(t, &cursor));)
        *find_slot(slot, slots, entry) = entry;
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    return 1;
}

void *table_get(struct table *t, const struct table_key *key)
{
    void **at = t->slots ? find_slot(t->slot, t->slots, key) : NULL;

    if (at && *at)
        return *at;
    if (4 * (t->count + 1) > 3 * t->slots && !grow_table(t))
        return NULL;
    void *entry = calloc(1, t->bytes);
    if (!entry)
        return NULL;
    memcpy(entry, key, sizeof *key);
    *find_slot(t->slot, t->slots, key) = entry;
    t->count++;
    return entry;
}

void *table_next(const struct table *t, size_t *cursor)
{
    while (*cursor < t->slots && !t->slot[*cursor])
        ++*cursor;
    return *cursor < t->slots ? t->slot[(*cursor)++] : NULL;
}

void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->slots; i++)
        free(t->slot[i]);
    free(t->slot);
    *t = (struct table){.bytes = t->bytes};
}
