/*
 * Region-specific replacement ([Azimi 2007, 4.3.1]): each region of a pool is replaced by LRU or by
 * MRU, whichever misses less by its curves, and memory goes to the regions where it saves most
 * misses.
 *
 * An epoch has twice as many accesses as there are frames. At its end each region's choice is made
 * anew (region_choice.h). Pages stay where they are, but in a region of MRU's the pages that MRU
 * would not have, left by LRU or used since, go before others. Then memory is divided by the curves
 * of the policies in force, the best division and not only the best next step (plan.h), an eighth
 * of memory at most changing hands. A victim comes from the region furthest above its target, the
 * faulting page counted with its own region.
 *
 * Until memory has been full at an epoch's end regions take the pages they ask for, and the target
 * of a new region is an equal part.
 */
#include "mm/policy/replace/region_choice.h"
#include "mm/policy/divide/plan.h"

enum { RECENT = 1, PARKED, STRAY };
enum {
    EPOCH_FRAMES = 2,
    MOVE_SHIFT = 3,
    HYSTERESIS_PERMIL = 20,
    GROUPS_OF_MEMORY = 24, /* curves reach a third beyond memory */
};
#define NO_REGION REPLACE_REGIONS_MAX

struct part {
    struct region_curves curves;
    struct region_choice choice;
    struct replace_list recent; /* resident, latest use first */
    /* of these, pages in the buffer when they were to go, latest first (mru.c) */
    struct replace_list parked;
    struct replace_list stray; /* of these, pages that MRU would not have resident, latest first */
    uint64_t misses;           /* this epoch, on pages used before */
    uint32_t unused;           /* resident and not used yet */
    uint32_t meant;            /* target, in pages */
    uint32_t planned;
    bool asked; /* the target has been decided */
};

struct region_state {
    struct replace_base base; /* links of the lists, of which UNUSED_LIST alone is here */
    uint32_t accesses;        /* in this epoch */
    uint32_t resident, group;
    uint32_t tried, walked; /* as in mru.c */
    uint32_t spare;
    uint64_t switches;
    struct part part[REPLACE_REGIONS_MAX];
    struct divide_room room;
    struct divide_pool pool[REPLACE_REGIONS_MAX]; /* of divide_plan(), meaningless between calls */
    struct replace_links link;                    /* in curves */
};

struct page {
    struct region_page curves;
    struct replace_link queued;
    uint8_t of; /* region + 1; 0: none */
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t region_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct region_state), sizeof(struct page));
}

static struct page *page_of(const struct region_state *s, uint32_t node)
{
    return (struct page *)link_of(&s->link, node);
}

/* Returns the number of the region, or NO_REGION. */
static uint32_t region_of(const struct region_state *s, uint32_t node)
{
    uint32_t of = page_of(s, node)->of;

    return of ? of - 1 : NO_REGION;
}

static struct part *part_of(struct region_state *s, uint32_t node)
{
    uint32_t r = region_of(s, node);

    ASSERT(r < REPLACE_REGIONS_MAX);
    return &s->part[r];
}

static uint32_t group_for(uint32_t frames)
{
    return (frames - 1) / GROUPS_OF_MEMORY + 1;
}

static void new_round(struct region_state *s)
{
    s->base.offered = s->walked = LINK_END;
    s->tried = 0;
}

static int region_init(void *state, const struct replace_config *config)
{
    struct region_state *s = state;
    struct replace_layout place = base_layout(config, sizeof *s, sizeof(struct page));
    int rc =
        base_init(&s->base, config, sizeof *s, sizeof(struct page), offsetof(struct page, queued));

    if (rc)
        return rc;
    s->group = group_for(config->frames);
    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++) {
        region_curves_init(&s->part[r].curves, s->group);
        list_init(&s->part[r].recent, RECENT);
        list_init(&s->part[r].parked, PARKED);
        list_init(&s->part[r].stray, STRAY);
    }
    links_init(&s->link, s, &place, offsetof(struct page, curves.link));
    new_round(s);
    return 0;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

static uint32_t held(const struct part *p)
{
    return p->recent.size + p->parked.size + p->stray.size + p->unused;
}

static void take_out(struct region_state *s, uint32_t node)
{
    struct part *p = part_of(s, node);

    switch (link_of(&s->base.link, node)->list) {
    case RECENT:
        list_remove(&s->base.link, &p->recent, node);
        return;
    case PARKED:
        list_remove(&s->base.link, &p->parked, node);
        return;
    case STRAY:
        list_remove(&s->base.link, &p->stray, node);
        return;
    default:
        base_take_out(&s->base, node);
        p->unused--;
    }
}

/* Puts parked pages and strays back; strays are older than others. */
static void unpark_pages(struct region_state *s, struct part *p)
{
    while (p->parked.size) {
        uint32_t node = p->parked.tail;
        list_remove(&s->base.link, &p->parked, node);
        list_push_head(&s->base.link, &p->recent, node);
    }
    while (p->stray.size) {
        uint32_t node = p->stray.head;
        list_remove(&s->base.link, &p->stray, node);
        list_push_tail(&s->base.link, &p->recent, node);
    }
}

/* Makes a stray of a page that MRU would not have were the memory of the region its own: a hit
 * there needs more. */
static void stray_if_beyond(struct region_state *s, struct part *p, uint32_t node)
{
    if (link_of(&s->base.link, node)->list != RECENT || page_of(s, node)->curves.depth <= held(p))
        return;
    list_remove(&s->base.link, &p->recent, node);
    list_push_head(&s->base.link, &p->stray, node);
}

/* Finds the strays that LRU has left. */
static void find_strays(struct region_state *s, struct part *p)
{
    for (uint32_t n = p->recent.tail, next; n != LINK_END; n = next) {
        next = link_of(&s->base.link, n)->prev;
        stray_if_beyond(s, p, n);
    }
}

/* ---- Epochs ---------------------------------------------------------------------------------- */

static bool active(const struct part *p)
{
    return p->curves.size > 0;
}

static void choose_policy(struct region_state *s, struct part *p)
{
    uint32_t here = MAX(held(p), 1u);
    uint64_t accesses = p->curves.accesses, lambda[REGION_POLICIES];

    region_curves_epoch(&p->curves);
    for (unsigned policy = 0; policy < REGION_POLICIES; policy++)
        lambda[policy] = region_curves_lambda(&p->curves, policy, here);
    if (region_choose(&p->choice, accesses, p->misses, lambda)) {
        s->switches++;
        if (p->choice.policy == REGION_LRU)
            unpark_pages(s, p);
        else
            find_strays(s, p);
        new_round(s);
    }
    p->misses = 0;
}

static void divide_memory(struct region_state *s)
{
    const struct divide_config config = {.goal = DIVIDE_THROUGHPUT,
                                         .step = s->group,
                                         .move_max = MAX(s->base.frames >> MOVE_SHIFT, 1u),
                                         .hysteresis_permil = HYSTERESIS_PERMIL};
    struct divide_report report;
    unsigned n = 0;

    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++) {
        struct part *p = &s->part[r];
        if (!active(p))
            continue;
        s->pool[n++] = (struct divide_pool){.misses = p->curves.lambda[p->choice.policy],
                                            .points = REGION_GROUPS + 1,
                                            .spacing = p->curves.group,
                                            .work = s->accesses,
                                            .seen = DIVIDE_SEEN_UNKNOWN,
                                            .minimum = 1,
                                            .weight = 1,
                                            .pages = p->asked ? p->meant : held(p),
                                            .planned = p->planned};
    }
    if (n < 2 || divide_plan(&s->room, &config, s->pool, n, s->base.frames, &report))
        return;
    for (uint32_t r = REPLACE_REGIONS_MAX; r-- > 0;) {
        struct part *p = &s->part[r];
        if (!active(p))
            continue;
        p->meant = s->pool[--n].pages;
        p->planned = s->pool[n].planned;
        p->asked = true;
    }
}

static void end_epoch(struct region_state *s)
{
    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++)
        if (active(&s->part[r]))
            choose_policy(s, &s->part[r]);
    if (s->resident >= s->base.frames - s->base.frames / 16)
        divide_memory(s);
    s->accesses = 0;
}

static void count_use(struct region_state *s, uint32_t node, bool miss)
{
    struct part *p = part_of(s, node);
    uint32_t before = p->curves.top;
    bool first = region_curves_use(&p->curves, &s->link, node);

    if (p->choice.policy == REGION_MRU && before != LINK_END && before != node)
        stray_if_beyond(s, p, before);
    p->misses += miss && !first;
    if (++s->accesses >= (uint64_t)EPOCH_FRAMES * s->base.frames)
        end_epoch(s);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Parks a page, in the order of MRU (mru.c). After a page of another region a new walk begins. */
static void park_page(struct region_state *s, struct part *p, uint32_t node, bool again)
{
    bool goes_on = !again && s->walked != LINK_END && part_of(s, s->walked) == p;

    list_push_after(&s->base.link, &p->parked, goes_on ? s->walked : LINK_END, node);
    if (!again)
        s->walked = node;
}

static void region_touch(void *state, uint32_t node)
{
    struct region_state *s = state;

    ASSERT(base_resident(s, node));
    struct part *p = part_of(s, node);
    bool hot = node == s->base.offered, again = link_of(&s->base.link, node)->list == PARKED;
    if (s->walked == node)
        s->walked = LINK_END;
    s->base.offered = LINK_END;
    take_out(s, node);
    if (hot && p->choice.policy == REGION_MRU) {
        park_page(s, p, node, again);
        return;
    }
    list_push_head(&s->base.link, &p->recent, node);
    if (!hot)
        count_use(s, node, false);
}

static void region_came(struct region_state *s, uint32_t node, uint32_t region)
{
    ASSERT(!base_resident(s, node) && region < REPLACE_REGIONS_MAX);
    if (region_of(s, node) != region && region_of(s, node) != NO_REGION)
        region_curves_forget(&part_of(s, node)->curves, &s->link, node);
    page_of(s, node)->of = (uint8_t)(region + 1);
    s->resident++;
    new_round(s);
}

static void region_enter(void *state, uint32_t node, uint32_t region)
{
    struct region_state *s = state;

    region_came(s, node, region);
    list_push_head(&s->base.link, &part_of(s, node)->recent, node);
    count_use(s, node, true);
}

static void region_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct region_state *s = state;

    region_came(s, node, region);
    base_push_head(&s->base, UNUSED_LIST, node);
    part_of(s, node)->unused++;
}

/* Returns the pages of a region above its target. It has pages that can go. */
static int64_t above(const struct region_state *s, uint32_t r, uint32_t incoming, uint32_t regions)
{
    const struct part *p = &s->part[r];
    uint32_t meant = p->asked ? p->meant : s->base.frames / regions;

    return (int64_t)held(p) + (r == incoming) - meant;
}

static uint32_t from_region(const struct region_state *s, uint32_t incoming)
{
    uint32_t worst = NO_REGION, regions = 0;

    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++)
        regions += active(&s->part[r]);
    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++) {
        const struct part *p = &s->part[r];
        if (held(p) == p->unused)
            continue;
        int64_t here = above(s, r, incoming, MAX(regions, 1u));
        int64_t there =
            worst == NO_REGION ? INT64_MIN : above(s, worst, incoming, MAX(regions, 1u));
        if (here > there || (here == there && r == incoming))
            worst = r;
    }
    return worst;
}

static uint32_t of_region(struct region_state *s, const struct part *p)
{
    if (p->choice.policy == REGION_LRU)
        return p->recent.size ? p->recent.tail : p->parked.tail;
    if (p->parked.size && (!s->tried || held(p) == p->unused + p->parked.size)) {
        s->tried = 1;
        return p->parked.tail;
    }
    return p->stray.size ? p->stray.head : p->recent.head;
}

static uint32_t region_victim(void *state, uint32_t incoming)
{
    struct region_state *s = state;

    if (!base_decided(&s->base)) {
        uint32_t r = from_region(s, incoming == REPLACE_NONE ? NO_REGION : region_of(s, incoming));
        s->base.offered = r == NO_REGION ? LINK_END : of_region(s, &s->part[r]);
    }
    return base_name(&s->base, s->base.offered);
}

static void region_leave(void *state, uint32_t node)
{
    struct region_state *s = state;

    ASSERT(base_resident(s, node));
    if (link_of(&s->base.link, node)->list != UNUSED_LIST)
        base_pass(&s->base);
    take_out(s, node);
    s->resident--;
    new_round(s);
}

static void region_forget(void *state, uint32_t node)
{
    struct region_state *s = state;

    if (base_resident(s, node))
        region_leave(s, node);
    if (region_of(s, node) != NO_REGION)
        region_curves_forget(&part_of(s, node)->curves, &s->link, node);
    page_of(s, node)->of = 0;
}

/* Targets keep their proportions until the next epoch. */
static void region_resize(void *state, uint32_t frames)
{
    struct region_state *s = state;
    uint32_t group = group_for(frames);

    ASSERT(frames > 0);
    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++) {
        struct part *p = &s->part[r];
        p->meant = (uint32_t)((uint64_t)p->meant * frames / s->base.frames);
        p->planned = (uint32_t)((uint64_t)p->planned * frames / s->base.frames);
        if (group > s->group + s->group / 4 || group + group / 4 < s->group)
            region_curves_regroup(&p->curves, &s->link, group);
    }
    s->group = s->part[0].curves.group;
    s->base.frames = frames;
}

static void region_report(const void *state, struct replace_report *out)
{
    const struct region_state *s = state;

    *out = (struct replace_report){
        .policy = replace_lru.name, .resident = s->resident, .switches = s->switches};
    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++) {
        out->history += s->part[r].curves.size;
        out->mru_regions |= (uint64_t)(s->part[r].choice.policy == REGION_MRU) << r;
    }
    out->history -= s->resident - s->base.list[UNUSED_LIST].size;
}

/* Checks the lists of all regions together, as they share their numbers. */
static const char *check_lists(const struct region_state *s)
{
    uint32_t listed = s->base.list[UNUSED_LIST].size, unused = 0;

    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX; r++) {
        const struct replace_list *list[] = {&s->part[r].recent, &s->part[r].parked,
                                             &s->part[r].stray};
        unused += s->part[r].unused;
        for (unsigned i = 0; i < ARRAY_SIZE(list); i++) {
            uint32_t size = 0;
            for (uint32_t n = list[i]->head; n != LINK_END && size <= list[i]->size;
                 n = link_of(&s->base.link, n)->next, size++)
                if (n >= s->base.nodes || link_of(&s->base.link, n)->list != list[i]->id ||
                    region_of(s, n) != r)
                    return "region: a list has a page of another";
            if (size != list[i]->size)
                return "region: a list's size is wrong";
            listed += size;
        }
    }
    if (unused != s->base.list[UNUSED_LIST].size)
        return "region: unused pages are miscounted";
    return listed == s->resident ? NULL : "region: resident pages are miscounted";
}

static const char *region_check(const void *state)
{
    const struct region_state *s = state;
    const char *broken = check_lists(s);

    if (!broken)
        broken = list_check(&s->base.link, s->base.nodes, &s->base.list[UNUSED_LIST]);
    for (uint32_t r = 0; r < REPLACE_REGIONS_MAX && !broken; r++)
        broken = region_curves_check(&s->part[r].curves, &s->link, s->base.nodes);
    return broken;
}

const struct replace_ops replace_region = {
    .name = "region",
    .per_node = sizeof(struct page),
    .bytes = region_bytes,
    .init = region_init,
    .grow = base_grow,
    .touch = region_touch,
    .enter = region_enter,
    .enter_unused = region_enter_unused,
    .victim = region_victim,
    .leave = region_leave,
    .forget = region_forget,
    .resize = region_resize,
    .resident = base_resident,
    .report = region_report,
    .check = region_check,
};
