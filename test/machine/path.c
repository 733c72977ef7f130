/* See path.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "test/machine/path.h"

/* In an entry of the PAB, beside its key. */
#define USED    ((uint64_t)1 << 63) /* found since it was entered or probed */
#define KEY     (~USED)
#define INVALID KEY

/* A set's number is the exclusive or of this many parts of the page's number, each as wide as the
 * set's. */
#define SET_PARTS 4

int path_configure(struct path *p, struct path_sizes size)
{
    uint64_t *pab = NULL;

    if (size.filter > MACHINE_PATH_FILTER_MAX || size.log > MACHINE_PATH_LOG_MAX)
        return -EINVAL;
    if (size.pab && (!is_pow2(size.pab) || size.pab < MACHINE_PATH_PAB_MIN ||
                     size.pab > MACHINE_PATH_PAB_MAX || !size.log))
        return -EINVAL;
    if (size.pab && !(pab = malloc(size.pab * sizeof(*pab))))
        return -ENOMEM;
    for (uint32_t i = 0; i < size.pab; i++)
        pab[i] = INVALID;
    free(p->pab);
    p->pab = pab;
    p->sets = size.pab / MACHINE_PATH_WAYS;
    for (p->set_bits = 0; 2u << p->set_bits <= p->sets;)
        p->set_bits++;
    p->size = size;
    p->filtered = p->logged = 0;
    return 0;
}

void path_free(struct path *p)
{
    free(p->pab);
    p->pab = NULL;
}

static uint64_t *set_of(const struct path *p, uint64_t key)
{
    uint64_t page = key & MACHINE_PATH_PAGE, mixed = page ^ key >> MACHINE_PATH_SPACE_SHIFT;

    for (unsigned part = 1; part < SET_PARTS; part++)
        mixed ^= page >> part * p->set_bits;
    return p->pab + (mixed & (p->sets - 1)) * MACHINE_PATH_WAYS;
}

/* Returns the way that holds the key, or MACHINE_PATH_WAYS. */
static unsigned find_way(const uint64_t *set, uint64_t key)
{
    unsigned way = 0;

    while (way < MACHINE_PATH_WAYS && (set[way] & KEY) != key)
        way++;
    return way;
}

static void to_front(uint64_t *list, unsigned at, uint64_t entry)
{
    memmove(list + 1, list, at * sizeof(*list));
    list[0] = entry;
}

/* Returns whether the filter had the key, which is its most recent one afterwards. */
static bool filter(struct path *p, uint64_t key)
{
    unsigned at = 0;

    while (at < p->filtered && p->filter[at] != key)
        at++;
    bool found = at < p->filtered;
    if (!found && p->filtered < p->size.filter)
        p->filtered++;
    if (p->filtered)
        to_front(p->filter, MIN(at, p->filtered - 1), key);
    return found;
}

static bool in_filter(const struct path *p, uint64_t key)
{
    for (unsigned i = 0; i < p->filtered; i++)
        if (p->filter[i] == key)
            return true;
    return false;
}

bool path_walk(struct path *p, vaddr_t va, bool store)
{
    if (!p->pab || !p->space)
        return false;
    uint64_t key = path_key(p->space, va);
    uint64_t *set = set_of(p, key);
    unsigned way = find_way(set, key);

    p->walks++;
    if (way < MACHINE_PATH_WAYS) {
        p->pab_hits++;
        to_front(set, way, key | USED);
        return false;
    }
    bool sampled = MACHINE_PATH_SAMPLED(key, p->sample_shift);
    if (sampled && p->logged == p->size.log && !in_filter(p, key)) {
        p->lost++;
        return false;
    }
    to_front(set, MACHINE_PATH_WAYS - 1, key);
    if (filter(p, key)) {
        p->filter_hits++;
        set[0] |= USED;
        return false;
    }
    if (!sampled)
        return false;
    p->log[p->logged++] = key | (store ? MACHINE_PATH_WRITE : 0);
    return true;
}

unsigned path_probe(struct path *p, uint64_t key)
{
    if (!p->pab)
        return 0;
    uint64_t *set = set_of(p, key);
    unsigned way = find_way(set, key);

    if (way == MACHINE_PATH_WAYS)
        return 0;
    unsigned is = MACHINE_PATH_IS_KEPT | (set[way] & USED ? MACHINE_PATH_IS_USED : 0);
    set[way] &= ~USED;
    return is;
}

/* Removes the keys that match under the mask. The others keep their order. */
static void forget(uint64_t *list, unsigned *count, uint64_t key, uint64_t mask)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < *count; i++)
        if ((list[i] & mask) != key)
            list[kept++] = list[i];
    *count = kept;
}

static void forget_in_set(uint64_t *set, uint64_t key, uint64_t mask)
{
    unsigned ways = MACHINE_PATH_WAYS;

    forget(set, &ways, key, mask);
    while (ways < MACHINE_PATH_WAYS)
        set[ways++] = INVALID;
}

void path_forget_page(struct path *p, uint64_t key)
{
    if (!p->pab)
        return;
    forget_in_set(set_of(p, key), key, KEY);
    forget(p->filter, &p->filtered, key, UINT64_MAX);
}

void path_forget_space(struct path *p, uint32_t space)
{
    uint64_t key = path_key(space, 0), mask = path_key(MACHINE_PATH_SPACES - 1, 0);

    for (uint32_t set = 0; p->pab && set < p->sets; set++)
        forget_in_set(p->pab + set * MACHINE_PATH_WAYS, key, mask);
    forget(p->filter, &p->filtered, key, mask);
}

static const char *check_set(const struct path *p, const uint64_t *set)
{
    for (unsigned way = 0; way < MACHINE_PATH_WAYS; way++) {
        if ((set[way] & KEY) == INVALID)
            continue;
        if (way && (set[way - 1] & KEY) == INVALID)
            return "an invalid entry is in front of a valid one";
        if (set_of(p, set[way] & KEY) != set)
            return "a page is in the wrong set";
        if (find_way(set, set[way] & KEY) != way)
            return "a page is twice in its set";
    }
    return NULL;
}

const char *path_check(const struct path *p)
{
    const char *wrong = NULL;

    if (p->filtered > p->size.filter || p->logged > p->size.log)
        return "there is more in the filter or the log than there is room";
    for (uint32_t set = 0; p->pab && set < p->sets && !wrong; set++)
        wrong = check_set(p, p->pab + set * MACHINE_PATH_WAYS);
    for (unsigned i = 0; i < p->filtered && !wrong; i++)
        for (unsigned k = 0; k < i; k++)
            if (p->filter[i] == p->filter[k])
                return "a page is twice in the filter";
    return wrong;
}
