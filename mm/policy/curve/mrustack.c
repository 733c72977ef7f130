/*
 * MRU's stack. See mrustack.h.
 *
 * Let s[1], s[2], ... be its pages; memory of C pages holds s[1..C], and s[1] is the page used
 * last. An access to s[d] misses where C < d: s[1] is evicted, and the page comes in as the new
 * s[1]. Where C >= d nothing changes but the page used last. Both are the swap of s[1] and s[d].
 * With a hole at h < d, memories of h <= C < d pages have a frame free, so that nothing is evicted:
 * s[1] goes to the hole, and the hole to d, where larger memories still have it.
 */
#include "mm/policy/curve/mrustack.h"

static uint32_t words(uint32_t nodes)
{
    return nodes / 64 + 1;
}

/* Returns the offset of the bits of holes: the struct and the depths in whole words of 8 bytes. */
static size_t holes_offset(uint32_t nodes)
{
    return ALIGN_UP(sizeof(struct mrustack) + nodes * sizeof(uint32_t), sizeof(uint64_t));
}

static uint64_t *hole_bits(struct mrustack *s)
{
    return (uint64_t *)((char *)s + holes_offset(s->nodes));
}

size_t mrustack_bytes(uint32_t nodes)
{
    return holes_offset(nodes) + words(nodes) * sizeof(uint64_t);
}

void mrustack_init(struct mrustack *s, uint32_t nodes)
{
    ASSERT(nodes >= 1);
    memset(s, 0, mrustack_bytes(nodes));
    s->nodes = nodes;
    s->top = MRUSTACK_NONE;
}

void mrustack_grow(struct mrustack *s, uint32_t nodes)
{
    uint32_t old = s->nodes;
    const uint64_t *from = hole_bits(s);

    ASSERT(nodes >= old);
    s->nodes = nodes;
    memmove(hole_bits(s), from, words(old) * sizeof(uint64_t));
    memset(hole_bits(s) + words(old), 0, (words(nodes) - words(old)) * sizeof(uint64_t));
    memset(&s->depth[old], 0, (size_t)((char *)hole_bits(s) - (char *)&s->depth[old]));
}

static void add_hole(struct mrustack *s, uint32_t depth)
{
    hole_bits(s)[depth / 64] |= 1ull << depth % 64;
    s->lowest = s->holes ? MIN(s->lowest, depth) : depth;
    s->holes++;
}

/* Returns the depth of the hole next to the top; there is one. */
static uint32_t lowest_hole(struct mrustack *s)
{
    const uint64_t *bits = hole_bits(s);
    uint32_t word = s->lowest / 64;
    uint64_t in_word = bits[word] & ~0ull << s->lowest % 64;

    while (!in_word)
        in_word = bits[++word];
    s->lowest = word * 64 + (uint32_t)__builtin_ctzll(in_word);
    return s->lowest;
}

static void fill_hole(struct mrustack *s, uint32_t depth)
{
    hole_bits(s)[depth / 64] &= ~(1ull << depth % 64);
    s->holes--;
}

/* Makes room at the top for a page from `depth`, or for a new one (0). Returns the new depth of the
 * page that was at the top. */
static uint32_t make_room(struct mrustack *s, uint32_t depth)
{
    if (s->holes && (depth == 0 || lowest_hole(s) < depth)) {
        uint32_t hole = lowest_hole(s);
        fill_hole(s, hole);
        if (depth)
            add_hole(s, depth);
        return hole;
    }
    return depth ? depth : ++s->extent;
}

uint32_t mrustack_touch(struct mrustack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    uint32_t from = s->depth[node], room = from;

    if (from == 1)
        return 1;
    if (s->holes || from == 0)
        room = make_room(s, from);
    if (s->top != MRUSTACK_NONE)
        s->depth[s->top] = room;
    s->depth[node] = 1;
    s->top = node;
    return from;
}

/* Swaps each page with the top, in a stack with a top and without holes, up to the first page that
 * is not in it. Returns the number of pages. */
static size_t swap_all(struct mrustack *s, const uint32_t *node, size_t n,
                       const struct tally *depths)
{
    uint32_t top = s->top, from;
    size_t i;

    for (i = 0; i < n && (from = s->depth[node[i]]); i++) {
        tally_add(depths, from, 1);
        s->depth[top] = from;
        top = node[i];
        s->depth[top] = 1;
    }
    s->top = top;
    return i;
}

void mrustack_touch_all(struct mrustack *s, const uint32_t *node, size_t n, struct tally depths)
{
    for (size_t i = 0; i < n;) {
        uint32_t depth = mrustack_touch(s, node[i++]);
        if (depth)
            tally_add(&depths, depth, 1);
        if (!s->holes)
            i += swap_all(s, node + i, n - i, &depths);
    }
}

void mrustack_remove(struct mrustack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    if (s->depth[node] == 0)
        return;
    add_hole(s, s->depth[node]);
    if (s->top == node)
        s->top = MRUSTACK_NONE;
    s->depth[node] = 0;
}

const char *mrustack_check(const struct mrustack *s)
{
    const uint64_t *bits = (const uint64_t *)((const char *)s + holes_offset(s->nodes));
    uint32_t holes = 0;

    if (s->extent > s->nodes)
        return "the stack is deeper than there are pages";
    for (uint32_t depth = 0; depth <= s->nodes; depth++) {
        bool hole = bits[depth / 64] >> depth % 64 & 1;
        unsigned pages = 0;

        for (uint32_t node = 0; depth && node < s->nodes; node++)
            pages += s->depth[node] == depth;
        if (pages + hole != (depth >= 1 && depth <= s->extent))
            return "a depth has not one page or hole";
        if (hole && depth < s->lowest)
            return "a hole is above the lowest";
        holes += hole;
    }
    if (holes != s->holes)
        return "the number of holes is wrong";
    if (s->top != MRUSTACK_NONE && (s->top >= s->nodes || s->depth[s->top] != 1))
        return "the top is not at depth 1";
    return NULL;
}
