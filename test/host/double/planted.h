/*
 * Planted sharing: a stream of sampled misses of a program whose groups are known, for judging the
 * clustering.
 *
 * Threads of a group read and write the group's lines; all use some global lines; threads
 * pull private lines of theirs from other chips as if migrated, and stray lines that two threads
 * meet on by accident. Lines live in the caches of whole chips, never evicted, under an
 * invalidation protocol; a sample is a miss that another chip's cache served. So a group that sits
 * on one chip gives no samples of its lines, as on a real machine.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "apps/common/prng.h"

enum { PLANTED_THREADS_MAX = 256, PLANTED_GROUPS_MAX = 64, PLANTED_CHIPS_MAX = 8 };

enum planted_popularity {
    PLANTED_BOARD, /* few lines, used alike */
    PLANTED_TREE,  /* a thousand lines, some hot (Zipf-Mandelbrot) */
    PLANTED_FLAT,  /* a thousand lines used alike: hardly a line comes twice */
};

struct planted_shape {
    const char *name;
    unsigned sizes[PLANTED_GROUPS_MAX]; /* of the groups, ends with 0 */
    unsigned loners;                    /* threads that belong to no group */
    unsigned chips;
    enum planted_popularity popularity;
    unsigned global_pct, private_pct, stray_pct; /* of all samples; the rest is the groups' */
    unsigned cross_pct; /* of a thread's uses of group lines: those of another group */
    unsigned settled;   /* number of groups, the first ones, that are on one chip already */
    bool uneven;        /* threads work at rates from 1 to 3 */
};

struct planted_line {
    uint8_t holders; /* mask of chips */
};

struct planted {
    const struct planted_shape *shape;
    struct prng prng;
    unsigned threads, groups;
    int group[PLANTED_THREADS_MAX];      /* of a thread, -1: a loner */
    uint8_t chip[PLANTED_THREADS_MAX];   /* where it runs */
    bool nearly_all[PLANTED_GROUPS_MAX]; /* more than three quarters of the threads are in it */
    bool split[PLANTED_GROUPS_MAX];      /* the group's members sit on several chips */
    uint8_t rate[PLANTED_THREADS_MAX];
    unsigned by_rate[3 * PLANTED_THREADS_MAX], by_rate_count;
    /* the same, only members of split groups */
    unsigned in_split[3 * PLANTED_THREADS_MAX], in_split_count;
    uint64_t base[PLANTED_GROUPS_MAX + 3];
    struct planted_line *lines; /* [groups + 1][PLANTED_LINES_MAX]; the last are the global ones */
};

struct planted_sample {
    unsigned thread;
    uint64_t address;
};

/* Plants the shape anew: groups shuffled over the threads, threads over the chips. */
void planted_init(struct planted *p, const struct planted_shape *shape, uint64_t seed);
void planted_free(struct planted *p);
unsigned planted_threads(const struct planted_shape *shape);
struct planted_sample planted_next(struct planted *p);
/* Are these clusters, -1 for none, those planted? Every split group must be one cluster and
 * nothing but it. Only the second half holds for a group that sits on one chip, which gives
 * nothing to find, and for one with more than half of the threads, which no chip can hold in
 * balance: members may be left out or be together, never with others. */
bool planted_right(const struct planted *p, const int16_t *cluster);
