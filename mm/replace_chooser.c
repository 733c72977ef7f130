/*
 * The chooser: does what the expert among the policies would do that has lately missed least (replace_weigh.h), and is never much worse than the
 * best of them on the whole.
 *
 * Experts' misses are counted by shadows on a sample of the pages (replace_shadows.h).  Of two the *sets* are known, what they would have
 * resident of all pages: MRU's is a bit for each, on a miss the page used just before goes; ARC has a memory of its own, with no pages in it.
 * A memory that another has filled does not become what these would have by itself: MRU keeps what it finds, and what ARC keeps follows from
 * what it once kept; a hash table may fit or never get in.  So memory is made to follow their sets while they are in force, the pages
 * outside going first.
 * Any other expert decides about the real memory itself, which keeps its pages when another takes over.
 *
 * Cost: for each access three list moves, ARC's, and the shadows for one in 2^shift.
 */
#include "mm/replace_follow.h"
#include "mm/replace_shadows.h"
#include "mm/replace_weigh.h"

enum { RESIDENT = 1, IN_SET = 1 };

static const struct replace_ops *const shadowed[] = {&replace_lru, &replace_clock, &replace_lirs,
                                                     &replace_gap, NULL};
/* From ARC on memory is made to follow their sets. */
enum { GAP = WEIGH_KNOWING, ARC, MRU, EXPERTS };
static const struct {
    const struct replace_ops *is, *in_force;
} expert[EXPERTS] = {
    {&replace_lru, &replace_lru}, {&replace_clock, &replace_clock}, {&replace_lirs, &replace_lirs},
    {&replace_gap, &replace_gap}, {&replace_arc, &replace_follow},  {&replace_mru, &replace_follow},
};

struct chooser {
    uint32_t nodes, frames;
    uint64_t seed, switches;
    uint32_t current;            /* expert */
    uint32_t until;              /* sampled accesses to the next decision */
    uint32_t arc_size, set_size; /* of ARC's set and MRU's           */
    uint32_t last;               /* the page used last, or LINK_END */
    uint32_t offered; /* the latest victim, until anything else is said: touched at once, it is in use now */
    struct weigh weigh;
    struct shadows shadows;
    struct replace_list resident; /* latest use first */
    struct replace_link link[];   /* mark: in MRU's set, resident or not */
};

/* ---- Memory: the links, the state of the expert in force, those of `gap` and `arc`, the shadows ---- */

static size_t links_bytes(uint32_t nodes)
{
    return sizeof(struct chooser) + nodes * sizeof(struct replace_link);
}

static size_t expert_bytes(uint32_t nodes)
{
    size_t most = 0;

    for (uint32_t i = 0; i < EXPERTS; i++)
        most = i == GAP ? most : MAX(most, expert[i].in_force->bytes(nodes));
    return most;
}

static size_t chooser_bytes(uint32_t nodes)
{
    if (nodes < 1 || nodes > REPLACE_NODES_MAX)
        return 0;
    return links_bytes(nodes) + expert_bytes(nodes) + replace_gap.bytes(nodes) + replace_arc.bytes(nodes) +
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

/* Of `arc`: what it would have resident, as if it had been in force until now; while it is, what leaves memory leaves it. */
static void *arcs(const struct chooser *s)
{
    return (char *)gaps(s) + replace_gap.bytes(s->nodes);
}

static void *shadows(const struct chooser *s)
{
    return (char *)arcs(s) + replace_arc.bytes(s->nodes);
}

static const struct replace_ops *ops_in_force(const struct chooser *s)
{
    return expert[s->current].in_force;
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
    while (s->current < EXPERTS && expert[s->current].is != first)
        s->current++;
    if (s->current == EXPERTS)
        return -EINVAL;
    list_init(&s->resident, RESIDENT);
    links_init(s->link, 0, s->nodes);
    shadows_init(&s->shadows, shadows(s), shadowed, s->nodes, s->frames, s->seed);
    weigh_init(&s->weigh, EXPERTS);
    s->until = weigh_interval(s->shadows.small);
    rc = replace_gap.init(gaps(s), config);
    rc = rc ? rc : replace_arc.init(arcs(s), config);
    return rc || s->current == GAP ? rc : ops_in_force(s)->init(in_force(s), config);
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
    char *at = changing(s), *after = gaps(s), *behind = arcs(s), *last = shadows(s);

    ASSERT(nodes >= before && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
    memmove(shadows(s), last, shadows_bytes(shadowed, before));
    memmove(arcs(s), behind, replace_arc.bytes(before));
    memmove(gaps(s), after, replace_gap.bytes(before));
    memmove(changing(s), at, expert_bytes(before));
    links_init(s->link, before, nodes);
    replace_gap.grow(gaps(s), nodes);
    replace_arc.grow(arcs(s), nodes);
    if (s->current != GAP)
        ops_in_force(s)->grow(changing(s), nodes);
    if (shadows_grow(&s->shadows, shadows(s), shadowed, nodes))
        fill_shadows(s);
}

/* ---- ARC's set and MRU's ---- */

static bool in_set(const struct chooser *s, uint32_t i, uint32_t node)
{
    return i == ARC ? replace_arc.resident(arcs(s), node) : s->link[node].mark;
}

/* The expert would not have it any more. */
static void set_without(struct chooser *s, uint32_t i, uint32_t node)
{
    if (s->current == i && resident(s, node))
        follow_stray(in_force(s), node);
}

static void arc_leave(struct chooser *s, uint32_t node)
{
    replace_arc.leave(arcs(s), node);
    s->arc_size--;
}

static void arc_make_room(struct chooser *s, uint32_t incoming, uint32_t left)
{
    while (s->arc_size > left) {
        uint32_t node = replace_arc.victim(arcs(s), incoming);
        arc_leave(s, node);
        set_without(s, ARC, node);
    }
}

static void arc_use(struct chooser *s, uint32_t node)
{
    if (replace_arc.resident(arcs(s), node)) {
        replace_arc.touch(arcs(s), node);
        return;
    }
    arc_make_room(s, node, s->frames - 1);
    replace_arc.enter(arcs(s), node, 0);
    s->arc_size++;
}

static void set_leave(struct chooser *s, uint32_t node)
{
    s->link[node].mark = 0;
    s->set_size--;
    set_without(s, MRU, node);
}

/* The page is resident, and was used. */
static void set_use(struct chooser *s, uint32_t node)
{
    bool in = s->link[node].mark;

    if (!in && s->set_size >= s->frames && s->last != LINK_END && s->link[s->last].mark)
        set_leave(s, s->last);
    if (!in && s->set_size < s->frames) {
        s->link[node].mark = in = IN_SET;
        s->set_size++;
    }
    if (!in)
        set_without(s, MRU, node);
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
        n += i >= ARC ? in_set(s, i, node) : shadows_resident(&s->shadows, shadows(s), shadowed, i, node);
    }
    return n;
}

static void take_over(struct chooser *s, uint32_t next, uint32_t far)
{
    struct replace_config config = {.nodes = s->nodes, .frames = s->frames, .seed = s->seed};

    s->current = next;
    s->switches++;
    weigh_taken(&s->weigh, next, far, s->shadows.small);
    if (next == GAP)
        return;
    ops_in_force(s)->init(in_force(s), &config);
    for (uint32_t n = s->resident.tail; n != LINK_END; n = s->link[n].prev) {
        ops_in_force(s)->enter(in_force(s), n, 0);
        if (next >= ARC && !in_set(s, next, n))
            follow_stray(in_force(s), n);
    }
}

static void decide(struct chooser *s)
{
    uint32_t best = weigh_best(&s->weigh, s->current, s->shadows.small);

    if (best == s->current)
        return;
    uint32_t far = distance(s, best);
    if (weigh_worth(&s->weigh, s->current, best, far))
        take_over(s, best, far);
}

/* Before ARC's and MRU's sets know of it. */
static void count(struct chooser *s, uint32_t node, bool miss)
{
    uint32_t missed = shadows_use(&s->shadows, shadows(s), shadowed, node);

    for (uint32_t i = ARC; i < EXPERTS; i++)
        missed |= (uint32_t)!in_set(s, i, node) << i;
    weigh_count(&s->weigh, s->current, missed, miss);
}

/* The lists have it as used. */
static void used(struct chooser *s, uint32_t node, bool miss)
{
    bool sampled = shadows_sampled(&s->shadows, node);

    if (sampled)
        count(s, node, miss);
    arc_use(s, node);
    set_use(s, node);
    if (sampled && --s->until == 0) {
        decide(s);
        weigh_age(&s->weigh, s->shadows.small);
        s->until = weigh_interval(s->shadows.small);
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
    if (goes_on && s->current == ARC && in_set(s, ARC, node)) {
        replace_arc.touch(arcs(s), node);
        follow_member(in_force(s), node);
    } else if (s->current != GAP)
        ops_in_force(s)->touch(changing(s), node);
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
        ops_in_force(s)->enter(changing(s), node, region);
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
        ops_in_force(s)->enter_unused(changing(s), node, region);
}

/* Where memory is what ARC would have, the page that ARC would have go is next. */
static void arc_names(struct chooser *s, uint32_t incoming)
{
    while (!follow_strays(in_force(s))) {
        uint32_t node = replace_arc.victim(arcs(s), incoming);
        if (node == REPLACE_NONE)
            return;
        if (resident(s, node))
            follow_first(in_force(s), node);
        else
            arc_leave(s, node);
    }
}

static uint32_t chooser_victim(void *state, uint32_t incoming)
{
    struct chooser *s = state;

    if (s->current == ARC)
        arc_names(s, incoming);
    return s->offered = ops_in_force(s)->victim(in_force(s), incoming);
}

static void chooser_leave(void *state, uint32_t node)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes);
    s->offered = LINK_END;
    list_remove(s->link, &s->resident, node);
    replace_gap.leave(gaps(s), node);
    if (s->current == ARC && in_set(s, ARC, node))
        arc_leave(s, node);
    if (s->current != GAP)
        ops_in_force(s)->leave(changing(s), node);
}

static void chooser_forget(void *state, uint32_t node)
{
    struct chooser *s = state;

    if (resident(s, node))
        list_remove(s->link, &s->resident, node);
    replace_gap.forget(gaps(s), node);
    s->arc_size -= replace_arc.resident(arcs(s), node);
    replace_arc.forget(arcs(s), node);
    if (s->current != GAP)
        ops_in_force(s)->forget(changing(s), node);
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
    replace_arc.resize(arcs(s), frames);
    if (s->current != GAP)
        ops_in_force(s)->resize(changing(s), frames);
    shadows_resize(&s->shadows, shadows(s), shadowed, frames);
    arc_make_room(s, REPLACE_NONE, frames);
    if (s->set_size > frames)
        set_shrink(s);
    s->until = MIN(s->until, weigh_interval(s->shadows.small));
}

static void chooser_report(const void *state, struct replace_report *out)
{
    const struct chooser *s = state;

    ops_in_force(s)->report(in_force(s), out);
    out->policy = expert[s->current].is->name;
    out->switches = s->switches;
    out->experts = EXPERTS;
    for (uint32_t i = 0; i < EXPERTS; i++) {
        out->expert[i].policy = expert[i].is->name;
        out->expert[i].misses = weigh_recent(&s->weigh, i) << s->shadows.shift;
    }
}

static const char *chooser_check(const void *state)
{
    const struct chooser *s = state;
    const char *broken = list_check(s->link, s->nodes, &s->resident);
    struct replace_report arc;
    uint32_t set = 0;

    for (uint32_t n = 0; n < s->nodes && !broken; n++) {
        set += s->link[n].mark;
        if (ops_in_force(s)->resident(in_force(s), n) != resident(s, n) ||
            replace_gap.resident(gaps(s), n) != resident(s, n))
            broken = "chooser: the expert in force knows other pages as resident";
    }
    if (!broken && (set != s->set_size || set > s->frames))
        broken = "chooser: MRU's set is miscounted";
    if (!broken)
        broken = ops_in_force(s)->check(in_force(s));
    if (!broken)
        broken = replace_gap.check(gaps(s));
    if (!broken)
        broken = replace_arc.check(arcs(s));
    replace_arc.report(arcs(s), &arc);
    if (!broken && (arc.resident != s->arc_size || arc.resident > s->frames))
        broken = "chooser: ARC's set is miscounted";
    return broken ? broken : shadows_check(&s->shadows, shadows(s), shadowed);
}

const struct replace_ops replace_chooser = {
    .name = "chooser",
    .per_node = 7 * sizeof(struct replace_link) + 1,
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
