/* See tree.h. An AVL tree (Adelson-Velsky and Landis 1962) whose nodes know the largest gap below
 * them. */
#include "mm/policy/region/tree.h"

static int height(const struct region *x)
{
    return x ? x->height : 0;
}

/* Sets what x knows of the tree below it. */
static void learn(struct region *x)
{
    const struct region *l = x->left, *r = x->right;

    x->height = (uint8_t)(1 + MAX(height(l), height(r)));
    x->low = l ? l->low : x->start;
    x->high = r ? r->high : x->end;
    x->gap = 0;
    if (l)
        x->gap = MAX(l->gap, x->start - l->high);
    if (r)
        x->gap = MAX(x->gap, MAX(r->gap, r->low - x->end));
}

/* Puts `now`, which may be NULL, in the place of `old` below its parent. */
static void take_place(struct regions *r, const struct region *old, struct region *now)
{
    struct region *parent = old->parent;

    if (!parent)
        r->root = now;
    else if (parent->left == old)
        parent->left = now;
    else
        parent->right = now;
    if (now)
        now->parent = parent;
}

/* Turns x and its right child, or its left one, which comes to stand above x. Returns that. */
static struct region *rotate(struct regions *r, struct region *x, bool right)
{
    struct region *up = right ? x->right : x->left, *inner = right ? up->left : up->right;

    take_place(r, x, up);
    if (right) {
        x->right = inner;
        up->left = x;
    } else {
        x->left = inner;
        up->right = x;
    }
    if (inner)
        inner->parent = x;
    x->parent = up;
    learn(x);
    learn(up);
    return up;
}

/* Balances the tree from x up to the root, after a node was put in or taken out below x. */
static void balance(struct regions *r, struct region *x)
{
    for (; x; x = x->parent) {
        learn(x);
        int lean = height(x->right) - height(x->left);
        if (lean > 1 || lean < -1) {
            bool right = lean > 0;
            struct region *child = right ? x->right : x->left;
            if (right ? height(child->left) > height(child->right)
                      : height(child->right) > height(child->left))
                rotate(r, child, !right);
            x = rotate(r, x, right);
        }
    }
}

void tree_insert(struct regions *r, struct region *x)
{
    struct region *parent = NULL, **at = &r->root;

    while (*at) {
        parent = *at;
        at = x->start < parent->start ? &parent->left : &parent->right;
    }
    *at = x;
    x->left = x->right = NULL;
    x->parent = parent;
    r->count++;
    balance(r, x);
}

void tree_remove(struct regions *r, struct region *x)
{
    struct region *from = x->parent;

    r->count--;
    if (!x->left || !x->right) {
        take_place(r, x, x->left ? x->left : x->right);
        balance(r, from);
        return;
    }
    struct region *next = region_next(x); /* has no left child, and takes the place of x */
    from = next->parent == x ? next : next->parent;
    if (next != x->right) {
        take_place(r, next, next->right);
        next->right = x->right;
        next->right->parent = next;
    }
    take_place(r, x, next);
    next->left = x->left;
    next->left->parent = next;
    balance(r, from);
}

void tree_moved(UNUSED struct regions *r, struct region *x)
{
    for (; x; x = x->parent)
        learn(x);
}

static uint32_t check_below(const struct region *x, const struct region *parent)
{
    if (!x)
        return 0;
    uint32_t n = 1 + check_below(x->left, x) + check_below(x->right, x);
    struct region again = *x;
    learn(&again);
    ASSERT(x->parent == parent && x->height == again.height && x->low == again.low &&
           x->high == again.high && x->gap == again.gap);
    ASSERT(height(x->left) - height(x->right) <= 1 && height(x->right) - height(x->left) <= 1);
    return n;
}

uint32_t tree_check(const struct regions *r)
{
    return check_below(r->root, NULL);
}
