/*
 * Reuse distances under LRU. See lrudist.h.
 *
 * bits: one for each slot, set when a page has it. tree: tree[i] counts the pages in the words from
 * i less its lowest set bit up to i, excluded; tree[0] is not used, and those from `entered` on are
 * to come. The word that slots are being given from is in bits only, and enters the tree when it is
 * full; its slots that are still to be given are set beforehand. Pages that have left the near word
 * are subtracted from the tree when another word becomes the near one.
 *
 * A distance is the number of pages less those with slots before. Pages used in the order of the
 * last time free slots in a row: when the second is used, the number of pages with slots before it
 * is the same as for the first.
 */
#include "mm/policy/curve/lrudist.h"

enum { WORD = 64, SLOTS_PER_NODE = 8 };

/* The last slot of the last word, and one more, are numbers of 32 bits. */
_Static_assert((uint64_t)LRUDIST_NODES_MAX *SLOTS_PER_NODE <= UINT32_MAX - WORD + 1,
               "slots overflow");

static uint32_t words_of(uint32_t nodes)
{
    return (uint32_t)(((uint64_t)nodes * SLOTS_PER_NODE + WORD - 1) / WORD);
}

static size_t bits_offset(uint32_t nodes)
{
    return ALIGN_UP(sizeof(struct lrudist) + nodes * sizeof(uint32_t), sizeof(uint64_t));
}

static size_t tree_bytes(uint32_t words)
{
    return (words + 1) * sizeof(uint32_t);
}

static uint64_t *bits_of(const struct lrudist *d)
{
    return (uint64_t *)((char *)(uintptr_t)d + d->bits_at);
}

static uint32_t *tree_of(const struct lrudist *d)
{
    return (uint32_t *)(bits_of(d) + d->words);
}

size_t lrudist_bytes(uint32_t nodes)
{
    uint32_t words = words_of(nodes);

    ASSERT(nodes >= 1 && nodes <= LRUDIST_NODES_MAX);
    return ALIGN_UP(bits_offset(nodes) + words * sizeof(uint64_t) + tree_bytes(words),
                    sizeof(uint64_t));
}

static void set_nodes(struct lrudist *d, uint32_t nodes)
{
    d->nodes = nodes;
    d->words = words_of(nodes);
    d->bits_at = bits_offset(nodes);
}

void lrudist_init(struct lrudist *d, uint32_t nodes)
{
    memset(d, 0, lrudist_bytes(nodes));
    set_nodes(d, nodes);
    bits_of(d)[0] = ~0ull;
}

/* Set bits (Warren, Hacker's Delight, 5-1): without an instruction that some processors lack. */
static ALWAYS_INLINE unsigned ones(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (unsigned)(x * 0x0101010101010101 >> 56);
}

static ALWAYS_INLINE void tree_add(struct lrudist *d, uint32_t word, uint32_t n)
{
    uint32_t *tree = tree_of(d), end = d->entered;

    for (uint32_t i = word + 1; i <= end; i += i & -i)
        tree[i] += n;
}

/* Appends the next word to the tree. */
static void tree_append(struct lrudist *d, uint32_t n)
{
    uint32_t *tree = tree_of(d), i = ++d->entered;

    for (uint32_t part = 1; part < (i & -i); part *= 2)
        n += tree[i - part];
    tree[i] = n;
}

static uint32_t tree_sum(const struct lrudist *d, uint32_t word)
{
    const uint32_t *tree = tree_of(d);
    uint32_t n = 0;

    for (uint32_t i = word; i > 0; i &= i - 1)
        n += tree[i];
    return n;
}

/* Makes a word the near one. Out of line, as all that is seldom done: the rest then needs few
 * registers. */
static __attribute__((noinline)) void come_near(struct lrudist *d, uint32_t word)
{
    if (d->gone)
        tree_add(d, d->near, -d->gone);
    d->near = word;
    d->sum = tree_sum(d, word);
    d->gone = 0;
}

/* Enters a word into the tree when its last slot has been taken: slots come from the next one. */
static __attribute__((noinline)) void enter_tree(struct lrudist *d, uint32_t word)
{
    tree_append(d, ones(bits_of(d)[word]));
    if (word + 1 < d->words)
        bits_of(d)[word + 1] = ~0ull;
}

/* Marks the first slots, one for each page, as taken, and clears everything behind the numbers of
 * slots. */
static void fill_first(struct lrudist *d)
{
    uint64_t *bits = bits_of(d);

    memset(bits, 0, d->words * sizeof(uint64_t) + tree_bytes(d->words));
    d->next = d->size;
    d->near = d->sum = d->gone = d->entered = 0;
    for (uint32_t word = 0; word < d->size / WORD; word++) {
        bits[word] = ~0ull;
        tree_append(d, WORD);
    }
    bits[d->size / WORD] = ~0ull;
}

/* Returns the number of slots taken up to this one, by the sums of those before each word. */
static ALWAYS_INLINE uint32_t rank(const uint64_t *bits, const uint32_t *sums, uint32_t slot)
{
    return sums[slot / WORD] + ones(bits[slot / WORD] & ((2ull << slot % WORD) - 1));
}

/* Gives the pages the first slots, in the order they have. The tree makes way for plain sums,
 * which are quicker to ask. */
static __attribute__((noinline)) void renumber(struct lrudist *d)
{
    const uint64_t *bits = bits_of(d);
    uint32_t *sums = tree_of(d), sum = 0;

    for (uint32_t word = 0; word < d->words; word++) {
        sums[word] = sum;
        sum += ones(bits[word]);
    }
    for (uint32_t node = 0; node < d->nodes; node++) {
        if (d->slot[node])
            d->slot[node] = rank(bits, sums, d->slot[node] - 1);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(d->mark); i++)
        if (d->mark[i])
            d->mark[i] = rank(bits, sums, d->mark[i] - 1);
    fill_first(d);
}

void lrudist_grow(struct lrudist *d, uint32_t nodes)
{
    uint32_t old = d->nodes;

    ASSERT(nodes >= old && nodes <= LRUDIST_NODES_MAX);
    renumber(d);
    set_nodes(d, nodes);
    memset(&d->slot[old], 0, (nodes - old) * sizeof d->slot[0]);
    fill_first(d);
}

static ALWAYS_INLINE uint32_t distance_of(struct lrudist *d, uint64_t in_word, uint32_t word,
                                          uint32_t bit)
{
    if (word != d->near)
        come_near(d, word);
    return d->size - d->sum - ones(in_word & ((1ull << bit) - 1));
}

/* Goes on to the next word when all slots of one have been given. */
static __attribute__((noinline)) void end_word(struct lrudist *d)
{
    enter_tree(d, d->next / WORD - 1);
    if (d->next == d->words * WORD)
        renumber(d);
}

/* Pages in a row with one distance; 0: not used before. */
struct run {
    uint32_t distance, pages;
};

/* Gives new slots to pages from *node on, up to `most`, as long as their old slots, the first of
 * which is `slot`, are in a row and in one word, and so are their new ones. */
static ALWAYS_INLINE struct run touch_row(struct lrudist *d, const uint32_t *node, size_t most,
                                          uint32_t slot)
{
    uint32_t word = (slot - 1) / WORD, bit = (slot - 1) % WORD, at = *node, nodes = d->nodes,
             next = d->next;
    const uint32_t *end = node + MIN(most, (size_t)(WORD - MAX(bit, next % WORD)));
    uint64_t *bits = &bits_of(d)[word];
    uint32_t distance = distance_of(d, *bits, word, bit);

    do {
        d->slot[at] = ++next;
        slot++;
    } while (++node < end && (at = *node) < nodes && d->slot[at] == slot);
    uint32_t n = next - d->next;
    *bits &= ~(~0ull >> (WORD - n) << bit);
    if (word < d->entered)
        d->gone += n;
    d->next = next;
    return (struct run){distance, n};
}

/* Gives new slots to at least one page from *node on, up to `most`. */
static ALWAYS_INLINE struct run touch_some(struct lrudist *d, const uint32_t *node, size_t most)
{
    ASSERT(*node < d->nodes);
    uint32_t slot = d->slot[*node];
    struct run run = {0, 1};

    if (slot && slot == d->next)
        return (struct run){1, 1}; /* the page used last may keep its slot */
    if (slot) {
        run = touch_row(d, node, most, slot);
    } else {
        d->size++;
        d->slot[*node] = ++d->next;
    }
    if (d->next % WORD == 0)
        end_word(d);
    return run;
}

uint32_t lrudist_touch_all(struct lrudist *d, const uint32_t *node, size_t n,
                           struct tally distances)
{
    uint32_t size = d->size;

    for (size_t i = 0; i < n;) {
        struct run run = touch_some(d, node + i, n - i);
        if (run.distance)
            tally_add(&distances, run.distance, run.pages);
        i += run.pages;
    }
    return d->size - size;
}

uint32_t lrudist_touch_for_test(struct lrudist *d, uint32_t node)
{
    return touch_some(d, &node, 1).distance;
}

void lrudist_mark(struct lrudist *d)
{
    d->mark[1] = d->mark[0];
    d->mark[0] = d->next - (d->next > 0);
}

bool lrudist_is_recent(const struct lrudist *d, uint32_t node)
{
    ASSERT(node < d->nodes);
    return d->slot[node] > d->mark[1];
}

const char *lrudist_check(const struct lrudist *d)
{
    uint32_t taken = 0, pages = 0;
    const uint64_t *bits = bits_of(d);

    if (d->words != words_of(d->nodes) || d->next >= d->words * WORD ||
        d->entered != d->next / WORD)
        return "slots were given beyond the row";
    for (uint32_t node = 0; node < d->nodes; node++) {
        uint32_t slot = d->slot[node];
        if (slot > d->next || (slot && !(bits[(slot - 1) / WORD] >> (slot - 1) % WORD & 1)))
            return "a page has a slot that is not taken";
        pages += slot != 0;
    }
    if (d->near > d->next / WORD || (d->near && tree_sum(d, d->near) != d->sum))
        return "the near word's sum is wrong";
    for (uint32_t word = 0; word < d->words; word++) {
        if (word <= d->next / WORD && tree_sum(d, word) - (word > d->near ? d->gone : 0) != taken)
            return "the tree does not count the slots taken";
        taken += ones(bits[word]);
    }
    if (d->next < d->words * WORD) {
        uint64_t to_give = ~0ull << d->next % WORD;
        if ((bits[d->next / WORD] & to_give) != to_give)
            return "a slot that is still to be given is free";
        taken -= ones(to_give);
    }
    return taken == pages && pages == d->size
               ? NULL
               : "two pages have one slot, or the number of pages is wrong";
}
