/*
 * Memory that is only taken, and returned all at once: a few large blocks from malloc(), cut from
 * the front. So data of one owner lies together, apart from that of others, on lines of its own.
 * The owner's lock guards the arena.
 */
#pragma once
#include <stddef.h>

/* Padding: the largest coherence line of the machines that programs run on. */
#define ARENA_LINE 128

struct arena_block;

/* Empty when all but block_size is 0. */
struct arena {
    struct arena_block *blocks;
    size_t block_size; /* bytes taken from malloc() at a time */
    size_t used;       /* of the newest block */
    size_t size;       /* of the newest block */
};

/* Returns zeroed memory at a multiple of `align`, a power of two. Ends the program with a message
 * if there is none. */
void *arena_alloc(struct arena *arena, size_t size, size_t align);

/* Frees everything. The arena is empty afterwards and may be used again. */
void arena_free(struct arena *arena);
