/*
 * The chooser: does what the expert among the policies does that has missed least (weigh.h), and is
 * never much worse than the best of them on the whole.
 *
 * Each expert has a memory of its own without pages in it: the *set* of the pages that it would
 * have resident had it been in force all the time. So the misses that each would have had are
 * known, not estimated, as far as the log has the uses that it would have with that expert alone.
 * Memory follows the set of the expert in force: resident pages outside it, *strays*, go first, and
 * when there are none the page that leaves the set. A miss of memory that the expert does not have
 * brings a page of the set. So once an expert has taken over, memory misses no more often than it,
 * but for the pages that were still to be fetched. Memory that another expert has filled would not
 * become the new expert's by itself: MRU keeps the pages it finds, the pages ARC keeps follow from
 * those it once kept, gap knows of a page only the uses it saw. No page is evicted when another
 * expert takes over.
 *
 * But for strays the expert in force does as it does alone: it names a page when memory is short,
 * not when it misses, and is told of the pages that leave.
 *
 * A page in constant use stays in the page access buffer and is logged no more. So that no set
 * loses such a page, the chooser asks about the pages that an expert would have go (asks()), as the
 * mechanism does about the pages that memory is to lose. The buffer tells once that a page was
 * used. Experts that did not ask are owed the answer as long as the buffer keeps the page. A page
 * that a set has lost all the same may be used in the buffer unseen, where the expert alone would
 * miss it: lost pages that the buffer keeps are looked at now and then (chooser_lost.h). And a page
 * that memory has lost comes back with a use that no record would tell of while the buffer keeps
 * the page: experts that have it in their sets are not told.
 *
 * The price of a change follows from the fate of pages of a set that were not resident: those that
 * were used would have had to be fetched, those that left the set first would not. Pages used once
 * so far are not counted: nothing comes back on the first pass of anything.
 *
 * Cost: for each access, that of every expert. No call looks at all pages: when another expert
 * takes over, resident pages are sorted a few at a time by whether its set has them, and where
 * memory was taken away sets shrink by a few pages at a time.
 */
#include "mm/policy/replace/chooser.h"

static size_t chooser_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, chooser_state_bytes(), CHOOSER_NODE_BYTES);
}

static int chooser_init(void *state, const struct replace_config *config)
{
    struct chooser *s = state;
    const struct replace_ops *first =
        config->first ? replace_find(config->first) : &replace_wtinylfu_margin;
    struct replace_layout place = base_layout(config, chooser_state_bytes(), CHOOSER_NODE_BYTES);
    int rc = base_init(&s->base, config, chooser_state_bytes(), CHOOSER_NODE_BYTES, 0);

    if (rc)
        return rc;
    s->largest = config->frames;
    s->until = weigh_interval(config->frames);
    s->answers = config->answers;
    s->work.asked = REPLACE_NONE;
    while (s->current < EXPERTS && chooser_expert[s->current] != first)
        s->current++;
    if (s->current == EXPERTS)
        return -EINVAL;
    weigh_init(&s->weigh, EXPERTS);
    lost_init(&s->lost);
    return chooser_sets_init(s, config, &place);
}

static void chooser_grow(void *state, uint32_t nodes)
{
    struct chooser *s = state;

    base_grow(s, nodes);
    for (uint32_t i = 0; i < EXPERTS; i++)
        chooser_expert[i]->grow(chooser_state(s, i), nodes);
}

static void chooser_touch(void *state, uint32_t node)
{
    struct chooser *s = state;

    ASSERT(base_resident(s, node) && s->work.asked == REPLACE_NONE);
    bool first = link_of(&s->base.link, node)->list == UNUSED_LIST, named = node == s->base.offered;
    s->base.offered = LINK_END;
    chooser_make_member(s, node);
    if (named && !first)
        chooser_begin_touch(s, node);
    else
        chooser_begin_use(s, node, first);
    chooser_go_on(s);
}

/* Counts a page that became resident for the sets that have it. */
static void note_arrival(struct chooser *s, uint32_t node, bool used)
{
    s->base.offered = LINK_END;
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (chooser_in_set(s, i, node)) {
            s->far[i]--;
            s->used[i] += used;
        }
}

static void chooser_enter(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->base.nodes && region < REPLACE_REGIONS_MAX && s->work.asked == REPLACE_NONE);
    list_push_head(&s->base.link, chooser_members(s), node);
    note_arrival(s, node, true);
    chooser_begin_use(s, node, true);
    chooser_go_on(s);
}

static void chooser_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->base.nodes && region < REPLACE_REGIONS_MAX && s->work.asked == REPLACE_NONE);
    list_push_head(&s->base.link, &s->base.list[UNUSED_LIST], node);
    note_arrival(s, node, false);
}

static uint32_t chooser_victim(void *state, uint32_t incoming)
{
    struct chooser *s = state;

    ASSERT(s->work.asked == REPLACE_NONE);
    if (s->base.offered == LINK_END)
        s->base.offered = base_due(&s->base);
    if (s->base.offered == LINK_END) {
        chooser_begin_victim(s, incoming);
        chooser_go_on(s);
    }
    return list_named(s->base.offered);
}

static uint32_t chooser_asks(const void *state)
{
    return ((const struct chooser *)state)->work.asked;
}

static void chooser_tell(void *state, uint32_t node, enum page_buffered is)
{
    chooser_answer(state, node, is);
    chooser_go_on(state);
}

static void chooser_leave(void *state, uint32_t node)
{
    struct chooser *s = state;

    ASSERT(base_resident(s, node) && s->work.asked == REPLACE_NONE);
    s->base.offered = LINK_END;
    if (link_of(&s->base.link, node)->list != UNUSED_LIST)
        base_pass(&s->base);
    base_take_out(&s->base, node);
    for (uint32_t i = 0; i < EXPERTS; i++)
        s->far[i] += chooser_in_set(s, i, node);
    if (chooser_in_set(s, s->current, node))
        chooser_set_leave(s, s->current, node);
}

static void chooser_forget(void *state, uint32_t node)
{
    struct chooser *s = state;
    bool was = base_resident(s, node);

    ASSERT(s->work.asked == REPLACE_NONE);
    for (uint32_t i = 0; i < EXPERTS; i++) {
        bool in = chooser_in_set(s, i, node);
        s->size[i] -= in;
        s->far[i] -= in && !was;
        chooser_expert[i]->forget(chooser_state(s, i), node);
    }
    chooser_owe(s, node, 0);
    chooser_page(s, node)->uses = 0;
    if (was)
        base_take_out(&s->base, node);
    if (s->base.offered == node)
        s->base.offered = LINK_END;
}

static void chooser_resize(void *state, uint32_t frames)
{
    struct chooser *s = state;

    ASSERT(frames > 0 && s->work.asked == REPLACE_NONE);
    s->largest = MAX(s->largest, frames);
    s->base.frames = frames;
    s->until = MIN(s->until, weigh_interval(frames));
    for (uint32_t i = 0; i < EXPERTS; i++)
        chooser_expert[i]->resize(chooser_state(s, i), frames);
    chooser_begin_resize(s);
    chooser_go_on(s);
}

static void chooser_report(const void *state, struct replace_report *out)
{
    const struct chooser *s = state;

    struct replace_report own;

    chooser_expert[s->current]->report(chooser_state(s, s->current), out);
    base_report(s, out->policy, &own);
    out->resident = own.resident;
    out->switches = s->switches;
    out->experts = EXPERTS;
    for (uint32_t i = 0; i < EXPERTS; i++) {
        out->expert[i].policy = chooser_expert[i]->name;
        out->expert[i].misses = s->weigh.misses[i];
    }
}

static const char *chooser_check(const void *state)
{
    const struct chooser *s = state;
    const char *broken = base_check(s);

    for (uint32_t i = 0; i < EXPERTS && !broken; i++)
        broken = chooser_set_check(s, i);
    for (uint32_t n = 0; n < s->base.nodes && !broken; n++)
        if (link_of(&s->base.link, n)->list == MEMBER + s->turn &&
            !chooser_in_set(s, s->current, n))
            broken = "chooser: a page outside the set in force is no stray";
    return broken;
}

const struct replace_ops replace_chooser = {
    .name = "chooser",
    .per_node = CHOOSER_NODE_BYTES,
    .use_once = true,
    .bytes = chooser_bytes,
    .init = chooser_init,
    .grow = chooser_grow,
    .touch = chooser_touch,
    .enter = chooser_enter,
    .enter_unused = chooser_enter_unused,
    .victim = chooser_victim,
    .asks = chooser_asks,
    .tell = chooser_tell,
    .leave = chooser_leave,
    .forget = chooser_forget,
    .resize = chooser_resize,
    .resident = base_resident,
    .report = chooser_report,
    .check = chooser_check,
};
