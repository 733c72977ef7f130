/*
 * A digital search tree (Coffman and Eve 1970; Knuth, TAOCP vol. 3, 6.3). A name's bits give its
 * way down from the root; the name stands at the first free place on it. So all names below a name
 * share the bits that led to it, and any of them could take its place.
 */
#include "kernel/proc/sleepers.h"

#define NAME_BITS 128

static bool same_name(const struct sleeper *s, struct word_name name)
{
    return s->name.hash == name.hash && s->name.space == name.space;
}

/* Takes the hash's lowest bits first: the highest choose the bucket, and are the same in one
 * tree. */
static unsigned bit_of(struct word_name name, unsigned depth)
{
    return (depth < 64 ? name.hash >> depth : name.space >> (depth - 64)) & 1;
}

/* Returns the place where the name stands, or would be put. */
static struct sleeper **slot_of(struct sleeper **at, struct word_name name)
{
    for (unsigned depth = 0; *at && !same_name(*at, name); depth++) {
        ASSERT(depth < NAME_BITS);
        at = &(*at)->child[bit_of(name, depth)];
    }
    return at;
}

struct sleeper *sleepers_first(const struct sleepers *s, struct word_name name)
{
    struct sleeper *root = s->root;

    return *slot_of(&root, name);
}

void sleepers_add(struct sleepers *s, struct sleeper *new)
{
    struct sleeper **at = slot_of(&s->root, new->name);

    list_init(&new->same);
    new->child[0] = new->child[1] = NULL;
    new->asleep = true;
    if (*at)
        /* Before the first of a circle is behind the last. */
        list_insert_before(&(*at)->same, &new->same);
    else
        *at = new;
}

/* Takes any leaf from below a name that is no leaf. */
static struct sleeper *take_leaf(struct sleeper *top)
{
    struct sleeper **at = &top;

    while ((*at)->child[0] || (*at)->child[1])
        at = &(*at)->child[!(*at)->child[0]];
    struct sleeper *leaf = *at;
    *at = NULL;
    return leaf;
}

void sleepers_remove(struct sleepers *s, struct sleeper *old)
{
    struct sleeper **at = slot_of(&s->root, old->name), *heir = NULL;

    ASSERT(old->asleep && *at);
    old->asleep = false;
    if (*at == old) {
        if (!list_empty(&old->same))
            heir = container_of(old->same.next, struct sleeper, same);
        else if (old->child[0] || old->child[1])
            heir = take_leaf(old);
        if (heir)
            memcpy(heir->child, old->child, sizeof(heir->child));
        *at = heir;
    }
    list_remove(&old->same);
}

static unsigned check_below(const struct sleeper *top, struct word_name way, unsigned depth)
{
    unsigned deepest = depth;

    if (!top)
        return 0;
    ASSERT(depth <= NAME_BITS);
    for (unsigned i = 0; i < depth; i++)
        ASSERT(bit_of(top->name, i) == bit_of(way, i));
    ASSERT(top->asleep);
    list_for_each (it, &top->same) {
        const struct sleeper *other = container_of(it, struct sleeper, same);
        ASSERT(other->asleep && same_name(other, top->name));
    }
    for (unsigned side = 0; side < 2; side++) {
        struct word_name below = top->name;
        if (depth < NAME_BITS && bit_of(below, depth) != side)
            *(depth < 64 ? &below.hash : &below.space) ^= (uint64_t)1 << depth % 64;
        deepest = MAX(deepest, check_below(top->child[side], below, depth + 1));
    }
    return deepest;
}

unsigned sleepers_check_for_test(const struct sleepers *s)
{
    return check_below(s->root, (struct word_name){0}, 0);
}
