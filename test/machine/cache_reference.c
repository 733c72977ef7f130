/* The slow model of the caches; see cache_reference.h. */
#include <string.h>
#include "test/machine/cache_reference.h"

void reference_init(struct reference *r, const struct topology *t)
{
    memset(r, 0, sizeof(*r));
    r->topology = t;
    for (unsigned line = 0; line < REFERENCE_LINES; line++)
        r->lines[line].owner = r->lines[line].writing_core = -1;
}

/* Returns whether chips other than `but` have the line in the L2 (level 2) or the L3 (level 3). */
static bool others_have(const struct reference *r, unsigned line, unsigned but, int level)
{
    const uint64_t *used = level == 2 ? r->lines[line].l2 : r->lines[line].l3;
    for (unsigned chip = 0; chip < r->topology->chips; chip++)
        if (chip != but && used[chip])
            return true;
    return false;
}

static bool chip_has(const struct reference *r, unsigned line, unsigned chip)
{
    return r->lines[line].l2[chip] || r->lines[line].l3[chip];
}

static void forget_if_gone(struct reference *r, unsigned line)
{
    if (others_have(r, line, TOPOLOGY_MAX_CHIPS, 2) || others_have(r, line, TOPOLOGY_MAX_CHIPS, 3))
        return;
    r->lines[line].owner = -1;
    r->lines[line].newer = false;
    r->lines[line].writer = CACHE_NO_WRITER;
}

/* Removes the line from all L1s of a chip but one core's. */
static void leave_l1s(struct reference *r, unsigned line, unsigned chip, int keep_core)
{
    struct reference_line *l = &r->lines[line];
    unsigned first = chip * r->topology->cores_per_chip;
    for (unsigned core = first; core < first + r->topology->cores_per_chip; core++) {
        l->l1[1][core] = 0;
        if ((int)core == keep_core)
            continue;
        l->l1[0][core] = 0;
        if (l->writing_core == (int)core)
            l->writing_core = -1;
    }
}

static void leave_chip(struct reference *r, unsigned line, unsigned chip)
{
    leave_l1s(r, line, chip, -1);
    r->lines[line].l2[chip] = r->lines[line].l3[chip] = 0;
}

/* Returns the least recently used line of the line's set, if the set is full, in the cache with
 * times of use from `used`; else -1. */
static int victim_of(const uint64_t *used, struct geometry g, unsigned line)
{
    size_t stride = sizeof(struct reference_line) / sizeof(uint64_t);
    unsigned members = 0;
    int oldest = -1;
    for (unsigned other = line % g.sets; other < REFERENCE_LINES; other += g.sets) {
        if (!used[other * stride])
            continue;
        members++;
        if (oldest < 0 || used[other * stride] < used[(unsigned)oldest * stride])
            oldest = (int)other;
    }
    return members == g.ways ? oldest : -1;
}

static void enter_l3(struct reference *r, unsigned line, unsigned chip)
{
    struct geometry g = r->topology->l3;
    if (g.ways == 0)
        return;
    int victim = victim_of(&r->lines[0].l3[chip], g, line);
    if (victim >= 0) {
        r->lines[victim].l3[chip] = 0;
        forget_if_gone(r, (unsigned)victim);
    }
    r->lines[line].l3[chip] = ++r->clock;
}

static void enter_l2(struct reference *r, unsigned line, unsigned chip)
{
    int victim = victim_of(&r->lines[0].l2[chip], r->topology->l2, line);
    r->lines[line].l3[chip] = 0;
    r->lines[line].l2[chip] = ++r->clock;
    if (victim < 0)
        return;
    leave_l1s(r, (unsigned)victim, chip, -1);
    r->lines[victim].l2[chip] = 0;
    enter_l3(r, (unsigned)victim, chip);
    forget_if_gone(r, (unsigned)victim);
}

static void enter_l1(struct reference *r, unsigned line, unsigned core, bool code)
{
    struct geometry g = code ? r->topology->l1i : r->topology->l1d;
    int victim = victim_of(&r->lines[0].l1[code][core], g, line);
    if (victim >= 0) {
        r->lines[victim].l1[code][core] = 0;
        if (!code && r->lines[victim].writing_core == (int)core)
            r->lines[victim].writing_core = -1;
    }
    r->lines[line].l1[code][core] = ++r->clock;
}

static bool any_l1(const struct reference *r, unsigned line, unsigned chip)
{
    unsigned first = chip * r->topology->cores_per_chip;
    for (unsigned core = first; core < first + r->topology->cores_per_chip; core++)
        if (r->lines[line].l1[0][core] || r->lines[line].l1[1][core])
            return true;
    return false;
}

static enum cache_source source_of(const struct reference *r, unsigned line, unsigned chip,
                                   bool must_own)
{
    const struct reference_line *l = &r->lines[line];
    bool ask_others = !chip_has(r, line, chip) || (must_own && l->owner != (int)chip);
    if (ask_others && others_have(r, line, chip, 2))
        return CACHE_REMOTE_L2;
    if (ask_others && others_have(r, line, chip, 3))
        return CACHE_REMOTE_L3;
    if (l->l2[chip])
        return CACHE_LOCAL_L2;
    if (l->l3[chip])
        return CACHE_LOCAL_L3;
    uint64_t block = (uint64_t)line * r->topology->line_bytes / r->topology->home_block_bytes;
    return block % r->topology->chips == chip ? CACHE_LOCAL_MEMORY : CACHE_REMOTE_MEMORY;
}

/* Sets which core may write the line, after an access of a core that had to make a request. */
static void settle_ownership(struct reference *r, unsigned line, unsigned core, unsigned chip,
                             enum reference_operation op)
{
    struct reference_line *l = &r->lines[line];
    bool alone = !others_have(r, line, TOPOLOGY_MAX_CHIPS, 2) &&
                 !others_have(r, line, TOPOLOGY_MAX_CHIPS, 3);

    l->writing_core = -1;
    if (op == REFERENCE_STORE) {
        for (unsigned other = 0; other < r->topology->chips; other++)
            if (other != chip)
                leave_chip(r, line, other);
        leave_l1s(r, line, chip, (int)core);
        l->writing_core = (int)core;
        l->owner = (int)chip;
        return;
    }
    if (alone) {
        l->owner = (int)chip;
    } else if (!chip_has(r, line, chip)) {
        l->owner = -1;
        l->newer = false;
    }
    if (op == REFERENCE_LOAD && l->owner == (int)chip && !any_l1(r, line, chip))
        l->writing_core = (int)core;
}

struct cache_result reference_access(struct reference *r, unsigned core,
                                     enum reference_operation op, unsigned line, uint32_t writer)
{
    struct reference_line *l = &r->lines[line];
    unsigned chip = core / r->topology->cores_per_chip;
    bool store = op == REFERENCE_STORE;
    bool code = op == REFERENCE_FETCH;
    bool in_l1 = l->l1[code][core];

    if (in_l1)
        l->l1[code][core] = ++r->clock;
    if (in_l1 && (!store || l->writing_core == (int)core)) {
        l->writer = store ? writer : l->writer;
        l->newer |= store;
        return (struct cache_result){.source = CACHE_L1};
    }

    enum cache_source source = source_of(r, line, chip, store);
    struct cache_result result = {
        .source = (uint8_t)source,
        .latency = r->topology->latency[source],
        .upgrade = store && chip_has(r, line, chip) && l->owner != (int)chip,
        .writer = l->writer,
        .modified = l->newer,
    };
    settle_ownership(r, line, core, chip, op);
    if (l->l2[chip])
        l->l2[chip] = ++r->clock;
    else
        enter_l2(r, line, chip);
    if (!in_l1)
        enter_l1(r, line, core, code);
    if (store) {
        l->writer = writer;
        l->newer = true;
    }
    return result;
}

void reference_discard(struct reference *r, unsigned line)
{
    for (unsigned chip = 0; chip < r->topology->chips; chip++)
        leave_chip(r, line, chip);
    forget_if_gone(r, line);
}
