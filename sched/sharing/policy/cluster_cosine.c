/*
 * Clustering that is right from few samples, in four steps:
 *
 *   gather    Threads, those with most samples first, join the cluster with summed counts of the
 *             highest cosine with theirs, if it passes the threshold, else found one. The cosine is
 *             independent of the number of samples; the sum gets sharper with every member.
 *   merge     Clusters that turn out alike become one: the first few threads of a group may share
 *             no line yet.
 *   majority  A group of more than half of the threads has lines that look global. They are
 *             recognized by the threads that stay away from them: at least a quarter, where there
 *             are enough samples for each thread to have been seen.
 *   vote      Twice, every thread is assigned anew by its lines: of the samples of other threads
 *             there, which part is a cluster's, beyond the cluster's part on global lines? A line
 *             that all threads use, even one too cold to be known for it, gives every cluster just
 *             its part. A line of the cluster gives it nearly all. A thread belongs to the cluster
 *             with the largest excess, if that is not chance (Z standard deviations) and concerns
 *             enough of its samples to be worth a move. So threads that meet only on global and
 *             stray lines stay alone, as do all threads of a program that shares nothing.
 *
 * Lines used by more than half of the threads are left out before. A thread uses a line if it has
 * at least two fifths of an equal part of its samples, so that a few touches by strangers do not
 * make a group's line global.
 */
#include "sched/sharing/policy/cluster.h"
#include "kernel/lib/fixed.h"

enum {
    SIMILAR_PERMILLE = 300,
    VOTE_ROUNDS = 2,
    NORM_BITS = 36,  /* of a norm of which a cosine is computed */
    SCORE_BITS = 24, /* fractional bits of scores */
    SHARE_BITS = 16, /* fractional bits of shares */
    MIN_SCORE = 2,   /* one shared sample proves nothing */
    Z_SQUARED = 16,  /* 4 standard deviations: 1 in 30,000 */
    Z_SQUARED_UNSURE = 4,
    MIN_PART = 100, /* an excess below 1/100 of its samples is not worth a move */
    /* A thread with no samples, where an equal part is this many, stays away: by chance 1
     * thread in 20, of a quarter of all threads never. */
    AWAY_SAMPLES = 3,
    AWAY_PART = 5,    /* ... or a thread with less than 1/5 of an equal part */
    AWAY_THREADS = 4, /* at least 1/4 of the threads stay away from a majority's line */
};

static bool uses(const struct clustering *c, unsigned entry, uint8_t count)
{
    return (uint64_t)5 * count * c->threads >= (uint64_t)2 * c->line[entry];
}

/* ---- gather, merge --------------------------------------------------------------------------- */

static void sort_by_kept(struct clustering *c)
{
    for (unsigned i = 0; i < c->threads; i++) {
        unsigned place = i;
        for (; place && c->kept[c->order[place - 1]] < c->kept[i]; place--)
            c->order[place] = c->order[place - 1];
        c->order[place] = (uint16_t)i;
    }
}

/* Returns the cosine in thousandths. Norms are sums of squares, so dot * dot <= norm_a * norm_b.
 * The roots keep 8 fractional bits each. */
static uint32_t cosine_permille(uint64_t dot, uint64_t norm_a, uint64_t norm_b)
{
    uint64_t length;

    if (!dot)
        return 0; /* the usual case, spared two roots */
    for (; norm_a >> NORM_BITS; norm_a >>= 2)
        dot >>= 1;
    for (; norm_b >> NORM_BITS; norm_b >>= 2)
        dot >>= 1;
    length = (uint64_t)fixed_isqrt(norm_a << 16) * fixed_isqrt(norm_b << 16);
    return length ? (uint32_t)((dot * 1000 << 16) / length) : 0;
}

/* Sets c->own to the thread's lines that are not global. */
static void list_own_lines(struct clustering *c, unsigned t)
{
    c->own_lines = 0;
    cluster_each_touched(c, t, e)
    {
        c->own[c->own_lines] = (uint16_t)e;
        c->own_lines += !c->global[e]; /* no branch: it could not be predicted */
    }
}

static void clear_cluster(struct clustering *c, unsigned cluster)
{
    cluster_each_line (c, e)
        cluster_sums(c, e)[cluster] = 0;
}

/* Adds the counts of the thread listed in c->own to a cluster, and updates the cluster's norm. */
static void add_to_cluster(struct clustering *c, const uint8_t *row, unsigned cluster,
                           uint64_t *norm)
{
    for (unsigned i = 0; i < c->own_lines; i++) {
        unsigned e = c->own[i];
        uint32_t *sum = &cluster_sums(c, e)[cluster];
        *norm += (uint64_t)row[e] * (2 * *sum + row[e]);
        *sum += row[e];
    }
}

static uint64_t norm_of(const struct clustering *c, const uint8_t *row)
{
    uint64_t norm = 0;

    for (unsigned i = 0; i < c->own_lines; i++)
        norm += (uint32_t)row[c->own[i]] * row[c->own[i]];
    return norm;
}

/* Sets c->dot to the products of the thread listed in c->own with each cluster. */
static void multiply_row(struct clustering *c, const uint8_t *row, unsigned clusters)
{
    memset(c->dot, 0, clusters * sizeof *c->dot);
    for (unsigned i = 0; i < c->own_lines; i++) {
        const uint32_t *sums = cluster_sums(c, c->own[i]);
        uint64_t count = row[c->own[i]];
        for (unsigned k = 0; k < clusters; k++)
            c->dot[k] += count * sums[k];
    }
}

/* Returns the number of clusters. Leaves their norms in c->score. */
static unsigned gather(struct clustering *c, const uint8_t *counts, uint32_t threshold)
{
    unsigned clusters = 0;

    for (unsigned i = 0; i < c->threads && c->kept[c->order[i]]; i++) {
        unsigned t = c->order[i], best = clusters;
        const uint8_t *row = cluster_row(c, counts, t);
        uint32_t best_cosine = 0;
        list_own_lines(c, t);
        multiply_row(c, row, clusters);
        uint64_t norm = norm_of(c, row);
        for (unsigned k = 0; k < clusters; k++) {
            uint32_t cosine = cosine_permille(c->dot[k], norm, c->score[k]);
            if (cosine >= threshold && cosine > best_cosine) {
                best_cosine = cosine;
                best = k;
            }
        }
        if (best == clusters) {
            clear_cluster(c, best);
            c->score[best] = 0;
            clusters++;
        }
        add_to_cluster(c, row, best, &c->score[best]);
        c->of[t] = (int16_t)best;
    }
    return clusters;
}

/* Adds the counts and members of cluster `from` to `into`; `from` is then empty. */
static void merge_pair(struct clustering *c, unsigned into, unsigned from, uint64_t dot)
{
    cluster_each_line (c, e) {
        uint32_t *sums = cluster_sums(c, e);
        sums[into] += sums[from];
        sums[from] = 0;
    }
    c->score[into] += 2 * dot + c->score[from];
    c->score[from] = 0;
    for (unsigned t = 0; t < c->threads; t++) {
        if (c->of[t] == (int)from)
            c->of[t] = (int16_t)into;
    }
}

/* Sets c->dot to the products of cluster a with each later one, and c->members to the number of
 * lines both have. */
static void multiply_cluster(struct clustering *c, unsigned a, unsigned clusters)
{
    memset(c->dot, 0, clusters * sizeof *c->dot);
    memset(c->members, 0, clusters * sizeof *c->members);
    cluster_each_line (c, e) {
        const uint32_t *sums = cluster_sums(c, e);
        uint64_t count = sums[a];
        for (unsigned b = a + 1; count && b < clusters; b++) {
            c->dot[b] += count * sums[b];
            c->members[b] += sums[b] != 0;
        }
    }
}

static void merge(struct clustering *c, unsigned clusters, uint32_t threshold)
{
    for (unsigned a = 0; a < clusters; a++) {
        multiply_cluster(c, a, clusters);
        for (unsigned b = a + 1; b < clusters; b++) {
            if (c->members[b] < MIN_SCORE ||
                cosine_permille(c->dot[b], c->score[a], c->score[b]) < threshold)
                continue;
            merge_pair(c, a, b, c->dot[b]);
            multiply_cluster(c, a, clusters);
        }
    }
}

/* Drops clusters of one thread, which cannot win votes, and renumbers the others. Returns their
 * number. */
static unsigned drop_small(struct clustering *c, unsigned clusters)
{
    unsigned left = 0;

    memset(c->members, 0, clusters * sizeof *c->members);
    for (unsigned t = 0; t < c->threads; t++) {
        if (c->of[t] != CLUSTER_NONE)
            c->members[c->of[t]]++;
    }
    for (unsigned k = 0; k < clusters; k++)
        c->next[k] = c->members[k] < 2 ? UINT16_MAX : (uint16_t)left++;
    for (unsigned t = 0; t < c->threads; t++) {
        if (c->of[t] != CLUSTER_NONE)
            c->of[t] = c->next[c->of[t]] == UINT16_MAX ? CLUSTER_NONE : (int16_t)c->next[c->of[t]];
    }
    return left;
}

/* ---- majority -------------------------------------------------------------------------------- */

/* Sets c->score to each thread's number of samples. Returns their sum. */
static uint64_t count_samples(struct clustering *c, const uint8_t *counts)
{
    uint64_t all = 0;

    for (unsigned t = 0; t < c->threads; t++) {
        const uint8_t *row = cluster_row(c, counts, t);
        c->score[t] = 0;
        cluster_each_touched(c, t, e) c->score[t] += row[e];
        all += c->score[t];
    }
    return all;
}

/* Returns whether a thread with `count` samples has hardly any of its equal part of the line's
 * samples. */
static bool stays_away(const struct clustering *c, unsigned e, uint64_t count)
{
    return c->line[e] >= AWAY_SAMPLES * c->threads && AWAY_PART * count * c->threads < c->line[e];
}

/* Sets c->own to the lines that look global, but that a quarter of the threads stays away from.
 * Returns their samples. */
static uint64_t list_majority_lines(struct clustering *c, const uint8_t *counts)
{
    uint64_t samples = 0;

    c->own_lines = 0;
    cluster_each_line (c, e) {
        unsigned away = 0;
        for (unsigned t = 0; c->global[e] && t < c->threads; t++)
            away += stays_away(c, e, cluster_row(c, counts, t)[e]);
        if (away && away * AWAY_THREADS >= c->threads) {
            c->own[c->own_lines++] = (uint16_t)e;
            samples += c->line[e];
        }
    }
    return samples;
}

/* Makes a global line one that is kept. */
static void keep_line(struct clustering *c, const uint8_t *counts, unsigned entry)
{
    c->global[entry] = 0;
    c->global_samples -= c->line[entry];
    c->local_samples += c->line[entry];
    for (unsigned t = 0; t < c->threads; t++)
        c->kept[t] += cluster_row(c, counts, t)[entry];
}

/* Makes a cluster of the threads that have their part of those lines, and more samples there than
 * on kept ones, if they are more than half of all. Returns the number of clusters. */
static unsigned find_majority(struct clustering *c, const uint8_t *counts, unsigned clusters)
{
    uint64_t all = count_samples(c, counts), samples = list_majority_lines(c, counts);
    unsigned members = 0;

    for (unsigned t = 0; t < c->threads; t++) {
        uint64_t there = 0;
        for (unsigned i = 0; i < c->own_lines; i++)
            there += cluster_row(c, counts, t)[c->own[i]];
        c->next[t] = there > c->kept[t] && 2 * there * all >= samples * c->score[t];
        members += c->next[t];
    }
    if (2 * members <= c->threads)
        return clusters;
    for (unsigned i = 0; i < c->own_lines; i++)
        keep_line(c, counts, c->own[i]);
    for (unsigned t = 0; t < c->threads; t++) {
        if (c->next[t])
            c->of[t] = (int16_t)clusters;
    }
    return clusters + 1;
}

/* ---- vote ------------------------------------------------------------------------------------ */

/* Sets c->share to each thread's part of the samples on global lines. One sample is added for each
 * thread, in case there are none. */
static void find_shares(struct clustering *c, const uint8_t *counts)
{
    uint64_t total = c->threads;

    for (unsigned t = 0; t < c->threads; t++) {
        const uint8_t *row = cluster_row(c, counts, t);
        c->share[t] = 1;
        cluster_each_touched(c, t, e) c->share[t] += c->global[e] ? row[e] : 0;
        total += c->share[t] - 1;
    }
    for (unsigned t = 0; t < c->threads; t++)
        c->share[t] = (uint32_t)(((uint64_t)c->share[t] << SHARE_BITS) / total);
}

static void sum_clusters(struct clustering *c, const uint8_t *counts)
{
    uint64_t norm = 0;

    memset(c->members, 0, c->threads * sizeof *c->members);
    memset(c->cluster_share, 0, c->threads * sizeof *c->cluster_share);
    for (unsigned t = 0; t < c->threads; t++) {
        if (c->of[t] == CLUSTER_NONE)
            continue;
        if (c->members[c->of[t]]++ == 0)
            clear_cluster(c, (unsigned)c->of[t]);
        c->cluster_share[c->of[t]] += c->share[t];
        list_own_lines(c, t);
        add_to_cluster(c, cluster_row(c, counts, t), c->of[t], &norm);
    }
}

/* The evidence of a thread's lines. */
struct ballot {
    uint64_t samples;  /* its samples on kept lines that others use, too */
    uint64_t variance; /* of a score by chance, before the cluster's own factor, with SCORE_BITS */
};

/* Sets c->score, for every cluster, to the sum over the thread's lines of its samples times the
 * part of the cluster's other members there. */
static struct ballot count_votes(struct clustering *c, const uint8_t *row, unsigned t,
                                 unsigned clusters)
{
    struct ballot ballot = {0, 0};

    memset(c->score, 0, clusters * sizeof *c->score);
    list_own_lines(c, t);
    for (unsigned i = 0; i < c->own_lines; i++) {
        unsigned e = c->own[i];
        uint64_t weight;
        if (c->line[e] == row[e])
            continue;
        weight = ((uint64_t)row[e] << SCORE_BITS) / (c->line[e] - row[e]);
        ballot.samples += row[e];
        ballot.variance += row[e] * weight;
        const uint32_t *sums = cluster_sums(c, e);
        for (unsigned k = 0; k < clusters; k++)
            c->score[k] += weight * sums[k];
        if (c->of[t] != CLUSTER_NONE)
            c->score[c->of[t]] -= weight * row[e];
    }
    return ballot;
}

/* Returns the cluster's part of the global samples, without the thread in either. */
static uint64_t share_of_others(const struct clustering *c, unsigned t, unsigned k)
{
    uint64_t share = c->cluster_share[k] - (c->of[t] == (int)k ? c->share[t] : 0);

    return (share << SHARE_BITS) / ((1u << SHARE_BITS) - c->share[t] + 1);
}

/* Returns whether an excess is more than z standard deviations. A line's part is binomial: its
 * variance is share (1 - share) / samples. */
static bool beyond_chance(const struct ballot *ballot, uint64_t excess, uint64_t share,
                          unsigned z_squared)
{
    uint64_t e = excess >> (SCORE_BITS - 8);
    uint64_t factor =
        share * ((1u << SHARE_BITS) - MIN(share, (uint64_t)1 << SHARE_BITS)) >> SHARE_BITS;

    return e * e >= (z_squared * (ballot->variance >> (SCORE_BITS - 8)) * factor) >>
           (SHARE_BITS - 8);
}

static int choose(struct clustering *c, const uint8_t *counts, unsigned t, unsigned clusters)
{
    const uint8_t *row = cluster_row(c, counts, t);
    struct ballot ballot = count_votes(c, row, t, clusters);
    uint64_t best = 0, best_share = 0, all = 0;
    int chosen = CLUSTER_NONE;

    for (unsigned k = 0; k < clusters; k++) {
        uint64_t share = c->members[k] < 2 ? 0 : share_of_others(c, t, k);
        uint64_t expected = ballot.samples * share << (SCORE_BITS - SHARE_BITS);
        uint64_t excess = c->members[k] < 2 || c->score[k] < expected ? 0 : c->score[k] - expected;
        if (excess > best) {
            best = excess;
            best_share = share;
            chosen = (int)k;
        }
    }
    c->why[t] = CLUSTER_ALONE;
    cluster_each_touched(c, t, e) all += row[e];
    if (chosen == CLUSTER_NONE || best * MIN_PART < all << SCORE_BITS)
        return CLUSTER_NONE;
    if (!beyond_chance(&ballot, best, best_share, Z_SQUARED_UNSURE))
        return CLUSTER_NONE;
    c->why[t] = CLUSTER_UNSURE;
    if (c->score[chosen] < (uint64_t)MIN_SCORE << SCORE_BITS ||
        !beyond_chance(&ballot, best, best_share, Z_SQUARED))
        return CLUSTER_NONE;
    return chosen;
}

static void vote(struct clustering *c, const uint8_t *counts, unsigned clusters)
{
    sum_clusters(c, counts);
    for (unsigned t = 0; t < c->threads; t++)
        c->next[t] = (uint16_t)(choose(c, counts, t, clusters) + 1);
    for (unsigned t = 0; t < c->threads; t++)
        c->of[t] = (int16_t)(c->next[t] - 1);
}

static void group(struct clustering *c, const uint8_t *counts, uint32_t threshold)
{
    unsigned clusters;

    sort_by_kept(c);
    clusters = gather(c, counts, threshold);
    merge(c, clusters, threshold);
    clusters = find_majority(c, counts, drop_small(c, clusters));
    find_shares(c, counts);
    for (unsigned i = 0; i < VOTE_ROUNDS; i++)
        vote(c, counts, clusters);
}

const struct cluster_policy cluster_cosine = {"cosine", SIMILAR_PERMILLE, uses, group};
