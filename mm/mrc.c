/* Miss-rate curves. */
#include "mm/mrc.h"

enum { POINT = 8 }; /* binary digits behind the point of means */

const char *const mrc_policy_names[] = {"lru", "mru", NULL};

static struct lrudist *lru_of(const struct mrc *m)
{
    return (struct lrudist *)(uintptr_t)(m + 1);
}

static struct mrustack *mru_of(const struct mrc *m)
{
    return (struct mrustack *)((char *)(uintptr_t)m + m->mru_at);
}

static void set_nodes(struct mrc *m, uint32_t nodes)
{
    m->config.nodes = nodes;
    m->mru_at = sizeof *m + lrudist_bytes(nodes);
}

size_t mrc_bytes(const struct mrc_config *c)
{
    if (c->nodes < 1 || c->nodes > LRUDIST_NODES_MAX || c->group < 1 || c->group > MRC_GROUP_MAX ||
        c->memory < 1 || c->decay_shift > MRC_DECAY_SHIFT_MAX)
        return 0;
    return sizeof(struct mrc) + lrudist_bytes(c->nodes) + mrustack_bytes(c->nodes);
}

void mrc_init(struct mrc *m, const struct mrc_config *config)
{
    ASSERT(mrc_bytes(config));
    *m = (struct mrc){.config = *config};
    set_nodes(m, config->nodes);
    lrudist_init(lru_of(m), config->nodes);
    mrustack_init(mru_of(m), config->nodes);
    mrc_regroup(m, config->group, config->memory);
}

void mrc_grow(struct mrc *m, uint32_t nodes)
{
    const struct mrustack *old = mru_of(m);

    ASSERT(nodes >= m->config.nodes && nodes <= LRUDIST_NODES_MAX);
    set_nodes(m, nodes);
    memmove(mru_of(m), old, mrustack_bytes(old->nodes));
    mrustack_grow(mru_of(m), nodes);
    lrudist_grow(lru_of(m), nodes);
}

void mrc_regroup(struct mrc *m, uint32_t group, uint32_t memory)
{
    ASSERT(group >= 1 && group <= MRC_GROUP_MAX && memory >= 1);
    m->config.group = group;
    m->config.memory = memory;
    m->group_shift = log2_floor(group);
    while (1ull << m->group_shift < group || (uint64_t)MRC_GROUPS_MAX << m->group_shift < memory)
        m->group_shift++;
    m->groups = ((memory - 1) >> m->group_shift) + 1;
    m->epochs = 0;
    m->touches = m->cold = m->touches_mean = m->cold_mean = 0;
    memset(m->now, 0, sizeof m->now);
    memset(m->mean, 0, sizeof m->mean);
}

void mrc_touch(struct mrc *m, uint32_t node)
{
    uint32_t lru = lrudist_touch(lru_of(m), node), mru = mrustack_touch(mru_of(m), node);

    m->touches++;
    if (lru == 0) {
        m->cold++;
        return;
    }
    m->now[MRC_LRU][MIN((lru - 1) >> m->group_shift, m->groups)]++;
    m->now[MRC_MRU][MIN((mru - 1) >> m->group_shift, m->groups)]++;
}

void mrc_forget(struct mrc *m, uint32_t node)
{
    lrudist_remove(lru_of(m), node);
    mrustack_remove(mru_of(m), node);
}

/* The mean with one epoch more. */
static uint64_t mixed(const struct mrc *m, uint64_t mean, uint64_t now)
{
    unsigned shift = m->epochs ? m->config.decay_shift : 0;

    return mean - (mean >> shift) + (now << POINT >> shift);
}

void mrc_epoch(struct mrc *m)
{
    for (unsigned p = 0; p < MRC_POLICIES; p++) {
        uint64_t misses = 0;
        for (unsigned i = m->groups; i-- > 0;) {
            misses += m->now[p][i + 1];
            m->mean[p][i] = mixed(m, m->mean[p][i], misses);
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
    return m->cold_mean >> POINT;
}

/* lambda of so many groups; of none, every access to a page used before misses. */
static uint64_t of_groups(const struct mrc *m, enum mrc_policy policy, unsigned groups)
{
    uint64_t all = mrc_accesses(m) - mrc_cold(m);

    return groups ? MIN(m->mean[policy][groups - 1] >> POINT, all) : all;
}

uint64_t mrc_misses(const struct mrc *m, enum mrc_policy policy, uint32_t memory)
{
    uint32_t group = memory >> m->group_shift, rest = memory & (mrc_group_pages(m) - 1);

    if (group >= m->groups)
        return of_groups(m, policy, m->groups);
    uint64_t here = of_groups(m, policy, group);
    return here - ((here - of_groups(m, policy, group + 1)) * rest >> m->group_shift);
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
    const struct lrudist *lru = lru_of(m);
    const struct mrustack *mru = mru_of(m);
    const char *broken = lrudist_check(lru);

    if (broken || (broken = mrustack_check(mru)))
        return broken;
    if (lru->nodes != m->config.nodes || mru->nodes != m->config.nodes)
        return "the stacks are for other numbers of pages";
    for (uint32_t node = 0; node < m->config.nodes; node++) {
        if ((lru->slot[node] != 0) != (mru->depth[node] != 0))
            return "a page is in one stack only";
    }
    for (unsigned p = 0; p < MRC_POLICIES; p++) {
        for (unsigned i = 1; i < m->groups; i++) {
            if (m->mean[p][i] > m->mean[p][i - 1])
                return "a curve rises";
        }
    }
    return NULL;
}
