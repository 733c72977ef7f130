/*
 * The chooser: does what the expert among the policies would do that has lately missed least, and is never much worse than the
 * best of them on the whole.
 *
 * Experts' misses are counted by shadows on a sample of the pages (replace_shadows.h); MRU's exactly, of all pages, as what it
 * would have resident is a bit for each: on a miss the page used just before goes.  The expert in force decides about the
 * real memory, which keeps its pages when another takes over.  Decisions, every 1/16 of the memory's frames in accesses:
 *   recent  misses with a half-life of 8 N accesses, N being the frames.  The best takes over when its lead is worth the
 *           pages that it would have resident and that are not (hysteresis): at once where a change of phase is just seen, as
 *           little has been evicted yet, late where experts that are about as good keep different pages
 *   excess  how much more the real memory missed than the shadow of the expert in force: a memory that others have filled need not
 *           become what the expert would have.  It counts against that expert, but for the pages to be fetched.  Against gap it counts
 *           longer, when another is in force as much as it was by the access: others begin anew when they take over, but gap knows
 *           the memory all the time, so what it missed it will miss again; of uses that follow at once its shadow, which
 *           has a sample of the pages, does not know how often others come between
 *   ever    misses since the start.  Chasing what was best lately can lose on every change.  When that has cost more than
 *           a budget, compared with the expert that was best on the whole, that one is followed until it is made good, and is
 *           given ever more time to show that it does what its shadow does
 * After [Blum and Burch 2000], where the cost of changing state is what experts are combined against.
 *
 * Cost: for each access three list moves, and the shadows for one in 2^shift.
 */
#include "mm/replace_follow.h"
#include "mm/replace_shadows.h"

enum { RESIDENT = 1, IN_SET = 1 };

enum {
    STEPS = 16,        /* decisions in N sampled accesses                                     */
    DECAY = 354,       /* at each, by 65536 (1 - 2^(-1/128)): half is left after 8 N          */
    LEAD_SHIFT = 5,    /* least lead lately: N / 32 misses                                     */
    CAREFUL_SHIFT = 2, /* ... and since the start: N / 4                                      */
    FAR_QUARTERS = 3,  /* ... and so many quarters of the pages to be fetched                 */
    STAY = 6 * STEPS,  /* decisions that one made while careful is left alone, doubled each time */
    STAY_DOUBLED = 5,
    PATIENCE = 4,     /* decisions after one that came to nothing, as that took time         */
    BUDGET_SHIFT = 8, /* what changes may have cost: 1/256 of the accesses, and N            */
    DOUBT = 16,       /* gap is trusted as if it had done as its shadow did for 16 N accesses   */
    FORGET = 4,       /* ... and what it did is forgotten so much more slowly than misses lately */
    LONG = 4096,      /* N accesses: then all that was counted since the start is halved     */
};

static const struct replace_ops *const shadowed[] = {&replace_lru, &replace_clock, &replace_lirs,
                                                     &replace_arc, &replace_gap,   NULL};
static const struct replace_ops *const expert[] = {&replace_lru, &replace_clock, &replace_lirs,
                                                   &replace_arc, &replace_gap,   &replace_follow};
enum { GAP = 4, MRU, EXPERTS = ARRAY_SIZE(expert) };

/* Counts are of sampled accesses, times ONE where they decay. */
#define ONE 65536

struct chooser {
    uint32_t nodes, frames;
    uint64_t seed, switches;
    uint32_t current; /* expert */
    uint32_t until;   /* sampled accesses to the next decision */
    uint64_t accesses;
    uint64_t recent[EXPERTS], ever[EXPERTS];
    int64_t excess[EXPERTS];
    int64_t gap_excess;      /* as `excess`, fading more slowly ... */
    uint64_t gap_in_force;   /* ... and the accesses of that time   */
    uint64_t window;         /* accesses, as `recent`               */
    uint64_t own;            /* the real memory's misses, as `ever` */
    uint32_t careful;        /* follows the best on the whole */
    uint32_t set_size, last; /* MRU's set; the page used last, or LINK_END */
    uint32_t patience;       /* decisions to let pass */
    uint32_t stays;          /* made while careful    */
    uint32_t offered; /* the latest victim, until anything else is said: touched at once, it is in use now */
    struct shadows shadows;
    struct replace_list resident; /* latest use first */
    struct replace_link link[];   /* mark: in MRU's set, resident or not */
};

/* ---- Memory: the links, the state of the expert in force, that of `gap`, the shadows ---- */

static size_t links_bytes(uint32_t nodes)
{
    return sizeof(struct chooser) + nodes * sizeof(struct replace_link);
}

static size_t expert_bytes(uint32_t nodes)
{
    size_t most = 0;

    for (uint32_t i = 0; i < EXPERTS; i++)
        most = i == GAP ? most : MAX(most, expert[i]->bytes(nodes));
    return most;
}

static size_t chooser_bytes(uint32_t nodes)
{
    if (nodes < 1 || nodes > REPLACE_NODES_MAX)
        return 0;
    return links_bytes(nodes) + expert_bytes(nodes) + replace_gap.bytes(nodes) +
           shadows_bytes(shadowed, nodes);
}

static void *changing(const struct chooser *s)
{
    return (char *)(uintptr_t)s + links_bytes(s->nodes);
}

/* Of `gap`, which is told of the real memory all the time. */
static void *gaps(const struct chooser *s)
{
    return (char *)changing(s) + expert_bytes(s->nodes);
}

static void *in_force(const struct chooser *s)
{
    return s->current == GAP ? gaps(s) : changing(s);
}

static void *shadows(const struct chooser *s)
{
    return (char *)gaps(s) + replace_gap.bytes(s->nodes);
}

static bool resident(const struct chooser *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    return s->link[node].list == RESIDENT;
}

static bool chooser_resident(const void *state, uint32_t node)
{
    return resident(state, node);
}

static uint32_t interval(const struct chooser *s)
{
    return MAX(s->shadows.small / STEPS, 1u);
}

static int chooser_init(void *state, const struct replace_config *config)
{
    struct chooser *s = state;
    const struct replace_ops *first = config->first ? replace_find(config->first) : &replace_lirs;
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct chooser){.nodes = config->nodes,
                          .frames = config->frames,
                          .seed = config->seed,
                          .last = LINK_END,
                          .offered = LINK_END};
    if (first == &replace_mru)
        first = &replace_follow;
    while (s->current < EXPERTS && expert[s->current] != first)
        s->current++;
    if (s->current == EXPERTS)
        return -EINVAL;
    list_init(&s->resident, RESIDENT);
    links_init(s->link, 0, s->nodes);
    shadows_init(&s->shadows, shadows(s), shadowed, s->nodes, s->frames, s->seed);
    s->until = interval(s);
    rc = replace_gap.init(gaps(s), config);
    return rc || s->current == GAP ? rc : first->init(in_force(s), config);
}

/* The sample is another: as if the shadows had what is resident. */
static void fill_shadows(struct chooser *s)
{
    for (uint32_t n = s->resident.tail; n != LINK_END; n = s->link[n].prev)
        if (shadows_sampled(&s->shadows, n))
            shadows_use(&s->shadows, shadows(s), shadowed, n);
}

static void chooser_grow(void *state, uint32_t nodes)
{
    struct chooser *s = state;
    uint32_t before = s->nodes;
    char *at = changing(s), *after = gaps(s), *behind = shadows(s);

    ASSERT(nodes >= before && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
    memmove(shadows(s), behind, shadows_bytes(shadowed, before));
    memmove(gaps(s), after, replace_gap.bytes(before));
    memmove(changing(s), at, expert_bytes(before));
    links_init(s->link, before, nodes);
    replace_gap.grow(gaps(s), nodes);
    if (s->current != GAP)
        expert[s->current]->grow(changing(s), nodes);
    if (shadows_grow(&s->shadows, shadows(s), shadowed, nodes))
        fill_shadows(s);
}

/* ---- MRU's set ---- */

static void set_leave(struct chooser *s, uint32_t node)
{
    s->link[node].mark = 0;
    s->set_size--;
    if (s->current == MRU && resident(s, node))
        follow_stray(in_force(s), node);
}

/* The page is resident, and was used. */
static void set_use(struct chooser *s, uint32_t node)
{
    bool in_set = s->link[node].mark;

    if (!in_set && s->set_size >= s->frames && s->last != LINK_END && s->link[s->last].mark)
        set_leave(s, s->last);
    if (!in_set && s->set_size < s->frames) {
        s->link[node].mark = in_set = IN_SET;
        s->set_size++;
    }
    if (!in_set && s->current == MRU)
        follow_stray(in_force(s), node);
    s->last = node;
}

/* Less memory than the set has: the resident pages used longest ago remain. */
static void set_shrink(struct chooser *s)
{
    uint32_t wanted = s->frames;

    for (uint32_t n = s->resident.tail; n != LINK_END; n = s->link[n].prev)
        if (s->link[n].mark) {
            if (wanted)
                wanted--;
            else
                set_leave(s, n);
        }
    for (uint32_t n = 0; n < s->nodes && s->set_size > s->frames; n++)
        if (s->link[n].mark && !resident(s, n))
            set_leave(s, n);
}

/* ---- Decisions ---- */

/* Sampled pages that the expert would have resident and that are not. */
static uint32_t distance(const struct chooser *s, uint32_t i)
{
    uint32_t n = 0;

    for (uint32_t first = 0; first < s->nodes; first += 1u << s->shadows.shift) {
        uint32_t node = first + shadows_drawn(&s->shadows, first);
        if (node >= s->nodes || resident(s, node))
            continue;
        n += i == MRU ? s->link[node].mark : shadows_resident(&s->shadows, shadows(s), shadowed, i, node);
    }
    return n;
}

/* The expert, while in force, missed so many more than its shadow. */
static void exceed(struct chooser *s, uint32_t i, int64_t misses)
{
    s->excess[i] += misses * ONE;
    if (i == GAP)
        s->gap_excess += misses * ONE;
}

static void take_over(struct chooser *s, uint32_t next, uint32_t far)
{
    struct replace_config config = {.nodes = s->nodes, .frames = s->frames, .seed = s->seed};

    s->current = next;
    s->switches++;
    exceed(s, next, -(int64_t)MAX(far, s->shadows.small / 8));
    if (next == GAP)
        return;
    expert[next]->init(in_force(s), &config);
    for (uint32_t n = s->resident.tail; n != LINK_END; n = s->link[n].prev) {
        expert[next]->enter(in_force(s), n, 0);
        if (next == MRU && !s->link[n].mark)
            follow_stray(in_force(s), n);
    }
}

/* Of gap, in so many accesses. */
static uint64_t likely_excess(const struct chooser *s, uint64_t accesses)
{
    uint64_t trusted = s->gap_in_force / ONE + (uint64_t)DOUBT * s->shadows.small;

    return (uint64_t)MAX(s->gap_excess, 0) / trusted * accesses;
}

static uint64_t with_excess(const struct chooser *s, uint64_t misses, uint32_t i, uint64_t accesses)
{
    uint64_t excess = (uint64_t)MAX(s->excess[i], 0);

    return misses + (i == GAP ? MAX(excess, likely_excess(s, accesses)) : excess);
}

/* What counts now: misses lately, or since the start while careful. */
static void weigh(struct chooser *s, uint64_t *misses)
{
    uint64_t least = UINT64_MAX, budget = (s->accesses >> BUDGET_SHIFT) + s->shadows.small;

    for (uint32_t i = 0; i < EXPERTS; i++)
        least = MIN(least, s->ever[i]);
    if (s->own > least + budget)
        s->careful = 1;
    else if (s->own < least + budget / 2)
        s->careful = s->stays = 0;
    for (uint32_t i = 0; i < EXPERTS; i++)
        misses[i] = s->careful ? with_excess(s, s->ever[i] * ONE, i, s->accesses)
                               : with_excess(s, s->recent[i], i, s->window / ONE);
}

static void decide(struct chooser *s)
{
    uint64_t misses[EXPERTS], lead = (uint64_t)s->shadows.small * ONE;
    uint32_t best = s->current;

    weigh(s, misses);
    for (uint32_t i = 0; i < EXPERTS; i++)
        best = misses[i] < misses[best] ? i : best;
    lead >>= s->careful ? CAREFUL_SHIFT : LEAD_SHIFT;
    if (s->patience > 0)
        s->patience--;
    else if (misses[s->current] - misses[best] > lead) {
        uint32_t far = distance(s, best);
        if (misses[s->current] - misses[best] > (uint64_t)far * ONE * FAR_QUARTERS / 4) {
            take_over(s, best, far);
            s->patience = s->careful ? STAY << MIN(s->stays++, (uint32_t)STAY_DOUBLED) : 0;
        } else {
            s->patience = PATIENCE;
        }
    }
}

static void age(struct chooser *s)
{
    bool halve = s->accesses >= (uint64_t)LONG * s->shadows.small;

    for (uint32_t i = 0; i < EXPERTS; i++) {
        s->recent[i] -= s->recent[i] * DECAY / 65536;
        s->excess[i] -= s->excess[i] * DECAY / 65536;
        s->ever[i] >>= halve;
    }
    s->gap_excess -= s->gap_excess * (DECAY / FORGET) / 65536;
    s->gap_in_force -= s->gap_in_force * (DECAY / FORGET) / 65536;
    s->window -= s->window * DECAY / 65536;
    s->own >>= halve;
    s->accesses >>= halve;
}

/* Before MRU's set knows of it. */
static void count(struct chooser *s, uint32_t node, bool miss)
{
    uint32_t missed = shadows_use(&s->shadows, shadows(s), shadowed, node);

    missed |= (uint32_t)!s->link[node].mark << MRU;
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (missed >> i & 1) {
            s->recent[i] += ONE;
            s->ever[i]++;
        }
    s->accesses++;
    s->own += miss;
    s->window += ONE;
    s->gap_in_force += s->current == GAP ? ONE : 0;
    exceed(s, s->current, (int64_t)miss - (missed >> s->current & 1));
}

/* The lists have it as used. */
static void used(struct chooser *s, uint32_t node, bool miss)
{
    bool sampled = shadows_sampled(&s->shadows, node);

    if (sampled)
        count(s, node, miss);
    set_use(s, node);
    if (sampled && --s->until == 0) {
        decide(s);
        age(s);
        s->until = interval(s);
    }
}

/* ---- What it is told ---- */

static void chooser_touch(void *state, uint32_t node)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes);
    list_to_head(s->link, &s->resident, node);
    bool goes_on = node == s->offered; /* the use that brought it: only who named it is told */
    s->offered = LINK_END;
    if (!goes_on || s->current == GAP)
        replace_gap.touch(gaps(s), node);
    if (s->current != GAP)
        expert[s->current]->touch(changing(s), node);
    if (!goes_on)
        used(s, node, false);
}

static void chooser_enter(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes);
    s->offered = LINK_END;
    list_push_head(s->link, &s->resident, node);
    replace_gap.enter(gaps(s), node, region);
    if (s->current != GAP)
        expert[s->current]->enter(changing(s), node, region);
    used(s, node, true);
}

static void chooser_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes);
    s->offered = LINK_END;
    list_push_head(s->link, &s->resident, node);
    replace_gap.enter_unused(gaps(s), node, region);
    if (s->current != GAP)
        expert[s->current]->enter_unused(changing(s), node, region);
}

static uint32_t chooser_victim(void *state, uint32_t incoming)
{
    struct chooser *s = state;

    return s->offered = expert[s->current]->victim(in_force(s), incoming);
}

static void chooser_leave(void *state, uint32_t node)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes);
    s->offered = LINK_END;
    list_remove(s->link, &s->resident, node);
    replace_gap.leave(gaps(s), node);
    if (s->current != GAP)
        expert[s->current]->leave(changing(s), node);
}

static void chooser_forget(void *state, uint32_t node)
{
    struct chooser *s = state;

    if (resident(s, node))
        list_remove(s->link, &s->resident, node);
    replace_gap.forget(gaps(s), node);
    if (s->current != GAP)
        expert[s->current]->forget(changing(s), node);
    if (shadows_sampled(&s->shadows, node))
        shadows_forget(&s->shadows, shadows(s), shadowed, node);
    if (s->link[node].mark)
        set_leave(s, node);
    if (s->last == node)
        s->last = LINK_END;
}

static void chooser_resize(void *state, uint32_t frames)
{
    struct chooser *s = state;

    ASSERT(frames > 0);
    s->frames = frames;
    replace_gap.resize(gaps(s), frames);
    if (s->current != GAP)
        expert[s->current]->resize(changing(s), frames);
    shadows_resize(&s->shadows, shadows(s), shadowed, frames);
    if (s->set_size > frames)
        set_shrink(s);
    s->until = MIN(s->until, interval(s));
}

static void chooser_report(const void *state, struct replace_report *out)
{
    const struct chooser *s = state;

    expert[s->current]->report(in_force(s), out);
    out->switches = s->switches;
    out->experts = EXPERTS;
    for (uint32_t i = 0; i < EXPERTS; i++) {
        out->expert[i].policy = expert[i]->name;
        out->expert[i].misses = (s->recent[i] << s->shadows.shift) / ONE;
    }
}

static const char *chooser_check(const void *state)
{
    const struct chooser *s = state;
    const char *broken = list_check(s->link, s->nodes, &s->resident);
    uint32_t set = 0;

    for (uint32_t n = 0; n < s->nodes && !broken; n++) {
        set += s->link[n].mark;
        if (expert[s->current]->resident(in_force(s), n) != resident(s, n) ||
            replace_gap.resident(gaps(s), n) != resident(s, n))
            broken = "chooser: the expert in force knows other pages as resident";
    }
    if (!broken && (set != s->set_size || set > s->frames))
        broken = "chooser: MRU's set is miscounted";
    if (!broken)
        broken = expert[s->current]->check(in_force(s));
    if (!broken)
        broken = replace_gap.check(gaps(s));
    return broken ? broken : shadows_check(&s->shadows, shadows(s), shadowed);
}

const struct replace_ops replace_chooser = {
    .name = "chooser",
    .per_node = 6 * sizeof(struct replace_link) + 1,
    .use_once = true,
    .bytes = chooser_bytes,
    .init = chooser_init,
    .grow = chooser_grow,
    .touch = chooser_touch,
    .enter = chooser_enter,
    .enter_unused = chooser_enter_unused,
    .victim = chooser_victim,
    .leave = chooser_leave,
    .forget = chooser_forget,
    .resize = chooser_resize,
    .resident = chooser_resident,
    .report = chooser_report,
    .check = chooser_check,
};
