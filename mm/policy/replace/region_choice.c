/* See region_choice.h. */
#include "mm/policy/replace/region_choice.h"

/* ---- The choice ------------------------------------------------------------------------------ */

bool region_choose(struct region_choice *c, uint64_t accesses, uint64_t misses,
                   const uint64_t lambda[REGION_POLICIES])
{
    enum region_policy before = c->policy;

    if (misses <= accesses >> REGION_THRESHOLD_SHIFT)
        return false;
    if (lambda[REGION_MRU] < lambda[REGION_LRU])
        c->counter = MIN(c->counter + 1, REGION_COUNTER);
    else if (lambda[REGION_LRU] < lambda[REGION_MRU])
        c->counter = MAX(c->counter - 1, -REGION_COUNTER);
    if (c->counter == REGION_COUNTER)
        c->policy = REGION_MRU;
    if (c->counter == -REGION_COUNTER)
        c->policy = REGION_LRU;
    return c->policy != before;
}

/* ---- LRU's stack: groups of a list, [A] Algorithm 2 ------------------------------------------ */

static uint32_t group_of(const struct replace_links *p, uint32_t node)
{
    return region_curves_known(p, node)
               ? (link_of(p, node)->list | (uint32_t)link_of(p, node)->mark << 3) - 1
               : REGION_COLD;
}

/* Sets the group of a page; REGION_COLD: out of the stack. */
static void set_group(const struct replace_links *p, uint32_t node, uint32_t group)
{
    uint32_t g = group == REGION_COLD ? 0 : group + 1;

    link_of(p, node)->list = g & 7;
    link_of(p, node)->mark = g >> 3;
}

void region_curves_init(struct region_curves *c, uint32_t group)
{
    ASSERT(group >= 1);
    *c =
        (struct region_curves){.group = group, .head = LINK_END, .tail = LINK_END, .top = LINK_END};
    for (uint32_t i = 0; i < REGION_GROUPS; i++)
        c->last[i] = LINK_END;
}

static void unlink(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    uint32_t next = link_of(p, node)->next, prev = link_of(p, node)->prev;

    if (prev != LINK_END)
        link_of(p, prev)->next = next;
    else
        c->head = next;
    if (next != LINK_END)
        link_of(p, next)->prev = prev;
    else
        c->tail = prev;
    c->size--;
}

static void push(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    link_of(p, node)->prev = LINK_END;
    link_of(p, node)->next = c->head;
    if (c->head != LINK_END)
        link_of(p, c->head)->prev = node;
    else
        c->tail = node;
    c->head = node;
    c->size++;
}

/* Makes room at the top: the last page of each group before `groups` goes to the next. */
static void shift_down(struct region_curves *c, const struct replace_links *p, uint32_t groups)
{
    for (uint32_t i = 0; i < groups; i++) {
        uint32_t passed = c->last[i];
        set_group(p, passed, i + 1);
        c->last[i] = link_of(p, passed)->prev;
    }
}

static uint32_t lru_use(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    uint32_t group = group_of(p, node), deepest = MIN(c->size / c->group, (uint32_t)REGION_GROUPS);

    if (node == c->head)
        return group;
    if (group != REGION_COLD) {
        if (group < REGION_GROUPS && c->last[group] == node)
            c->last[group] = link_of(p, node)->prev;
        unlink(c, p, node);
    }
    push(c, p, node);
    set_group(p, node, 0);
    shift_down(c, p, group == REGION_COLD ? deepest : group);
    if (group == REGION_COLD && deepest < REGION_GROUPS && c->size % c->group == 0)
        c->last[deepest] = c->tail;
    return group;
}

/* Removes a page: the first page of each later group comes up. */
static void lru_forget(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    uint32_t group = group_of(p, node);

    if (group < REGION_GROUPS && c->last[group] == node) {
        uint32_t next = link_of(p, node)->next;
        unlink(c, p, node);
        c->last[group] = next;
        if (next != LINK_END)
            set_group(p, next, group);
        group++;
    } else {
        unlink(c, p, node);
    }
    set_group(p, node, REGION_COLD);
    for (uint32_t i = group; i < REGION_GROUPS && c->last[i] != LINK_END; i++) {
        c->last[i] = link_of(p, c->last[i])->next;
        if (c->last[i] != LINK_END)
            set_group(p, c->last[i], i);
    }
}

/* ---- MRU's stack ----------------------------------------------------------------------------- */

/* Returns the depth that the page had, or 0. */
static uint32_t mru_use(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    uint32_t depth = region_page(p, node)->depth, place = depth;

    if (node == c->top)
        return depth;
    if (place == 0 && c->top != LINK_END) {
        place = c->hole ? c->hole : c->extent + 1;
        c->hole = 0;
    }
    if (c->top != LINK_END)
        region_page(p, c->top)->depth = place;
    else if (depth > 1)
        c->hole = depth;
    region_page(p, node)->depth = 1;
    c->extent = MAX(c->extent, MAX(place, 1u));
    ASSERT(c->extent <= REGION_DEPTH_MAX);
    c->top = node;
    return depth;
}

/* Removes a page. One hole is remembered: the next new page goes there. */
static void mru_forget(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    if (node == c->top)
        c->top = LINK_END;
    else
        c->hole = region_page(p, node)->depth;
    region_page(p, node)->depth = 0;
}

/* ---- Both ------------------------------------------------------------------------------------ */

bool region_curves_use(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    uint32_t lru = lru_use(c, p, node), mru = mru_use(c, p, node);

    c->accesses++;
    if (lru == REGION_COLD)
        return true;
    c->now[REGION_LRU][lru]++;
    c->now[REGION_MRU][MIN((mru - 1) / c->group, (uint32_t)REGION_GROUPS)]++;
    return false;
}

void region_curves_forget(struct region_curves *c, const struct replace_links *p, uint32_t node)
{
    if (region_curves_known(p, node)) {
        lru_forget(c, p, node);
        mru_forget(c, p, node);
    }
}

void region_curves_regroup(struct region_curves *c, const struct replace_links *p, uint32_t group)
{
    uint32_t depth = 0;

    ASSERT(group >= 1);
    c->group = group;
    c->epochs = 0;
    c->accesses = 0;
    memset(c->now, 0, sizeof c->now);
    memset(c->lambda, 0, sizeof c->lambda);
    for (uint32_t i = 0; i < REGION_GROUPS; i++)
        c->last[i] = LINK_END;
    for (uint32_t n = c->head; n != LINK_END; n = link_of(p, n)->next) {
        uint32_t g = depth++ / group;
        set_group(p, n, MIN(g, (uint32_t)REGION_GROUPS));
        if (g < REGION_GROUPS && depth % group == 0)
            c->last[g] = n;
    }
}

void region_curves_epoch(struct region_curves *c)
{
    for (unsigned policy = 0; policy < REGION_POLICIES; policy++) {
        uint64_t misses = 0;
        for (unsigned i = REGION_GROUPS + 1; i-- > 0;) {
            misses += c->now[policy][i];
            c->lambda[policy][i] = c->epochs ? (c->lambda[policy][i] + misses) / 2 : misses;
        }
    }
    memset(c->now, 0, sizeof c->now);
    c->accesses = 0;
    c->epochs++;
}

uint64_t region_curves_lambda(const struct region_curves *c, enum region_policy policy,
                              uint32_t pages)
{
    uint32_t g = pages / c->group, rest = pages % c->group;
    const uint64_t *lambda = c->lambda[policy];

    if (g >= REGION_GROUPS)
        return lambda[REGION_GROUPS];
    return lambda[g] - (lambda[g] - lambda[g + 1]) * rest / c->group;
}

const char *region_curves_check(const struct region_curves *c, const struct replace_links *p,
                                uint32_t nodes)
{
    uint32_t depth = 0, before = LINK_END;

    for (uint32_t n = c->head; n != LINK_END; before = n, n = link_of(p, n)->next) {
        uint32_t g = depth++ / c->group;
        if (n >= nodes || depth > c->size || link_of(p, n)->prev != before)
            return "region: the stack's links are wrong";
        if (group_of(p, n) != MIN(g, (uint32_t)REGION_GROUPS))
            return "region: a page is in another group than its depth says";
        if (g < REGION_GROUPS && depth % c->group == 0 && c->last[g] != n)
            return "region: a group's last page is another";
        if (region_page(p, n)->depth == 0 || region_page(p, n)->depth > c->extent)
            return "region: a page is in one stack only";
    }
    for (uint32_t g = c->size / c->group; g < REGION_GROUPS; g++)
        if (c->last[g] != LINK_END)
            return "region: a group that is not full has a last page";
    return depth == c->size && c->tail == before ? NULL
                                                 : "region: the stack's size or end is wrong";
}
