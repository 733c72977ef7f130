/*
 * Clustering of sharing signatures: which threads work on the same lines.
 *
 * Input: one vector of 8-bit counters per thread (shMaps, shmap.h). Output: a cluster number per
 * thread, or CLUSTER_NONE with the reason. Policies, by name:
 *   cosine            the default; finds the groups from some thousands of samples
 *   published         [Azimi 2007, 3.3.3]: dot product against a fixed threshold
 *   published-scaled  the same with the threshold scaled to the highest counter instead of to full
 *                     counters
 * All leave out lines that more than half of the threads use. The published ones therefore do not
 * find a group of more than half of the threads.
 *
 * Pure: memory comes from the caller; one caller at a time per struct.
 */
#pragma once
#include "kernel/lib/base.h"

enum { CLUSTER_NONE = -1, CLUSTER_THREADS_MAX = 1024, CLUSTER_ENTRIES_MAX = 4096 };

/* Why a thread is in its cluster, or in none. */
enum cluster_why {
    CLUSTER_SILENT, /* it has no samples: its partners, if any, are on its chip */
    CLUSTER_GLOBAL, /* it has samples only on lines that most threads use */
    CLUSTER_ALONE,  /* it shares no line with others beyond chance */
    CLUSTER_UNSURE, /* it seems to share with a cluster; too few samples to tell */
    CLUSTER_MEMBER,
    CLUSTER_WHY_COUNT
};
extern const char *const cluster_why_names[]; /* by enum cluster_why */

struct cluster_group {
    unsigned size; /* number of threads, at least 2 */
    /* Samples of its members on lines that are not global: what moving them together may save. */
    uint64_t weight;
};

struct clustering {
    unsigned threads, entries;
    /* The result of the last run. */
    unsigned clusters;           /* numbered from 0 in order of their first thread */
    int16_t *of;                 /* [threads] cluster, or CLUSTER_NONE */
    uint8_t *why;                /* [threads] enum cluster_why */
    struct cluster_group *group; /* [clusters] */
    uint8_t *global;             /* [entries] 1: left out, as most threads use the line */
    /* sums of the counts on other lines and on global ones */
    uint64_t local_samples, global_samples;
    /* Scratch of the policies. */
    uint16_t *order;         /* [threads] by kept counts, highest first */
    uint16_t *next;          /* [threads] new cluster */
    uint32_t *kept;          /* [threads] sum of its counts on lines that are not global */
    uint32_t *share;         /* [threads] its part of the global samples, 16 fractional bits */
    uint32_t *members;       /* [threads] members of each cluster */
    uint32_t *cluster_share; /* [threads] sum of `share` of each cluster */
    uint32_t *line;          /* [entries] sum of all threads' counts */
    uint16_t *used;          /* [lines] the entries with any counts, ascending */
    unsigned lines;
    uint16_t *touched; /* [threads][entries] the entries a thread has counts at, ascending */
    uint16_t *touches; /* [threads] length of each row of `touched` */
    uint16_t *users;   /* [entries] threads that use the line */
    /* [own_lines] of one thread: the entries it has counts at that are not global. */
    uint16_t *own;
    unsigned own_lines;
    uint64_t *score; /* [threads] one thread's score for each cluster */
    uint64_t *dot;   /* [threads] dot products of one vector with each cluster's sums */
    uint32_t *sum;   /* [entries][threads] sums of the counts of each cluster */
};

/* A clustering policy. Pure; called by cluster_run only. */
struct cluster_policy {
    const char *name;
    uint32_t threshold; /* default. published: dot product; cosine: thousandths */
    /* Returns whether a thread with `count` (at least 1) of the samples of the entry's line,
     * c->line, uses the line. This decides which lines are global. */
    bool (*uses)(const struct clustering *c, unsigned entry, uint8_t count);
    /* Sets c->of to any numbers below c->threads or to CLUSTER_NONE, and c->why to CLUSTER_UNSURE
     * where that applies. On entry c->global, c->line and c->kept are set, and all threads are in
     * no cluster. */
    void (*group)(struct clustering *c, const uint8_t *counts, uint32_t threshold);
};
extern const struct cluster_policy cluster_cosine, cluster_published, cluster_published_scaled;
/* NULL-terminated, the default first. */
extern const struct cluster_policy *const cluster_policies[];

/* For each entry e that has counts; most entries of a filter have none. */
#define cluster_each_line(c, e)                                                                  \
    for (unsigned line_##e = 0, e = 0; line_##e < (c)->lines && (e = (c)->used[line_##e], true); \
         line_##e++)

/* For each entry e that the thread has counts at. */
#define cluster_each_touched(c, thread, e)                                                \
    for (unsigned at_##e = 0, e = 0;                                                      \
         at_##e < (c)->touches[thread] && (e = cluster_touched(c, thread)[at_##e], true); \
         at_##e++)

/* Returns the bytes of memory for this many threads and entries, aligned to 8; 0 if out of
 * range. */
size_t cluster_bytes(unsigned threads, unsigned entries);
/* Sets up c with all threads in no cluster. Returns 0, -EINVAL (bad numbers or alignment) or
 * -ENOMEM (too few bytes). */
int cluster_init(struct clustering *c, unsigned threads, unsigned entries, void *memory,
                 size_t bytes);
/* Clusters the shMaps, counts[threads][entries]. threshold: in the policy's own unit. */
void cluster_run(struct clustering *c, const struct cluster_policy *policy, const uint8_t *counts,
                 uint32_t threshold);
/* Brings into the last run what an earlier one found, after which threads were placed: sharing
 * within a chip is not sampled. Clusters of one chip that the last run has joined are apart again,
 * and threads that it left out return to the cluster that has their earlier partners. [threads]
 * each: earlier, a cluster or CLUSTER_NONE; chip, where the thread was placed. */
void cluster_keep(struct clustering *c, const int16_t *earlier, const uint16_t *chip);
/* Return a thread's counts; the entries it has counts at; an entry's sums for all clusters. */
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
/* Returns the invariant that the result breaks, or NULL. */
const char *cluster_check(const struct clustering *c);

/* ---- Enough samples? ------------------------------------------------------------------------- */
enum cluster_verdict {
    CLUSTER_WAIT,       /* go on sampling */
    CLUSTER_STABLE,     /* the same clusters several times, no thread in doubt: place them */
    CLUSTER_NO_SHARING, /* the same without clusters: move no thread */
    CLUSTER_EXPIRED,    /* the limit of samples is reached: the clusters are uncertain */
    CLUSTER_VERDICT_COUNT
};
extern const char *const cluster_verdict_names[]; /* by enum cluster_verdict */

struct cluster_watch {
    unsigned threads;
    unsigned same;         /* checks in a row with the same partition */
    unsigned agreed;       /* checks in a row that only added threads to it, or removed some */
    uint64_t sample_limit; /* number of samples at which waiting ends */
    uint64_t next_check;   /* number of samples at which to cluster again */
    enum cluster_verdict verdict; /* on the last clusters */
    int16_t *of;                  /* [threads] the partition */
};
/* Starts a detection. of: memory for one number per thread. The first check is due at w->next_check
 * samples. */
void cluster_watch_start(struct cluster_watch *w, unsigned threads, uint64_t sample_limit,
                         int16_t *of);
/* Takes the clusters found after `samples` samples. Sets w->verdict and w->next_check. Returns
 * whether waiting is over. */
bool cluster_is_final(struct cluster_watch *w, const struct clustering *c, uint64_t samples);
