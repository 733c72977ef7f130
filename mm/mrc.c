/*
 * Miss-rate curves.
 * Boundaries, groups and depths are in sampled pages inside; the public functions multiply.
 */
#include "mm/mrc.h"

enum { POINT = 8 }; /* binary digits behind the point of means */

const char *const mrc_policy_names[] = {"lru", "mru", NULL};

/* The sample's pages; the last run may be cut short, and its page not exist. */
static uint32_t sampled_nodes(const struct mrc_config *c, uint32_t nodes)
{
    return ((nodes - 1) >> c->sample_shift) + 1;
}

static struct lrustack *lru_of(const struct mrc *m)
{
    return (struct lrustack *)(m + 1);
}

static struct mrustack *mru_of(const struct mrc *m)
{
    return (struct mrustack *)((char *)lru_of(m) + lrustack_bytes(lru_of(m)->nodes));
}

size_t mrc_bytes(const struct mrc_config *c)
{
    if (c->nodes < 1 || c->nodes > LRUSTACK_NODES_MAX || c->sample_shift > MRC_SAMPLE_SHIFT_MAX ||
        c->decay_shift > MRC_DECAY_SHIFT_MAX)
        return 0;
    uint32_t nodes = sampled_nodes(c, c->nodes);
    return sizeof(struct mrc) + lrustack_bytes(nodes) + mrustack_bytes(nodes);
}

void mrc_init(struct mrc *m, const struct mrc_config *config)
{
    ASSERT(mrc_bytes(config));
    uint32_t nodes = sampled_nodes(config, config->nodes);

    *m = (struct mrc){.config = *config};
    lrustack_init(lru_of(m), nodes);
    mrustack_init(mru_of(m), nodes);
}

void mrc_grow(struct mrc *m, uint32_t nodes)
{
    ASSERT(nodes >= m->config.nodes && nodes <= LRUSTACK_NODES_MAX);
    const struct mrustack *mru = mru_of(m);
    uint32_t sampled = sampled_nodes(&m->config, nodes);

    memmove((char *)lru_of(m) + lrustack_bytes(sampled), mru, mrustack_bytes(mru->nodes));
    lrustack_grow(lru_of(m), sampled);
    mrustack_grow(mru_of(m), sampled);
    m->config.nodes = nodes;
}

/* The boundaries are others: what was counted by the old ones cannot be compared. */
static void set_bounds(struct mrc *m, const uint32_t *at, unsigned bounds, uint32_t group, bool even)
{
    int error = lrustack_set_bounds(lru_of(m), at, bounds);

    ASSERT(!error);
    m->group = group << m->config.sample_shift;
    m->even = even;
    m->epochs = 0;
    m->touches = m->cold = m->touches_mean = m->cold_mean = 0;
    memset(m->now, 0, sizeof m->now);
    memset(m->mean, 0, sizeof m->mean);
}

static uint32_t in_sample(const struct mrc *m, uint32_t pages)
{
    return (uint32_t)(((uint64_t)pages + (1u << m->config.sample_shift) - 1) >> m->config.sample_shift);
}

uint32_t mrc_whole(struct mrc *m, uint32_t group, uint32_t memory)
{
    uint32_t at[LRUSTACK_BOUNDS_MAX], pages = MAX(in_sample(m, memory), 1u);

    group = MAX(MAX(in_sample(m, group), 1u), (pages + MRC_GROUPS_MAX - 1) / MRC_GROUPS_MAX);
    pages = (pages + group - 1) / group * group;
    set_bounds(m, at, lrustack_bounds_every(at, group, pages), group, true);
    return m->group;
}

uint32_t mrc_around(struct mrc *m, uint32_t group, uint32_t memory)
{
    uint32_t at[LRUSTACK_BOUNDS_MAX];

    group = MAX(in_sample(m, group), 1u);
    set_bounds(m, at, lrustack_bounds_around(at, group, MAX(in_sample(m, memory), 1u)), group, false);
    return m->group;
}

/* The group of a page at a depth from 1, as the LRU stack would have it. */
static unsigned group_at(const struct mrc *m, uint32_t depth)
{
    const struct lrustack *s = lru_of(m);
    unsigned group = 0;

    if (m->even)
        return MIN((depth - 1) / s->at[0], s->bounds);
    while (group < s->bounds && depth > s->at[group])
        group++;
    return group;
}

void mrc_count(struct mrc *m, uint32_t sampled)
{
    unsigned group = lrustack_touch(lru_of(m), sampled);
    uint32_t depth = mrustack_touch(mru_of(m), sampled);

    if (group == LRUSTACK_COLD) {
        m->cold++;
        return;
    }
    m->now[MRC_LRU].in_group[group]++;
    m->now[MRC_MRU].in_group[group_at(m, depth)]++;
}

void mrc_forget(struct mrc *m, uint32_t node)
{
    ASSERT(node < m->config.nodes);
    if (!mrc_sampled(m, node))
        return;
    lrustack_remove(lru_of(m), node >> m->config.sample_shift);
    mrustack_remove(mru_of(m), node >> m->config.sample_shift);
}

/* The mean with one epoch more. */
static uint64_t mixed(const struct mrc *m, uint64_t mean, uint64_t now)
{
    unsigned shift = m->epochs ? m->config.decay_shift : 0;

    return mean - (mean >> shift) + (now << POINT >> shift);
}

void mrc_epoch(struct mrc *m)
{
    const struct lrustack *s = lru_of(m);

    for (unsigned p = 0; p < MRC_POLICIES; p++) {
        uint64_t misses = 0;
        for (unsigned i = s->bounds; i-- > 0;) {
            misses += m->now[p].in_group[i + 1];
            m->mean[p].at_bound[i] = mixed(m, m->mean[p].at_bound[i], misses);
        }
    }
    m->touches_mean = mixed(m, m->touches_mean, m->touches);
    m->cold_mean = mixed(m, m->cold_mean, m->cold);
    m->touches = m->cold = 0;
    memset(m->now, 0, sizeof m->now);
    m->epochs++;
}

uint64_t mrc_accesses(const struct mrc *m)
{
    return m->touches_mean >> POINT;
}

uint64_t mrc_cold(const struct mrc *m)
{
    return MIN(m->cold_mean << m->config.sample_shift, m->touches_mean) >> POINT;
}

/* lambda at boundary i, from 0; without any memory every access to a page used before misses. */
static uint64_t at_point(const struct mrc *m, enum mrc_policy policy, unsigned i)
{
    uint64_t all = mrc_accesses(m) - mrc_cold(m);

    return i ? MIN(m->mean[policy].at_bound[i - 1] << m->config.sample_shift >> POINT, all) : all;
}

uint64_t mrc_misses(const struct mrc *m, enum mrc_policy policy, uint32_t memory)
{
    const struct lrustack *s = lru_of(m);
    unsigned shift = m->config.sample_shift, next = 0;

    while (next < s->bounds && (uint64_t)s->at[next] << shift <= memory)
        next++;
    uint64_t above = at_point(m, policy, next);
    if (next == s->bounds)
        return above;
    uint64_t below = at_point(m, policy, next + 1);
    uint64_t from = next ? (uint64_t)s->at[next - 1] << shift : 0, to = (uint64_t)s->at[next] << shift;
    return above - (above - MIN(below, above)) * (memory - from) / (to - from);
}

uint64_t mrc_benefit(const struct mrc *m, enum mrc_policy policy, uint32_t memory, uint32_t pages)
{
    uint32_t more = memory + MIN(pages, UINT32_MAX - memory);

    return mrc_misses(m, policy, memory) - mrc_misses(m, policy, more);
}

uint64_t mrc_penalty(const struct mrc *m, enum mrc_policy policy, uint32_t memory, uint32_t pages)
{
    return mrc_misses(m, policy, memory - MIN(pages, memory)) - mrc_misses(m, policy, memory);
}

const char *mrc_check(const struct mrc *m)
{
    const struct lrustack *lru = lru_of(m);
    const struct mrustack *mru = mru_of(m);
    const char *broken = lrustack_check(lru);

    if (broken || (broken = mrustack_check(mru)))
        return broken;
    for (uint32_t node = 0; node < lru->nodes; node++) {
        if (lrustack_holds(lru, node) != (mru->depth[node] != 0))
            return "a page is in one stack only";
    }
    for (unsigned p = 0; p < MRC_POLICIES; p++) {
        for (unsigned i = 1; i < lru->bounds; i++) {
            if (m->mean[p].at_bound[i] > m->mean[p].at_bound[i - 1])
                return "a curve rises";
        }
    }
    return NULL;
}
