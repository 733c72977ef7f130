/*
 * Memory that is only ever taken, never given back piece by piece: a few large blocks from malloc,
 * cut from the front. Data that belongs together lies together, apart from what others own, and on
 * lines of its own. Not safe for use by several threads at once: whoever owns the arena holds the
 * lock that guards it.
 */
#pragma once
#include <stddef.h>

/* What is padded to: the largest coherence line of the machines we run on. */
#define ARENA_LINE 128

struct arena_block;

/* Zeroed but for block_size, it is empty. */
struct arena {
    struct arena_block *blocks;
    size_t block_size; /* bytes asked from malloc at a time */
    size_t used;       /* of the newest block */
    size_t size;       /* of the newest block */
};

/* Zeroed memory at a multiple of align (a power of two). Ends the program with a message when
 * there is none.
 */
void *arena_alloc(struct arena *arena, size_t size, size_t align);

/* Gives everything back. The arena is empty afterwards and may be used again. */
void arena_free(struct arena *arena);
