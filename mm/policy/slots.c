/* See slots.h. */
#include "mm/policy/slots.h"

_Static_assert(SLOT_CLUSTER == 32, "a word has a bit per slot");

uint64_t slots_bytes(uint32_t pages)
{
    return sizeof(struct slots) + pages / SLOT_CLUSTER * sizeof(uint32_t);
}

void slots_init(struct slots *s, uint32_t pages)
{
    ASSERT(pages >= SLOT_CLUSTER);
    *s = (struct slots){.clusters = pages / SLOT_CLUSTER};
    s->slots = s->clusters * SLOT_CLUSTER - 1;
    memset(s->taken, 0, s->clusters * sizeof(s->taken[0]));
    s->taken[0] = 1;
    s->free = s->slots;
    s->whole = s->clusters - 1;
}

static uint32_t bit_of(uint32_t slot)
{
    return UINT32_C(1) << slot % SLOT_CLUSTER;
}

static bool is_free(const struct slots *s, uint32_t slot)
{
    return slot != SLOT_NONE && slot <= s->slots && !(s->taken[slot / SLOT_CLUSTER] & bit_of(slot));
}

static uint32_t take(struct slots *s, uint32_t slot)
{
    uint32_t *word = &s->taken[slot / SLOT_CLUSTER];

    s->whole -= !*word;
    *word |= bit_of(slot);
    s->free--;
    return slot;
}

/* Returns the next cluster, from *at on and round, that is whole, or has a free slot; there is
 * one. */
static uint32_t next_cluster(const struct slots *s, uint32_t *at, bool whole)
{
    while (whole ? s->taken[*at] != 0 : s->taken[*at] == UINT32_MAX)
        *at = *at + 1 == s->clusters ? 0 : *at + 1;
    return *at;
}

uint32_t slots_take(struct slots *s, uint32_t want, unsigned index)
{
    ASSERT(index < SLOT_CLUSTER);
    if (!s->free)
        return SLOT_NONE;
    if (is_free(s, want))
        return take(s, want);
    if (s->whole)
        return take(s, next_cluster(s, &s->next_whole, true) * SLOT_CLUSTER + index);
    uint32_t cluster = next_cluster(s, &s->next_single, false);
    return take(s, cluster * SLOT_CLUSTER + (uint32_t)__builtin_ctz(~s->taken[cluster]));
}

void slots_give(struct slots *s, uint32_t slot)
{
    ASSERT(slot != SLOT_NONE && slot <= s->slots && !is_free(s, slot));
    uint32_t *word = &s->taken[slot / SLOT_CLUSTER];
    *word &= ~bit_of(slot);
    s->whole += !*word;
    s->free++;
}

static uint32_t bits_in(uint32_t word)
{
    uint32_t n = 0;

    for (; word; word &= word - 1)
        n++;
    return n;
}

const char *slots_check(const struct slots *s)
{
    uint32_t free = 0, whole = 0;

    for (uint32_t c = 0; c < s->clusters; c++) {
        free += SLOT_CLUSTER - bits_in(s->taken[c]);
        whole += !s->taken[c];
    }
    if (s->slots != s->clusters * SLOT_CLUSTER - 1)
        return "not as many slots as clusters have";
    if (!(s->taken[0] & 1))
        return "slot 0 is free";
    if (free != s->free || whole != s->whole)
        return "the counts of what is free are wrong";
    if (s->next_whole >= s->clusters || s->next_single >= s->clusters)
        return "the search goes on outside";
    return NULL;
}
