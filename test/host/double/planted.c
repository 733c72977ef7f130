/* Planted sharing: see planted.h. */
#include "test/host/double/planted.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    BOARD_LINES = 16,
    TREE_LINES = 1000,
    GLOBAL_LINES = 100,
    PRIVATE_LINES = 2000,
    STRAY_LINES = 4000,
    LINE = 128,
    RANK_SLOTS = 1 << 14,
    WRITE_PERCENT = 50,
};
static uint16_t zipf_rank[RANK_SLOTS], global_rank[RANK_SLOTS];
static pthread_once_t ranks_once = PTHREAD_ONCE_INIT;

/* Weight 1 / (rank + 5): the hottest line gets 4 % of the uses of a thousand lines, 7 % of those of
 * 100. */
static double popularity(unsigned rank)
{
    return 1.0 / (rank + 5);
}

/* Inverse of the cumulative distribution, so that a draw is one look-up. */
static void fill_ranks(uint16_t *rank, unsigned lines)
{
    double sum = 0, total = 0;
    unsigned line = 0;

    for (unsigned i = 0; i < lines; i++)
        total += popularity(i);
    sum = popularity(0) / total;
    for (unsigned slot = 0; slot < RANK_SLOTS; slot++) {
        while (line + 1 < lines && (slot + 0.5) / RANK_SLOTS > sum) {
            line++;
            sum += popularity(line) / total;
        }
        rank[slot] = (uint16_t)line;
    }
}

static void fill_all_ranks(void)
{
    fill_ranks(zipf_rank, TREE_LINES);
    fill_ranks(global_rank, GLOBAL_LINES);
}

unsigned planted_threads(const struct planted_shape *shape)
{
    unsigned threads = shape->loners;

    for (unsigned g = 0; shape->sizes[g]; g++)
        threads += shape->sizes[g];
    return threads;
}

static void shuffle(struct planted *p, int *item, unsigned count)
{
    for (unsigned i = count; i > 1; i--) {
        unsigned j = prng_below(&p->prng, i);
        int other = item[j];
        item[j] = item[i - 1];
        item[i - 1] = other;
    }
}

/* Chips get the same number of threads each, at random; then the settled groups' members swap
 * places. */
static void place(struct planted *p)
{
    int chip[PLANTED_THREADS_MAX];

    for (unsigned t = 0; t < p->threads; t++)
        chip[t] = (int)(t % p->shape->chips);
    shuffle(p, chip, p->threads);
    for (unsigned t = 0; t < p->threads; t++)
        p->chip[t] = (uint8_t)chip[t];
    for (unsigned t = 0; t < p->threads; t++) {
        int g = p->group[t];
        unsigned home = (unsigned)g % p->shape->chips;
        if (g < 0 || (unsigned)g >= p->shape->settled || p->chip[t] == home)
            continue;
        for (unsigned u = 0; u < p->threads; u++) {
            if (p->chip[u] == home &&
                (p->group[u] < 0 || (unsigned)p->group[u] >= p->shape->settled)) {
                p->chip[u] = p->chip[t];
                break;
            }
        }
        p->chip[t] = (uint8_t)home;
    }
}

static void find_split_groups(struct planted *p)
{
    uint8_t chips[PLANTED_GROUPS_MAX] = {0};

    for (unsigned t = 0; t < p->threads; t++) {
        if (p->group[t] >= 0)
            chips[p->group[t]] |= (uint8_t)(1u << p->chip[t]);
    }
    for (unsigned g = 0; g < p->groups; g++) {
        p->split[g] = (chips[g] & (chips[g] - 1)) != 0;
        p->nearly_all[g] = 4 * p->shape->sizes[g] > 3 * p->threads;
    }
}

static void fill_lotteries(struct planted *p)
{
    for (unsigned t = 0; t < p->threads; t++) {
        p->rate[t] = p->shape->uneven ? (uint8_t)(1 + prng_below(&p->prng, 3)) : 1;
        for (unsigned i = 0; i < p->rate[t]; i++) {
            p->by_rate[p->by_rate_count++] = t;
            if (p->group[t] >= 0 && p->split[p->group[t]])
                p->in_split[p->in_split_count++] = t;
        }
    }
}

void planted_init(struct planted *p, const struct planted_shape *shape, uint64_t seed)
{
    pthread_once(&ranks_once, fill_all_ranks);
    memset(p, 0, sizeof *p);
    p->shape = shape;
    p->prng = prng_seeded(seed, 7);
    for (; shape->sizes[p->groups]; p->groups++) {
        for (unsigned i = 0; i < shape->sizes[p->groups]; i++)
            p->group[p->threads++] = (int)p->groups;
    }
    for (unsigned i = 0; i < shape->loners; i++)
        p->group[p->threads++] = -1;
    shuffle(p, p->group, p->threads);
    place(p);
    find_split_groups(p);
    fill_lotteries(p);
    for (unsigned i = 0; i < p->groups + 3; i++)
        p->base[i] = ((uint64_t)(i + 1) << 32) + (uint64_t)prng_below(&p->prng, 1u << 20) * LINE;
    p->lines = calloc((p->groups + 1) * (size_t)TREE_LINES, sizeof *p->lines);
}

void planted_free(struct planted *p)
{
    free(p->lines);
}

/* One access by a thread of this chip; true when another chip's cache served it. */
static bool miss_served_remotely(struct planted *p, struct planted_line *line, unsigned chip)
{
    uint8_t own = (uint8_t)(1u << chip);
    bool remote = !(line->holders & own) && line->holders;

    if (prng_below(&p->prng, 100) < WRITE_PERCENT)
        line->holders = own;
    else
        line->holders |= own;
    return remote;
}

static unsigned draw_line(struct planted *p)
{
    switch (p->shape->popularity) {
    case PLANTED_BOARD:
        return prng_below(&p->prng, BOARD_LINES);
    case PLANTED_TREE:
        return zipf_rank[prng_below(&p->prng, RANK_SLOTS)];
    default:
        return prng_below(&p->prng, TREE_LINES);
    }
}

static struct planted_sample group_sample(struct planted *p)
{
    for (;;) {
        unsigned t = p->in_split[prng_below(&p->prng, p->in_split_count)];
        unsigned g = (unsigned)p->group[t], line = draw_line(p);
        if (prng_below(&p->prng, 100) < p->shape->cross_pct)
            g = prng_below(&p->prng, p->groups);
        if (miss_served_remotely(p, &p->lines[g * TREE_LINES + line], p->chip[t]))
            return (struct planted_sample){t, p->base[g] + line * LINE};
    }
}

static struct planted_sample global_sample(struct planted *p)
{
    for (;;) {
        unsigned t = p->by_rate[prng_below(&p->prng, p->by_rate_count)];
        unsigned line = global_rank[prng_below(&p->prng, RANK_SLOTS)];
        if (miss_served_remotely(p, &p->lines[p->groups * TREE_LINES + line], p->chip[t]))
            return (struct planted_sample){t, p->base[p->groups] + line * LINE};
    }
}

struct planted_sample planted_next(struct planted *p)
{
    unsigned kind = prng_below(&p->prng, 100);
    unsigned t = p->by_rate[prng_below(&p->prng, p->by_rate_count)];

    if (kind < p->shape->private_pct)
        return (struct planted_sample){
            t, p->base[p->groups + 1] +
                   (t * PRIVATE_LINES + prng_below(&p->prng, PRIVATE_LINES)) * (uint64_t)LINE};
    kind -= p->shape->private_pct;
    if (kind < p->shape->stray_pct)
        return (struct planted_sample){t, p->base[p->groups + 2] +
                                              prng_below(&p->prng, STRAY_LINES) * LINE};
    kind -= p->shape->stray_pct;
    if (kind < p->shape->global_pct || p->in_split_count == 0)
        return global_sample(p);
    return group_sample(p);
}

bool planted_right(const struct planted *p, const int16_t *cluster)
{
    for (unsigned a = 0; a < p->threads; a++) {
        for (unsigned b = 0; b < a; b++) {
            bool mates = p->group[a] >= 0 && p->group[a] == p->group[b];
            bool together = cluster[a] >= 0 && cluster[a] == cluster[b];
            if (together && !mates)
                return false;
            if (mates && p->split[p->group[a]] && !p->nearly_all[p->group[a]] && !together)
                return false;
        }
    }
    return true;
}
