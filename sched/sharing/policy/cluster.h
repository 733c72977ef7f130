/*
 * Clustering of sharing signatures: which threads work on the same lines.
 *
 * Input: one vector of 8-bit counters per thread (shMaps, shmap.h). Output: a cluster number per
 * thread, or CLUSTER_NONE with the reason. Policies, by name:
 *   cosine            ours, the default; finds the groups in some thousands of samples
 *   published         [Azimi 2007, 3.3.3]: dot product against a fixed threshold
 *   published-scaled  the same with the threshold scaled to the highest counter instead of to full
 *   counters
 * All leave out lines that more than half of the threads use. So the published ones do not find a
 * group of more than half of the threads.
 *
 * Pure: memory comes from the caller; one caller at a time per struct.
 */
#pragma once
#include "kernel/lib/base.h"

enum { CLUSTER_NONE = -1, CLUSTER_THREADS_MAX = 1024, CLUSTER_ENTRIES_MAX = 4096 };

/* Why a thread is in its cluster, or in none. */
enum cluster_why {
    CLUSTER_SILENT, /* no samples of it: its partners, if any, are on its own chip */
    CLUSTER_GLOBAL, /* only on lines that most threads use */
    CLUSTER_ALONE,  /* shares no line with anybody more than chance would have it */
    CLUSTER_UNSURE, /* seems to share with a cluster; too few samples to tell */
    CLUSTER_MEMBER,
    CLUSTER_WHY_COUNT
};
extern const char *const cluster_why_names[]; /* by enum cluster_why */

struct cluster_group {
    unsigned size; /* threads, at least 2 */
    /* samples of its members on lines that are not global: what moving it together may save */
    uint64_t weight;
};

struct clustering {
    unsigned threads, entries;
    /* The result of the last run. */
    unsigned clusters;                      /* numbered from 0 in order of their first thread */
    int16_t *of;                            /* [threads] cluster, or CLUSTER_NONE */
    uint8_t *why;                           /* [threads] enum cluster_why */
    struct cluster_group *group;            /* [clusters] */
    uint8_t *global;                        /* [entries] 1: left out, most threads use it */
    uint64_t local_samples, global_samples; /* counts on the lines kept and on those left out */
    /* Scratch of the policies. */
    uint16_t *order;         /* [threads] by kept counts, highest first */
    uint16_t *next;          /* [threads] cluster to be */
    uint32_t *kept;          /* [threads] counts on lines that are not global */
    uint32_t *share;         /* [threads] part of the global samples, 16 fractional bits */
    uint32_t *members;       /* [threads] of each cluster */
    uint32_t *cluster_share; /* [threads] of each cluster, as share */
    uint32_t *line;          /* [entries] counts of all threads */
    uint16_t *used;          /* [lines] the entries that anybody has counts at, ascending */
    unsigned lines;
    uint16_t *touched; /* [threads][entries] the entries a thread has counts at, ascending */
    uint16_t *touches; /* [threads] number of them */
    uint16_t *users;   /* [entries] threads that use the line */
    /* [own_lines] of one thread: the entries it has counts at that are not global */
    uint16_t *own;
    unsigned own_lines;
    uint64_t *score; /* [threads] of one thread for each cluster */
    uint64_t *dot;   /* [threads] products of one vector with each cluster's sums */
    uint32_t *sum;   /* [entries][threads] counts of each cluster */
};

/* A way of clustering. Pure; called by cluster_run only. */
struct cluster_policy {
    const char *name;
    uint32_t threshold; /* default: published: dot product; cosine: thousandths */
    /* Does a thread with so many, at least one, of the samples of entry's line (c->line) use it?
     * Decides which lines are global. */
    bool (*uses)(const struct clustering *c, unsigned entry, uint8_t count);
    /* Sets c->of to any numbers below threads or CLUSTER_NONE, c->why to CLUSTER_UNSURE where it is
     * so. Finds c->global, c->line and c->kept done and everybody in no cluster. */
    void (*group)(struct clustering *c, const uint8_t *counts, uint32_t threshold);
};
extern const struct cluster_policy cluster_cosine, cluster_published, cluster_published_scaled;
/* NULL-terminated, the default first */
extern const struct cluster_policy *const cluster_policies[];

/* The entries that matter: most of a filter is empty. */
#define cluster_each_line(c, e)                                                                  \
    for (unsigned line_##e = 0, e = 0; line_##e < (c)->lines && (e = (c)->used[line_##e], true); \
         line_##e++)

/* The entries that a thread has counts at: a few of those that matter. */
#define cluster_each_touched(c, thread, e)                                                \
    for (unsigned at_##e = 0, e = 0;                                                      \
         at_##e < (c)->touches[thread] && (e = cluster_touched(c, thread)[at_##e], true); \
         at_##e++)

/* Bytes of memory for so many threads and entries, aligned to 8; 0 when out of range. */
size_t cluster_bytes(unsigned threads, unsigned entries);
/* Nobody in a cluster yet. -EINVAL: bad numbers or alignment, -ENOMEM: bytes too few. */
int cluster_init(struct clustering *c, unsigned threads, unsigned entries, void *memory,
                 size_t bytes);
/* counts: [threads][entries], the shMaps. threshold: the policy's own unit. */
void cluster_run(struct clustering *c, const struct cluster_policy *policy, const uint8_t *counts,
                 uint32_t threshold);
/* After a run, for threads that have been placed by an earlier one of the same threads: those now
 * left out go back to whom they were with, for sharing within a chip is not sampled. earlier:
 * [threads] cluster, or CLUSTER_NONE. */
void cluster_keep(struct clustering *c, const int16_t *earlier);
/* The counts of a thread; the entries it has counts at; of an entry the sums of every cluster. */
static inline const uint8_t *cluster_row(const struct clustering *c, const uint8_t *counts,
                                         unsigned thread)
{
    return counts + (size_t)thread * c->entries;
}
static inline const uint16_t *cluster_touched(const struct clustering *c, unsigned thread)
{
    return c->touched + (size_t)thread * c->entries;
}
static inline uint32_t *cluster_sums(const struct clustering *c, unsigned entry)
{
    return c->sum + (size_t)entry * c->threads;
}
/* NULL, or the invariant that the result breaks. */
const char *cluster_check(const struct clustering *c);

/* ---- Enough samples? ------------------------------------------------------------------------- */
enum cluster_verdict {
    CLUSTER_WAIT,       /* go on sampling */
    CLUSTER_STABLE,     /* the same clusters several times over, nobody in doubt: place them */
    CLUSTER_NO_SHARING, /* the same, and there are no clusters: leave everybody where he is */
    CLUSTER_EXPIRED,    /* the limit of samples is reached: the clusters at hand are uncertain */
    CLUSTER_VERDICT_COUNT
};
extern const char *const cluster_verdict_names[]; /* by enum cluster_verdict */

struct cluster_watch {
    unsigned threads;
    unsigned same;         /* checks in a row with the same partition */
    unsigned agreed;       /* checks in a row that only added threads to it, or dropped some */
    uint64_t sample_limit; /* at so many samples waiting ends */
    uint64_t next_check;   /* samples at which to cluster again */
    enum cluster_verdict verdict; /* on the last clusters */
    int16_t *of;                  /* [threads] the partition */
};
/* of: memory for one number per thread. Starts a detection phase; the first check is at
 * watch->next_check. */
void cluster_watch_start(struct cluster_watch *w, unsigned threads, uint64_t sample_limit,
                         int16_t *of);
/* Takes the clusters found after `samples` samples. Sets w->verdict and w->next_check. Returns
 * whether waiting is over. */
bool cluster_is_final(struct cluster_watch *w, const struct clustering *c, uint64_t samples);
