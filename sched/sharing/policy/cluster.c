/*
 * What all cluster policies have in common: memory, global lines, the result's final form, its
 * check. Invariant of a result: clusters are numbered from 0 without gaps in order of their first
 * thread, and each has at least two members; a thread on its own is in none.
 */
#include "sched/sharing/policy/cluster.h"

const struct cluster_policy *const cluster_policies[] = {&cluster_cosine, &cluster_published,
                                                         &cluster_published_scaled, NULL};

const char *const cluster_why_names[] = {"silent", "global", "alone", "unsure", "member", NULL};

/* Lays out the arrays in the memory block, largest alignment first. Returns its size. */
static size_t lay_out(struct clustering *c, char *memory)
{
    size_t threads = c->threads, entries = c->entries, used = 0;

    c->score = (uint64_t *)(memory + used);
    used += threads * sizeof *c->score;
    c->dot = (uint64_t *)(memory + used);
    used += threads * sizeof *c->dot;
    c->group = (struct cluster_group *)(memory + used);
    used += threads * sizeof *c->group;
    c->sum = (uint32_t *)(memory + used);
    used += threads * entries * sizeof *c->sum;
    c->line = (uint32_t *)(memory + used);
    used += entries * sizeof *c->line;
    c->kept = (uint32_t *)(memory + used);
    used += threads * sizeof *c->kept;
    c->share = (uint32_t *)(memory + used);
    used += threads * sizeof *c->share;
    c->members = (uint32_t *)(memory + used);
    used += threads * sizeof *c->members;
    c->cluster_share = (uint32_t *)(memory + used);
    used += threads * sizeof *c->cluster_share;
    c->order = (uint16_t *)(memory + used);
    used += threads * sizeof *c->order;
    c->next = (uint16_t *)(memory + used);
    used += threads * sizeof *c->next;
    c->used = (uint16_t *)(memory + used);
    used += entries * sizeof *c->used;
    c->touched = (uint16_t *)(memory + used);
    used += threads * entries * sizeof *c->touched;
    c->touches = (uint16_t *)(memory + used);
    used += threads * sizeof *c->touches;
    c->users = (uint16_t *)(memory + used);
    used += entries * sizeof *c->users;
    c->own = (uint16_t *)(memory + used);
    used += entries * sizeof *c->own;
    c->of = (int16_t *)(memory + used);
    used += threads * sizeof *c->of;
    c->why = (uint8_t *)(memory + used);
    used += threads;
    c->global = (uint8_t *)(memory + used);
    used += entries;
    return ALIGN_UP(used, (size_t)8);
}

size_t cluster_bytes(unsigned threads, unsigned entries)
{
    struct clustering c = {.threads = threads, .entries = entries};

    if (threads < 1 || threads > CLUSTER_THREADS_MAX || entries < 1 ||
        entries > CLUSTER_ENTRIES_MAX)
        return 0;
    return lay_out(&c, NULL);
}

int cluster_init(struct clustering *c, unsigned threads, unsigned entries, void *memory,
                 size_t bytes)
{
    size_t needed = cluster_bytes(threads, entries);

    if (needed == 0 || !IS_ALIGNED((uintptr_t)memory, sizeof(uint64_t)))
        return -EINVAL;
    if (bytes < needed)
        return -ENOMEM;
    memset(memory, 0, needed);
    *c = (struct clustering){.threads = threads, .entries = entries};
    lay_out(c, memory);
    for (unsigned t = 0; t < threads; t++)
        c->of[t] = CLUSTER_NONE;
    return 0;
}

static bool eight_are_zero(const uint8_t *at)
{
    uint64_t eight;

    /* compiled to a load, which is faster than a call */
    __builtin_memcpy(&eight, at, sizeof eight);
    return !eight;
}

/* Sets c->touched to the thread's entries. Skips eight at a time, as most are empty. */
static void list_touched(struct clustering *c, const uint8_t *row, unsigned t)
{
    uint16_t *touched = c->touched + (size_t)t * c->entries;
    unsigned touches = 0;

    for (unsigned e = 0; e < c->entries; e += 8) {
        unsigned n = MIN(c->entries - e, 8u);
        if (n == 8 && eight_are_zero(row + e))
            continue;
        for (unsigned i = 0; i < n; i++) {
            touched[touches] = (uint16_t)(e + i);
            touches += row[e + i] != 0; /* no branch: it could not be predicted */
        }
    }
    c->touches[t] = (uint16_t)touches;
}

/* Lists the entries each thread has counts at, and sums the counts of each line. */
static void total_lines(struct clustering *c, const uint8_t *counts)
{
    memset(c->line, 0, c->entries * sizeof *c->line);
    for (unsigned t = 0; t < c->threads; t++) {
        const uint8_t *row = cluster_row(c, counts, t);
        list_touched(c, row, t);
        cluster_each_touched(c, t, e) c->line[e] += row[e];
    }
    c->lines = 0;
    for (unsigned e = 0; e < c->entries; e++) {
        c->global[e] = 0;
        if (c->line[e])
            c->used[c->lines++] = (uint16_t)e;
    }
}

static void count_users(struct clustering *c, const struct cluster_policy *policy,
                        const uint8_t *counts)
{
    memset(c->users, 0, c->entries * sizeof *c->users);
    for (unsigned t = 0; t < c->threads; t++) {
        const uint8_t *row = cluster_row(c, counts, t);
        cluster_each_touched(c, t, e) c->users[e] += policy->uses(c, e, row[e]);
    }
}

/* Marks the lines that strictly more than half of the threads use as global, and sums the samples
 * on global lines and on others. */
static void find_global(struct clustering *c, const struct cluster_policy *policy,
                        const uint8_t *counts)
{
    total_lines(c, counts);
    count_users(c, policy, counts);
    c->local_samples = c->global_samples = 0;
    cluster_each_line (c, e) {
        c->global[e] = 2 * c->users[e] > c->threads;
        *(c->global[e] ? &c->global_samples : &c->local_samples) += c->line[e];
    }
    for (unsigned t = 0; t < c->threads; t++) {
        const uint8_t *row = cluster_row(c, counts, t);
        c->kept[t] = 0;
        cluster_each_touched(c, t, e) c->kept[t] += c->global[e] ? 0 : row[e];
    }
}

/* Returns why a thread in no cluster is in none. */
static enum cluster_why reason(const struct clustering *c, unsigned t)
{
    if (c->kept[t])
        return c->why[t] == CLUSTER_UNSURE ? CLUSTER_UNSURE : CLUSTER_ALONE;
    return c->touches[t] ? CLUSTER_GLOBAL : CLUSTER_SILENT;
}

/* Turns the policy's c->of and c->why into a result. */
static void finish(struct clustering *c)
{
    memset(c->members, 0, c->threads * sizeof *c->members);
    for (unsigned t = 0; t < c->threads; t++) {
        c->next[t] = UINT16_MAX;
        if (c->of[t] != CLUSTER_NONE)
            c->members[c->of[t]]++;
    }
    c->clusters = 0;
    for (unsigned t = 0; t < c->threads; t++) {
        int16_t old = c->of[t];
        if (old == CLUSTER_NONE || c->members[old] < 2) {
            c->of[t] = CLUSTER_NONE;
            c->why[t] = reason(c, t);
            continue;
        }
        if (c->next[old] == UINT16_MAX) {
            c->group[c->clusters] = (struct cluster_group){0, 0};
            c->next[old] = (uint16_t)c->clusters++;
        }
        c->of[t] = (int16_t)c->next[old];
        c->why[t] = CLUSTER_MEMBER;
        c->group[c->of[t]].size++;
        c->group[c->of[t]].weight += c->kept[t];
    }
}

void cluster_run(struct clustering *c, const struct cluster_policy *policy, const uint8_t *counts,
                 uint32_t threshold)
{
    for (unsigned t = 0; t < c->threads; t++) {
        c->of[t] = CLUSTER_NONE;
        c->why[t] = CLUSTER_ALONE;
    }
    find_global(c, policy, counts);
    policy->group(c, counts, threshold);
    finish(c);
}

/* Returns the cluster that has a thread of the earlier one; CLUSTER_NONE if all of them are in no
 * cluster. */
static int16_t heir_of(const struct clustering *c, const int16_t *earlier, int16_t cluster)
{
    for (unsigned t = 0; t < c->threads; t++) {
        if (earlier[t] == cluster && c->of[t] != CLUSTER_NONE)
            return c->of[t];
    }
    return CLUSTER_NONE;
}

/* Parts what the last run has joined of clusters that were placed on one chip. The first one's
 * threads keep their cluster; those of each other one get a new one. */
static unsigned part_joined(struct clustering *c, const int16_t *earlier, const uint16_t *chip)
{
    unsigned clusters = c->clusters;

    /* c->next: the cluster that a thread is in then; an earlier thread decides for its partners. */
    for (unsigned t = 0; t < c->threads; t++) {
        bool joined = false;
        c->next[t] = (uint16_t)c->of[t];
        for (unsigned x = 0; x < t && c->of[t] != CLUSTER_NONE && earlier[t] != CLUSTER_NONE; x++) {
            if (c->of[x] != c->of[t] || earlier[x] == CLUSTER_NONE || chip[x] != chip[t])
                continue;
            joined = earlier[x] != earlier[t];
            if (joined)
                continue;
            c->next[t] = c->next[x];
            break;
        }
        if (joined)
            c->next[t] = (uint16_t)clusters++;
    }
    for (unsigned t = 0; t < c->threads; t++)
        c->of[t] = c->of[t] == CLUSTER_NONE ? CLUSTER_NONE : (int16_t)c->next[t];
    return clusters;
}

void cluster_keep(struct clustering *c, const int16_t *earlier, const uint16_t *chip)
{
    unsigned clusters = part_joined(c, earlier, chip);

    /* c->next: the cluster that a thread left out goes back to. */
    for (unsigned t = 0; t < c->threads; t++) {
        unsigned first = 0;
        if (c->of[t] != CLUSTER_NONE || earlier[t] == CLUSTER_NONE)
            continue;
        while (earlier[first] != earlier[t])
            first++;
        int16_t heir = heir_of(c, earlier, earlier[t]);
        c->next[t] = heir != CLUSTER_NONE ? (uint16_t)heir
                     : first == t         ? (uint16_t)clusters++
                                          : c->next[first];
    }
    for (unsigned t = 0; t < c->threads; t++) {
        if (c->of[t] == CLUSTER_NONE && earlier[t] != CLUSTER_NONE)
            c->of[t] = (int16_t)c->next[t];
    }
    finish(c);
}

const char *cluster_check(const struct clustering *c)
{
    unsigned seen = 0, members = 0;

    for (unsigned t = 0; t < c->threads; t++) {
        if (c->of[t] < CLUSTER_NONE || c->of[t] >= (int)c->clusters)
            return "a thread is in a cluster that does not exist";
        if ((c->of[t] != CLUSTER_NONE) != (c->why[t] == CLUSTER_MEMBER))
            return "a thread's reason contradicts its cluster";
        if (c->of[t] > (int)seen)
            return "the clusters are not numbered by their first threads";
        seen += c->of[t] == (int)seen;
        members += c->of[t] != CLUSTER_NONE;
    }
    if (seen != c->clusters)
        return "a cluster has no members";
    for (unsigned g = 0; g < c->clusters; g++) {
        if (c->group[g].size < 2)
            return "a cluster has fewer than two members";
        members -= c->group[g].size;
    }
    return members ? "the sizes of the clusters do not add up" : NULL;
}
