/*
 * A map from keys to entries. Entries stay in place until the map is cleared. One thread at a time.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct table_key {
    uint64_t part[4];
};

/* Empty when all but `bytes` is 0. */
struct table {
    size_t bytes; /* of an entry, which begins with its struct table_key */
    void **slot;
    size_t slots, count; /* slots: a power of two, or 0 */
};

/* Returns the entry of this key; a new one is zeroed behind the key. NULL: no memory for a new
 * one. */
void *table_get(struct table *t, const struct table_key *key);
/* Returns the entries one by one, in no order, then NULL. `cursor` is 0 at first. */
void *table_next(const struct table *t, size_t *cursor);
/* Frees all entries. The table is empty afterwards and may be used again. */
void table_clear(struct table *t);
