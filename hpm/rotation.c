/* Order of the groups within a round; see rotation.h. */
#include "hpm/rotation.h"

/* xorshift64 (Marsaglia 2003). */
static uint64_t draw(struct rotation *r)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return r->random;
}

/* Fisher-Yates. */
static void shuffle(struct rotation *r)
{
    for (unsigned left = r->groups; left > 1; left--) {
        unsigned pick = (unsigned)((draw(r) >> 32) % left);
        uint8_t swapped = r->order[left - 1];
        r->order[left - 1] = r->order[pick];
        r->order[pick] = swapped;
    }
}

void rotation_init(struct rotation *r, unsigned groups, uint64_t seed)
{
    ASSERT(groups >= 1 && groups <= GROUP_MAX);
    *r = (struct rotation){.groups = groups, .random = seed * 0x9e3779b97f4a7c15 | 1};
    for (unsigned g = 0; g < groups; g++)
        r->order[g] = (uint8_t)g;
    shuffle(r);
}

unsigned rotation_now(const struct rotation *r)
{
    return r->order[r->position];
}

unsigned rotation_next(struct rotation *r)
{
    if (++r->position == r->groups) {
        r->position = 0;
        shuffle(r);
    }
    return rotation_now(r);
}
