/*
 * A B+-tree with lazy growth to the right (Comer, "The Ubiquitous B-Tree", 1979), with two choices
 * of its own:
 * - A full node that is split because of a key beyond all others stays full, and its new neighbour
 *   starts nearly empty. So trees filled in key order (all loading, all order books) are dense.
 * - After a removal a node below half merges with a neighbour if both fit in one node, else takes
 *   one entry from it. That is correct for any fill, so sparse nodes need no special case.
 *
 * Invariants (btree_check):
 * - keys ascend;
 * - a separator is greater than every key left of it and not greater than any key right of it;
 * - all leaves are at one depth;
 * - every node but those on the right edge is at least half full; an inner node has a key;
 * - the chain of leaves visits every key in order.
 */
#include "apps/common/btree.h"
#include <string.h>

enum {
    KEYS = 14,
    LEAF_MIN = KEYS / 2,
    INNER_MIN = KEYS / 2 - 1,
};

struct btree_node {
    uint32_t count; /* keys */
    uint32_t is_leaf;
    struct btree_node *next; /* of leaves: to the right; of recycled nodes: the next one */
    uint64_t key[KEYS];
    union {
        struct btree_node *child[KEYS + 1]; /* child[i] holds keys k with key[i-1] <= k < key[i] */
        void *value[KEYS];
    };
};
_Static_assert(sizeof(struct btree_node) == 256 - 8,
               "a node is two lines of 128 bytes, less one word");

/* The result of splitting a node, for its parent. `right` is NULL if there was no split. */
struct split {
    uint64_t key;
    struct btree_node *right;
};

static struct btree_node *node_new(struct btree *tree, bool is_leaf)
{
    struct btree_node *node = tree->free;

    if (node)
        tree->free = node->next;
    else
        node = arena_alloc(tree->arena, sizeof *node, ARENA_LINE);
    node->count = 0;
    node->is_leaf = is_leaf;
    node->next = NULL;
    return node;
}

static void node_recycle(struct btree *tree, struct btree_node *node)
{
    node->next = tree->free;
    tree->free = node;
}

void btree_init(struct btree *tree, struct arena *arena)
{
    *tree = (struct btree){.arena = arena, .height = 1};
    tree->root = node_new(tree, true);
}

/* Returns the number of the node's keys that are less than `key`. */
static unsigned keys_below(const struct btree_node *node, uint64_t key)
{
    unsigned i = 0;

    while (i < node->count && node->key[i] < key)
        i++;
    return i;
}

/* Returns the index of the child of an inner node that holds `key`. */
static unsigned child_for(const struct btree_node *node, uint64_t key)
{
    unsigned i = keys_below(node, key);

    return i < node->count && node->key[i] == key ? i + 1 : i;
}

static const struct btree_node *leaf_for(const struct btree *tree, uint64_t key)
{
    const struct btree_node *node = tree->root;

    while (!node->is_leaf)
        node = node->child[child_for(node, key)];
    return node;
}

void *btree_find(const struct btree *tree, uint64_t key)
{
    const struct btree_node *leaf = leaf_for(tree, key);
    unsigned i = keys_below(leaf, key);

    return i < leaf->count && leaf->key[i] == key ? leaf->value[i] : NULL;
}

/* Open and close slot i of an array of `count` pointers or keys. */
#define OPEN_SLOT(array, i, count) \
    memmove(&(array)[(i) + 1], &(array)[i], ((count) - (i)) * sizeof(array)[0])
#define CLOSE_SLOT(array, i, count) \
    memmove(&(array)[i], &(array)[(i) + 1], ((count) - (i)-1) * sizeof(array)[0])
#define COPY(to, from, count) memcpy((to), (from), (count) * sizeof(to)[0])

static void leaf_put(struct btree_node *leaf, unsigned i, uint64_t key, void *value)
{
    OPEN_SLOT(leaf->key, i, leaf->count);
    OPEN_SLOT(leaf->value, i, leaf->count);
    leaf->key[i] = key;
    leaf->value[i] = value;
    leaf->count++;
}

/* Inserts a child behind slot i, with `key` as separator. */
static void inner_put(struct btree_node *node, unsigned i, uint64_t key, struct btree_node *child)
{
    OPEN_SLOT(node->key, i, node->count);
    OPEN_SLOT(node->child, i + 1, node->count + 1);
    node->key[i] = key;
    node->child[i + 1] = child;
    node->count++;
}

static struct split leaf_insert(struct btree *tree, struct btree_node *leaf, uint64_t key,
                                void *value)
{
    unsigned i = keys_below(leaf, key);
    unsigned keep = i == KEYS && !leaf->next ? KEYS : KEYS / 2;
    struct btree_node *right;

    if (leaf->count < KEYS) {
        leaf_put(leaf, i, key, value);
        return (struct split){0};
    }
    right = node_new(tree, true);
    right->count = KEYS - keep;
    COPY(right->key, leaf->key + keep, right->count);
    COPY(right->value, leaf->value + keep, right->count);
    right->next = leaf->next;
    leaf->next = right;
    leaf->count = keep;
    if (i < keep || (i == keep && keep < KEYS))
        leaf_put(leaf, i, key, value);
    else
        leaf_put(right, i - keep, key, value);
    return (struct split){right->key[0], right};
}

/* Inserts the result of splitting child i. A full node splits itself, and the key between the
 * halves moves up. */
static struct split inner_insert(struct btree *tree, struct btree_node *node, unsigned i,
                                 struct split below, bool edge)
{
    unsigned keep = edge && i == KEYS ? KEYS - 1 : KEYS / 2;
    struct btree_node *right;
    struct split split;

    if (node->count < KEYS) {
        inner_put(node, i, below.key, below.right);
        return (struct split){0};
    }
    right = node_new(tree, false);
    right->count = KEYS - keep - 1;
    COPY(right->key, node->key + keep + 1, right->count);
    COPY(right->child, node->child + keep + 1, right->count + 1);
    split = (struct split){node->key[keep], right};
    node->count = keep;
    if (i <= keep)
        inner_put(node, i, below.key, below.right);
    else
        inner_put(right, i - keep - 1, below.key, below.right);
    return split;
}

/* `edge`: the node is on the right edge of the tree. */
static struct split insert_below(struct btree *tree, struct btree_node *node, uint64_t key,
                                 void *value, bool edge)
{
    struct split split;
    unsigned i;

    if (node->is_leaf)
        return leaf_insert(tree, node, key, value);
    i = child_for(node, key);
    split = insert_below(tree, node->child[i], key, value, edge && i == node->count);
    return split.right ? inner_insert(tree, node, i, split, edge) : split;
}

bool btree_insert(struct btree *tree, uint64_t key, void *value)
{
    struct split split;
    struct btree_node *root;

    if (btree_find(tree, key))
        return false;
    split = insert_below(tree, tree->root, key, value, true);
    if (split.right) {
        root = node_new(tree, false);
        root->count = 1;
        root->key[0] = split.key;
        root->child[0] = tree->root;
        root->child[1] = split.right;
        tree->root = root;
        tree->height++;
    }
    tree->count++;
    return true;
}

static bool is_sparse(const struct btree_node *node)
{
    return node->count < (node->is_leaf ? LEAF_MIN : INNER_MIN);
}

/* Merges child i + 1 of the parent into child i and removes it from the parent. */
static void merge_children(struct btree *tree, struct btree_node *parent, unsigned i)
{
    struct btree_node *left = parent->child[i], *right = parent->child[i + 1];

    if (left->is_leaf) {
        COPY(left->key + left->count, right->key, right->count);
        COPY(left->value + left->count, right->value, right->count);
        left->next = right->next;
        left->count += right->count;
    } else {
        left->key[left->count] = parent->key[i];
        COPY(left->key + left->count + 1, right->key, right->count);
        COPY(left->child + left->count + 1, right->child, right->count + 1);
        left->count += right->count + 1;
    }
    CLOSE_SLOT(parent->key, i, parent->count);
    CLOSE_SLOT(parent->child, i + 1, parent->count + 1);
    parent->count--;
    node_recycle(tree, right);
}

/* Moves the last entry of child i of the parent to the front of child i + 1. */
static void shift_right(struct btree_node *parent, unsigned i)
{
    struct btree_node *left = parent->child[i], *right = parent->child[i + 1];
    unsigned last = left->count - 1;

    if (left->is_leaf) {
        leaf_put(right, 0, left->key[last], left->value[last]);
        parent->key[i] = right->key[0];
    } else {
        OPEN_SLOT(right->key, 0, right->count);
        OPEN_SLOT(right->child, 0, right->count + 1);
        right->key[0] = parent->key[i];
        right->child[0] = left->child[last + 1];
        right->count++;
        parent->key[i] = left->key[last];
    }
    left->count--;
}

/* Moves the first entry of child i + 1 of the parent to the end of child i. */
static void shift_left(struct btree_node *parent, unsigned i)
{
    struct btree_node *left = parent->child[i], *right = parent->child[i + 1];

    if (left->is_leaf) {
        leaf_put(left, left->count, right->key[0], right->value[0]);
        CLOSE_SLOT(right->key, 0, right->count);
        CLOSE_SLOT(right->value, 0, right->count);
        parent->key[i] = right->key[0];
    } else {
        inner_put(left, left->count, parent->key[i], right->child[0]);
        parent->key[i] = right->key[0];
        CLOSE_SLOT(right->key, 0, right->count);
        CLOSE_SLOT(right->child, 0, right->count + 1);
    }
    right->count--;
}

/* Merges child i, which has become sparse, with a neighbour, or takes an entry from it. */
static void refill(struct btree *tree, struct btree_node *parent, unsigned i)
{
    unsigned at = i < parent->count ? i : i - 1; /* the pair is children at and at + 1 */
    struct btree_node *left = parent->child[at], *right = parent->child[at + 1];
    unsigned both = left->count + right->count + (left->is_leaf ? 0 : 1);

    if (both <= KEYS)
        merge_children(tree, parent, at);
    else if (at == i)
        shift_left(parent, at);
    else
        shift_right(parent, at);
}

static void *leaf_remove(struct btree_node *leaf, uint64_t key)
{
    unsigned i = keys_below(leaf, key);
    void *value;

    if (i == leaf->count || leaf->key[i] != key)
        return NULL;
    value = leaf->value[i];
    CLOSE_SLOT(leaf->key, i, leaf->count);
    CLOSE_SLOT(leaf->value, i, leaf->count);
    leaf->count--;
    return value;
}

static void *remove_below(struct btree *tree, struct btree_node *node, uint64_t key)
{
    unsigned i;
    void *value;

    if (node->is_leaf)
        return leaf_remove(node, key);
    i = child_for(node, key);
    value = remove_below(tree, node->child[i], key);
    if (value && is_sparse(node->child[i]))
        refill(tree, node, i);
    return value;
}

void *btree_remove(struct btree *tree, uint64_t key)
{
    void *value = remove_below(tree, tree->root, key);
    struct btree_node *root = tree->root;

    if (!value)
        return NULL;
    tree->count--;
    if (!root->is_leaf && root->count == 0) {
        tree->root = root->child[0];
        tree->height--;
        node_recycle(tree, root);
    }
    return value;
}

bool btree_seek(const struct btree *tree, uint64_t key, struct btree_cursor *cursor)
{
    cursor->leaf = leaf_for(tree, key);
    cursor->slot = keys_below(cursor->leaf, key);
    if (cursor->slot < cursor->leaf->count)
        return true;
    cursor->leaf = cursor->leaf->next;
    cursor->slot = 0;
    return cursor->leaf != NULL;
}

bool btree_next(struct btree_cursor *cursor)
{
    if (++cursor->slot < cursor->leaf->count)
        return true;
    cursor->leaf = cursor->leaf->next;
    cursor->slot = 0;
    return cursor->leaf != NULL;
}

uint64_t btree_key(const struct btree_cursor *cursor)
{
    return cursor->leaf->key[cursor->slot];
}

void *btree_value(const struct btree_cursor *cursor)
{
    return cursor->leaf->value[cursor->slot];
}

/* Progress of a check; leaves are met from left to right. */
struct check {
    const struct btree_node *last_leaf;
    size_t keys;
};

static const char *check_leaf(const struct btree_node *leaf, struct check *check)
{
    for (unsigned i = 0; i < leaf->count; i++) {
        if (!leaf->value[i])
            return "value missing";
    }
    if (check->last_leaf && check->last_leaf->next != leaf)
        return "leaf chain broken";
    check->last_leaf = leaf;
    check->keys += leaf->count;
    return NULL;
}

/* Checks a subtree with keys in low..high inclusive. `edge`: on the right edge, where nodes may be
 * sparse. */
static const char *check_node(const struct btree_node *node, unsigned level, uint64_t low,
                              uint64_t high, bool edge, struct check *check)
{
    const char *broken = NULL;

    if (node->is_leaf != (level == 1))
        return "leaves at different depths";
    if (node->count > KEYS || (!edge && is_sparse(node)) || (!node->is_leaf && node->count == 0))
        return "node too full or too sparse";
    for (unsigned i = 0; i < node->count; i++) {
        if (node->key[i] < low || node->key[i] > high || (i && node->key[i] <= node->key[i - 1]))
            return "keys out of order";
    }
    if (node->is_leaf)
        return check_leaf(node, check);
    for (unsigned i = 0; i <= node->count && !broken; i++) {
        uint64_t from = i ? node->key[i - 1] : low;
        uint64_t to = i < node->count ? node->key[i] - 1 : high;
        broken = check_node(node->child[i], level - 1, from, to, edge && i == node->count, check);
    }
    return broken;
}

const char *btree_check(const struct btree *tree)
{
    struct check check = {0};
    const char *broken = check_node(tree->root, tree->height, 0, UINT64_MAX, true, &check);

    if (broken)
        return broken;
    if (check.last_leaf->next)
        return "leaf chain does not end";
    return check.keys == tree->count ? NULL : "count wrong";
}
