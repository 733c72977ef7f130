/* See mrc.h. */
#include "mm/policy/curve/mrc.h"

enum { POINT = 8 /* fraction bits of means */ };

const char *const mrc_policy_names[] = {"lru", "mru", NULL};

static void *at(const struct mrc *m, uint64_t offset)
{
    return (char *)(uintptr_t)m + offset;
}

static struct lrudist *lru_of(const struct mrc *m)
{
    return at(m, m->lru_at);
}

static struct mrustack *mru_of(const struct mrc *m)
{
    return at(m, m->mru_at);
}

static unsigned policies(const struct mrc_config *c)
{
    return c->lru_only ? 1 : MRC_POLICIES;
}

/* Returns the means of a policy in a layout with `groups` groups. */
static uint64_t *mean_with(const struct mrc *m, unsigned policy, uint32_t groups)
{
    return (uint64_t *)at(m, sizeof *m) + (size_t)policy * groups;
}

static uint32_t *now_with(const struct mrc *m, unsigned policy, uint32_t groups)
{
    return (uint32_t *)mean_with(m, policies(&m->config), groups) + (size_t)policy * (groups + 1);
}

static uint64_t *mean_of(const struct mrc *m, unsigned policy)
{
    return mean_with(m, policy, m->groups);
}

static uint32_t *now_of(const struct mrc *m, unsigned policy)
{
    return now_with(m, policy, m->groups);
}

/* Sets m->config and the layout that follows from it. Returns the bytes of the whole. */
static size_t lay_out(struct mrc *m, const struct mrc_config *c)
{
    m->config = *c;
    m->group_shift = log2_floor(c->group);
    while (1ull << m->group_shift < c->group ||
           (uint64_t)MRC_GROUPS_MAX << m->group_shift < c->memory)
        m->group_shift++;
    m->groups = ((c->memory - 1) >> m->group_shift) + 1;
    m->lru_at = ALIGN_UP(sizeof *m + (size_t)policies(c) * (m->groups * sizeof(uint64_t) +
                                                            (m->groups + 1) * sizeof(uint32_t)),
                         sizeof(uint64_t));
    m->mru_at = m->lru_at + lrudist_bytes(c->nodes);
    return m->mru_at + (c->lru_only ? 0 : mrustack_bytes(c->nodes));
}

size_t mrc_bytes(const struct mrc_config *c)
{
    struct mrc m;

    if (c->nodes < 1 || c->nodes > LRUDIST_NODES_MAX || c->group < 1 || c->group > MRC_GROUP_MAX ||
        c->memory < 1 || c->decay_shift > MRC_DECAY_SHIFT_MAX)
        return 0;
    return lay_out(&m, c);
}

void mrc_init(struct mrc *m, const struct mrc_config *config)
{
    ASSERT(mrc_bytes(config));
    *m = (struct mrc){0};
    lay_out(m, config);
    memset(m + 1, 0, m->lru_at - sizeof *m);
    lrudist_init(lru_of(m), config->nodes);
    if (!config->lru_only)
        mrustack_init(mru_of(m), config->nodes);
}

/* Makes one group of every two, of `used` groups in a layout for `had`. Returns their number. */
static uint32_t merge_groups(struct mrc *m, uint32_t had, uint32_t used)
{
    uint32_t groups = (used + 1) / 2;

    for (unsigned p = 0; p < policies(&m->config); p++) {
        uint64_t *mean = mean_with(m, p, had);
        uint32_t *now = now_with(m, p, had);
        for (uint32_t i = 0; i < groups; i++) {
            mean[i] = mean[MIN(2 * i + 1, used - 1)];
            now[i] = now[2 * i] + (2 * i + 1 < used ? now[2 * i + 1] : 0);
        }
        now[groups] = now[used];
    }
    return groups;
}

/* Moves the counts from a layout for `had` groups to the new one, and clears the new ones. */
static void move_counts(struct mrc *m, uint32_t had, uint32_t used)
{
    for (unsigned p = policies(&m->config); p-- > 0;) {
        uint32_t *now = now_of(m, p);
        memmove(now, now_with(m, p, had), (used + 1) * sizeof *now);
        uint32_t beyond = now[used];
        memset(now + used, 0, (m->groups - used) * sizeof *now);
        now[m->groups] = beyond;
    }
    for (unsigned p = policies(&m->config); p-- > 0;) {
        uint64_t *mean = mean_of(m, p);
        memmove(mean, mean_with(m, p, had), used * sizeof *mean);
        for (uint32_t i = used; i < m->groups; i++)
            mean[i] = mean[used - 1];
    }
}

void mrc_grow(struct mrc *m, unsigned shift)
{
    struct mrc had = *m;
    struct mrc_config config = had.config;
    uint32_t used = had.groups;

    config.nodes <<= shift;
    config.memory <<= shift;
    ASSERT(config.nodes >> shift == had.config.nodes &&
           config.memory >> shift == had.config.memory);
    lay_out(m, &config);
    if (!config.lru_only) {
        memmove(mru_of(m), at(m, had.mru_at), mrustack_bytes(had.config.nodes));
        mrustack_grow(mru_of(m), config.nodes);
    }
    memmove(lru_of(m), at(m, had.lru_at), lrudist_bytes(had.config.nodes));
    lrudist_grow(lru_of(m), config.nodes);
    for (unsigned s = had.group_shift; s < m->group_shift; s++)
        used = merge_groups(m, had.groups, used);
    move_counts(m, had.groups, used);
}

static struct tally tally_of(const struct mrc *m, enum mrc_policy policy)
{
    return (struct tally){now_of(m, policy), m->groups, m->group_shift};
}

void mrc_touch_all(struct mrc *m, const uint32_t *node, size_t n)
{
    m->touches += n;
    m->cold += lrudist_touch_all(lru_of(m), node, n, tally_of(m, MRC_LRU));
    if (!m->config.lru_only)
        mrustack_touch_all(mru_of(m), node, n, tally_of(m, MRC_MRU));
}

uint32_t mrc_pages(const struct mrc *m)
{
    return lru_of(m)->size;
}

/* Returns the mean with one epoch more. */
static uint64_t mixed(const struct mrc *m, uint64_t mean, uint64_t now)
{
    unsigned shift = m->epochs ? m->config.decay_shift : 0;

    return mean - (mean >> shift) + (now << POINT >> shift);
}

void mrc_epoch(struct mrc *m)
{
    for (unsigned p = 0; p < policies(&m->config); p++) {
        uint32_t *now = now_of(m, p);
        uint64_t *mean = mean_of(m, p), misses = 0;
        for (uint32_t i = m->groups; i-- > 0;) {
            misses += now[i + 1];
            mean[i] = mixed(m, mean[i], misses);
        }
        memset(now, 0, (m->groups + 1) * sizeof *now);
    }
    m->touches_mean = mixed(m, m->touches_mean, m->touches);
    m->cold_mean = mixed(m, m->cold_mean, m->cold);
    m->touches = m->cold = 0;
    m->epochs++;
    lrudist_mark(lru_of(m));
}

bool mrc_is_recent(const struct mrc *m, uint32_t node)
{
    return lrudist_is_recent(lru_of(m), node);
}

uint64_t mrc_accesses(const struct mrc *m)
{
    return m->touches_mean >> POINT;
}

uint64_t mrc_cold(const struct mrc *m)
{
    return m->cold_mean >> POINT;
}

/* Returns lambda of `groups` groups; of none, every access to a page used before misses. */
static uint64_t of_groups(const struct mrc *m, enum mrc_policy policy, uint32_t groups)
{
    uint64_t all = mrc_accesses(m) - mrc_cold(m);

    ASSERT((unsigned)policy < policies(&m->config));
    return groups ? MIN(mean_of(m, policy)[groups - 1] >> POINT, all) : all;
}

uint64_t mrc_misses(const struct mrc *m, enum mrc_policy policy, uint32_t memory)
{
    uint32_t group = memory >> m->group_shift, rest = memory & (mrc_group_pages(m) - 1);

    if (group >= m->groups)
        return of_groups(m, policy, m->groups);
    uint64_t here = of_groups(m, policy, group);
    return here - ((here - of_groups(m, policy, group + 1)) * rest >> m->group_shift);
}

/* Checks that the same pages are in both stacks. */
static const char *check_mru(const struct mrc *m)
{
    const struct lrudist *lru = lru_of(m);
    const struct mrustack *mru = mru_of(m);
    const char *broken = mrustack_check(mru);

    if (broken)
        return broken;
    if (mru->nodes != m->config.nodes)
        return "the stacks are for other numbers of pages";
    for (uint32_t node = 0; node < m->config.nodes; node++) {
        if ((lru->slot[node] != 0) != (mru->depth[node] != 0))
            return "a page is in one stack only";
    }
    return NULL;
}

const char *mrc_check(const struct mrc *m)
{
    const char *broken = lrudist_check(lru_of(m));

    if (broken || (!m->config.lru_only && (broken = check_mru(m))))
        return broken;
    if (lru_of(m)->nodes != m->config.nodes)
        return "the row is for another number of pages";
    for (unsigned p = 0; p < policies(&m->config); p++) {
        for (uint32_t i = 1; i < m->groups; i++) {
            if (mean_of(m, p)[i] > mean_of(m, p)[i - 1])
                return "a curve rises";
        }
    }
    return NULL;
}
