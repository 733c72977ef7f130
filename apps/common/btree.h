/*
 * Ordered maps from 64-bit keys to pointers: B+-trees with up to 14 keys a node, so that a node's
 * keys fill one line of 128 bytes, and its children or values the next. Leaves hold the values and
 * are chained in key order. Nodes come from the owner's arena and are recycled within the tree. The
 * owner's lock guards tree and arena.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "apps/common/arena.h"

struct btree_node;

struct btree {
    struct btree_node *root;
    struct btree_node *free; /* recycled nodes, chained by next */
    struct arena *arena;
    size_t count;    /* keys */
    unsigned height; /* levels, 1: the root is a leaf */
};

/* A position in a tree. Any change of the tree makes it invalid. */
struct btree_cursor {
    const struct btree_node *leaf;
    unsigned slot;
};

void btree_init(struct btree *tree, struct arena *arena);

/* Returns the value of key, or NULL. */
void *btree_find(const struct btree *tree, uint64_t key);

/* Adds key with a value that is not NULL. Returns false, without a change, if the key exists. */
bool btree_insert(struct btree *tree, uint64_t key, void *value);

/* Removes key. Returns its value, or NULL if there was none. */
void *btree_remove(struct btree *tree, uint64_t key);

/* Moves the cursor to the first key that is not less than key. Returns false if there is none. */
bool btree_seek(const struct btree *tree, uint64_t key, struct btree_cursor *cursor);

/* Moves to the next key. Returns false at the end. */
bool btree_next(struct btree_cursor *cursor);

uint64_t btree_key(const struct btree_cursor *cursor);
void *btree_value(const struct btree_cursor *cursor);

/* Returns NULL, or the first broken invariant: order, fill, depth, chain of leaves, count. */
const char *btree_check(const struct btree *tree);
