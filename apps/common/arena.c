/*
 * Blocks are chained so that they can be freed. Objects are cut from the front of the newest block;
 * the rest of a block is wasted when the next one is begun. An object larger than a block gets a
 * block of its own size.
 */
#include "apps/common/arena.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    unsigned char bytes[];
};

static void add_block(struct arena *arena, size_t least)
{
    size_t size = arena->block_size > least ? arena->block_size : least;
    struct arena_block *block = malloc(sizeof *block + size);

    if (!block) {
        fprintf(stderr, "out of memory: a block of %zu bytes was refused\n", size);
        exit(1);
    }
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used = 0;
    arena->size = size;
}

/* Returns the offset at which an object of this alignment would begin in the newest block. */
static size_t next_offset(const struct arena *arena, size_t align)
{
    uintptr_t free_from = (uintptr_t)(arena->blocks->bytes + arena->used);
    uintptr_t aligned = (free_from + align - 1) & ~(uintptr_t)(align - 1);

    return arena->used + (size_t)(aligned - free_from);
}

void *arena_alloc(struct arena *arena, size_t size, size_t align)
{
    size_t offset;
    void *object;

    if (!arena->blocks || next_offset(arena, align) + size > arena->size)
        add_block(arena, size + align);
    offset = next_offset(arena, align);
    arena->used = offset + size;
    object = arena->blocks->bytes + offset;
    memset(object, 0, size);
    return object;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    arena->used = 0;
    arena->size = 0;
}
