/*
 * The published clustering [Azimi 2007, 3.3.3, Algorithm 1]. In one pass, a thread joins the first
 * cluster with a first member more similar to it than a threshold, else it founds a cluster.
 * Similarity is the dot product, with counts below 3 taken as zero. The threshold of 40,000 is
 * meant for counters near their limit: one line that both threads have fetched 200 times. The
 * scaled form scales it by the square of the highest counter.
 */
#include "sched/sharing/policy/cluster.h"

enum { FLOOR = 3, FULL = 255, THRESHOLD = 40000 };

static bool uses(const struct clustering *c UNUSED, unsigned entry UNUSED, uint8_t count)
{
    return count >= FLOOR;
}

static uint64_t similarity(const struct clustering *c, const uint8_t *counts, unsigned first,
                           unsigned second)
{
    const uint8_t *a = cluster_row(c, counts, first), *b = cluster_row(c, counts, second);
    uint64_t dot = 0;

    cluster_each_touched(c, first, e)
    {
        if (!c->global[e] && a[e] >= FLOOR && b[e] >= FLOOR)
            dot += (uint32_t)a[e] * b[e];
    }
    return dot;
}

static void group(struct clustering *c, const uint8_t *counts, uint32_t threshold)
{
    uint16_t *representative = c->order;
    unsigned clusters = 0;

    for (unsigned t = 0; t < c->threads; t++) {
        unsigned k = 0;
        while (k < clusters && similarity(c, counts, t, representative[k]) <= threshold)
            k++;
        if (k == clusters)
            representative[clusters++] = (uint16_t)t;
        c->of[t] = (int16_t)k;
    }
}

static void group_scaled(struct clustering *c, const uint8_t *counts, uint32_t threshold)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < (size_t)c->threads * c->entries; i++)
        highest = MAX(highest, (uint64_t)counts[i]);
    group(c, counts, (uint32_t)(threshold * highest * highest / (FULL * FULL)));
}

const struct cluster_policy cluster_published = {"published", THRESHOLD, uses, group};
const struct cluster_policy cluster_published_scaled = {"published-scaled", THRESHOLD, uses,
                                                        group_scaled};
