/*
 * When to stop sampling. The shMaps are clustered again each time the samples have grown by a
 * quarter. The clusters are final when they were the same SAME times in a row and no thread is in
 * doubt. A thread with too few samples looks like one that shares with no other; so that a thread
 * does not share is believed later than that it shares.
 */
#include "sched/sharing/policy/cluster.h"

enum {
    FIRST_PER_THREAD = 32,    /* samples before the first check */
    ABSENCE_PER_THREAD = 128, /* samples without shared lines that mean it does not share */
    GROWTH_PERCENT = 25,
    SAME = 3,
};

const char *const cluster_verdict_names[] = {"wait", "stable", "no-sharing", "expired", NULL};

void cluster_watch_start(struct cluster_watch *w, unsigned threads, uint64_t sample_limit,
                         int16_t *of)
{
    *w = (struct cluster_watch){
        .threads = threads,
        .sample_limit = sample_limit,
        .next_check = MIN((uint64_t)FIRST_PER_THREAD * threads, sample_limit),
        .of = of,
    };
    for (unsigned t = 0; t < threads; t++)
        of[t] = CLUSTER_NONE;
}

static unsigned threads_that_are(const struct clustering *c, enum cluster_why why)
{
    unsigned n = 0;

    for (unsigned t = 0; t < c->threads; t++)
        n += c->why[t] == why;
    return n;
}

/* Returns whether threads may be missing from the clusters only for lack of samples. */
static bool in_doubt(const struct clustering *c, uint64_t samples)
{
    bool all_in = threads_that_are(c, CLUSTER_MEMBER) == c->threads;

    return threads_that_are(c, CLUSTER_UNSURE) ||
           (!all_in && samples < (uint64_t)ABSENCE_PER_THREAD * c->threads);
}

/* Returns whether two partitions agree about all threads that are in a cluster in both. For each
 * thread, the first thread that is in its cluster in one partition must be in its cluster in the
 * other; the threads in between then agree by the same test. */
static bool agree(const int16_t *a, const int16_t *b, unsigned threads)
{
    for (unsigned t = 0; t < threads; t++) {
        if (a[t] == CLUSTER_NONE || b[t] == CLUSTER_NONE)
            continue;
        unsigned r = 0;
        while (a[r] == CLUSTER_NONE || b[r] == CLUSTER_NONE || (a[r] != a[t] && b[r] != b[t]))
            r++;
        if (a[r] != a[t] || b[r] != b[t])
            return false;
    }
    return true;
}

static enum cluster_verdict verdict_on(const struct cluster_watch *w, const struct clustering *c,
                                       uint64_t samples)
{
    if (w->same >= SAME && !in_doubt(c, samples))
        return c->clusters ? CLUSTER_STABLE : CLUSTER_NO_SHARING;
    return samples >= w->sample_limit ? CLUSTER_EXPIRED : CLUSTER_WAIT;
}

bool cluster_is_final(struct cluster_watch *w, const struct clustering *c, uint64_t samples)
{
    ASSERT(w->threads == c->threads);
    w->agreed = agree(w->of, c->of, c->threads) ? w->agreed + 1 : 1;
    if (memcmp(w->of, c->of, c->threads * sizeof *c->of) == 0) {
        w->same++;
    } else {
        memcpy(w->of, c->of, c->threads * sizeof *c->of);
        w->same = 1;
    }
    w->next_check =
        MIN(samples + MAX(samples * GROWTH_PERCENT / 100, (uint64_t)1), w->sample_limit);
    w->verdict = verdict_on(w, c, samples);
    return w->verdict != CLUSTER_WAIT;
}
