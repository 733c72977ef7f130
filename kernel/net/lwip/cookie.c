/* SYN cookies. See cookie.h. */
#include "kernel/net/lwip/cookie.h"

#define UNIT_SHIFT  16 /* of ms: 65 s */
#define UNIT_MASK   (UINT32_MAX >> UNIT_SHIFT)
#define UNITS_VALID 2
#define TIME_SHIFT  27
#define TIME_MASK   31u
#define CHOICE_MASK 7u
#define HASH_BITS   24
#define HASH_MASK   ((1u << HASH_BITS) - 1)

static const uint16_t segments[CHOICE_MASK + 1] = {64, 536, 1220, 1400, 1440, 1460, 4312, 8192};

static uint32_t hash(const struct siphash_key *k, const struct demux_ends *e, uint32_t first,
                     uint32_t unit, unsigned choice)
{
    const uint64_t words[] = {(uint64_t)e->remote_ip << 32 | e->own_ip,
                              (uint64_t)e->remote_port << 48 | (uint64_t)e->own_port << 32 | first,
                              (uint64_t)unit << 32 | choice};

    return (uint32_t)siphash(k, words, ARRAY_SIZE(words)) & HASH_MASK;
}

uint32_t cookie_make(const struct siphash_key *k, const struct demux_ends *e, uint32_t first,
                     uint32_t segment, uint32_t ms)
{
    uint32_t unit = ms >> UNIT_SHIFT;
    unsigned choice = CHOICE_MASK;

    while (choice && segments[choice] > segment)
        choice--;
    return (unit & TIME_MASK) << TIME_SHIFT | choice << HASH_BITS | hash(k, e, first, unit, choice);
}

uint16_t cookie_check(const struct siphash_key *k, const struct demux_ends *e, uint32_t first,
                      uint32_t cookie, uint32_t ms)
{
    uint32_t now = ms >> UNIT_SHIFT, age = (now - (cookie >> TIME_SHIFT)) & TIME_MASK;
    uint32_t made = (now - age) & UNIT_MASK;
    unsigned choice = cookie >> HASH_BITS & CHOICE_MASK;

    if (age >= UNITS_VALID || (cookie & HASH_MASK) != hash(k, e, first, made, choice))
        return 0;
    return segments[choice];
}
