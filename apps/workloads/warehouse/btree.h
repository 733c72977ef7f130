/*
 * Ordered maps from 64-bit keys to pointers: B+-trees with up to 14 keys a node, so that the keys
 * of a node fill one line of 128 bytes and its children or values the next. Values are in the
 * leaves, and leaves are chained in key order. Nodes come from the arena of the owner and are
 * recycled within the tree. Not safe for use by several threads at once: the owner's lock guards
 * the tree and its arena.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "apps/common/arena.h"

struct btree_node;

struct btree {
    struct btree_node *root;
    struct btree_node *free; /* nodes given back, chained by next */
    struct arena *arena;
    size_t count;    /* keys */
    unsigned height; /* levels, 1: the root is a leaf */
};

/* A place in a tree; any change of the tree makes it invalid. */
struct btree_cursor {
    const struct btree_node *leaf;
    unsigned slot;
};

void btree_init(struct btree *tree, struct arena *arena);

/* The value of key, or NULL. */
void *btree_find(const struct btree *tree, uint64_t key);

/* Adds key with a value that is not NULL. False, and nothing changes, if the key is there
 * already. */
bool btree_insert(struct btree *tree, uint64_t key, void *value);

/* Takes key out and returns the value it had, or NULL if it was not there. */
void *btree_remove(struct btree *tree, uint64_t key);

/* Puts the cursor on the first key that is not less than key; false if there is none. */
bool btree_seek(const struct btree *tree, uint64_t key, struct btree_cursor *cursor);

/* Moves to the next key in order; false at the end. */
bool btree_next(struct btree_cursor *cursor);

uint64_t btree_key(const struct btree_cursor *cursor);
void *btree_value(const struct btree_cursor *cursor);

/* NULL, or the first invariant found broken: order, fill, depth, chain of leaves, count. */
const char *btree_check(const struct btree *tree);
