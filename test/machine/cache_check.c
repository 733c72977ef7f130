/* The invariants of the caches between two accesses. Each check defines one sentence in cache.h. */
#include <stdlib.h>
#include "test/machine/cache.h"

/* Checks that valid lines come first, are in their own set, and no line is there twice. */
static const char *check_array(const struct cache_array *a)
{
    for (uint64_t set = 0; a->ways && set < a->sets; set++) {
        const struct cache_line *l = a->lines + (set << a->way_shift);
        for (uint32_t way = 0; way < a->ways; way++) {
            if (l[way].key == LINE_INVALID)
                continue;
            if (way > 0 && l[way - 1].key == LINE_INVALID)
                return "an invalid line is in front of a valid one";
            if (array_set_index(a, line_number(&l[way])) != set ||
                line_state(&l[way]) < LINE_SHARED)
                return "a line is in the wrong set or has no state";
            if (array_peek(a, line_number(&l[way])) != &l[way])
                return "a line is twice in its set";
        }
    }
    return NULL;
}

static const char *check_l1_line(const struct cache_line *l1_line, const struct cache_line *l2_line,
                                 uint32_t bit, bool code)
{
    if (!l2_line)
        return "a line of an L1 is not in the L2";
    if (!(l2_line->holders & bit))
        return "the L2 does not know that an L1 holds a line";
    if (line_state(l1_line) == LINE_SHARED)
        return l1_line->writer == l2_line->writer ? NULL
                                                  : "an L1 line has another writer than the L2's";
    if (code)
        return "a line of an instruction L1 is writable";
    if (l2_line->holders != bit)
        return "a line is writable in an L1 that is not its sole holder";
    if (line_state(l2_line) == LINE_SHARED)
        return "a line is writable in an L1 but shared with other chips";
    return NULL;
}

static const char *check_l1(const struct cache *c, unsigned core, bool code)
{
    const struct cache_array *a = code ? &c->l1i[core] : &c->l1d[core];
    unsigned chip = core / c->topology->cores_per_chip;
    uint32_t bit = 1u << (core % c->topology->cores_per_chip * 2 + code);
    const char *wrong = check_array(a);

    for (uint64_t i = 0; !wrong && i < (uint64_t)a->sets << a->way_shift; i++)
        if (a->lines[i].key != LINE_INVALID)
            wrong = check_l1_line(&a->lines[i], array_peek(&c->l2[chip], line_number(&a->lines[i])),
                                  bit, code);
    return wrong;
}

/* Checks that each holder bit stands for an L1 that has the line. (The reverse is checked from the
 * L1s.) */
static const char *check_holders(const struct cache *c, unsigned chip, const struct cache_line *l)
{
    for (uint32_t left = l->holders; left; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctz(left);
        unsigned core = chip * c->topology->cores_per_chip + bit / 2;
        const struct cache_array *l1 = bit % 2 ? c->l1i : c->l1d;
        if (bit / 2 >= c->topology->cores_per_chip || !array_peek(&l1[core], line_number(l)))
            return "an L2 line has a holder that does not hold it";
    }
    return NULL;
}

/* Checks a line of the chip against the same line in other chips. */
static const char *check_between_chips(const struct cache *c, unsigned chip,
                                       const struct cache_line *l)
{
    for (unsigned other = 0; other < c->topology->chips; other++) {
        const struct cache_line *in_l2 = array_peek(&c->l2[other], line_number(l));
        const struct cache_line *in_l3 = array_peek(&c->l3[other], line_number(l));
        if (in_l2 && in_l3)
            return "a line is in the L2 and the L3 of a chip";
        if (other == chip || (!in_l2 && !in_l3))
            continue;
        if (line_state(l) != LINE_SHARED || line_state(in_l2 ? in_l2 : in_l3) != LINE_SHARED)
            return "a line is on two chips and not shared";
        if (l->writer != (in_l2 ? in_l2 : in_l3)->writer)
            return "copies of a line differ in their last writer";
    }
    return NULL;
}

static const char *check_chip_array(const struct cache *c, unsigned chip,
                                    const struct cache_array *a)
{
    const char *wrong = check_array(a);
    for (uint64_t i = 0; a->ways && !wrong && i < (uint64_t)a->sets << a->way_shift; i++) {
        const struct cache_line *l = &a->lines[i];
        if (l->key == LINE_INVALID)
            continue;
        wrong =
            a == &c->l3[chip] && l->holders ? "an L3 line has holders" : check_holders(c, chip, l);
        if (!wrong)
            wrong = check_between_chips(c, chip, l);
    }
    return wrong;
}

/* Counts the lines as the snoop filter does. */
static void count_lines(const struct cache *c, unsigned chip, const struct cache_array *a,
                        uint8_t (*counted)[TOPOLOGY_MAX_CHIPS])
{
    for (uint64_t i = 0; a->ways && i < (uint64_t)a->sets << a->way_shift; i++) {
        if (a->lines[i].key == LINE_INVALID)
            continue;
        uint8_t *n = &counted[line_number(&a->lines[i]) & (c->buckets - 1)][chip];
        *n += *n < UINT8_MAX;
    }
}

static const char *check_filter(const struct cache *c)
{
    const char *wrong = NULL;
    uint8_t(*counted)[TOPOLOGY_MAX_CHIPS] = calloc(c->buckets, sizeof(*counted));

    if (!counted)
        return "there is no memory to check the snoop filter";
    for (unsigned chip = 0; chip < c->topology->chips; chip++) {
        count_lines(c, chip, &c->l2[chip], counted);
        count_lines(c, chip, &c->l3[chip], counted);
    }
    for (uint64_t b = 0; b < c->buckets; b++)
        for (unsigned chip = 0; chip < c->topology->chips; chip++)
            if (counted[b][chip] != c->lines_on_chip[b][chip] &&
                c->lines_on_chip[b][chip] != UINT8_MAX)
                wrong = "the snoop filter has miscounted a chip's lines";
    free(counted);
    return wrong;
}

const char *cache_check(const struct cache *c)
{
    const char *wrong = NULL;
    for (unsigned core = 0; core < topology_cores(c->topology) && !wrong; core++) {
        wrong = check_l1(c, core, false);
        if (!wrong)
            wrong = check_l1(c, core, true);
    }
    for (unsigned chip = 0; chip < c->topology->chips && !wrong; chip++) {
        wrong = check_chip_array(c, chip, &c->l2[chip]);
        if (!wrong)
            wrong = check_chip_array(c, chip, &c->l3[chip]);
    }
    return wrong ? wrong : check_filter(c);
}
