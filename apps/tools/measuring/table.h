/*
 * A map from keys to entries, which stay where they are until all are given back. Not safe for
 * several threads at once.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct table_key {
    uint64_t part[3];
};

/* Zeroed but for bytes it is empty. */
struct table {
    size_t bytes; /* of an entry, which begins with its struct table_key */
    void **slot;
    size_t slots, count; /* slots: a power of two, or 0 */
};

/* The entry with this key; if there was none a new one, zeroed behind the key. NULL: no memory for
 * one. */
void *table_get(struct table *t, const struct table_key *key);
/* Entry by entry, in no order; *cursor is 0 at first. NULL: no more. */
void *table_next(const struct table *t, size_t *cursor);
/* Gives all entries back. It is empty afterwards and may be used again. */
void table_clear(struct table *t);
