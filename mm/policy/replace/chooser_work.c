/*
 * The part of the chooser's work that needs answers of the page access buffer: telling the experts
 * of a use, which makes room in their sets, looking at lost pages, and choosing a victim. See
 * chooser.h.
 *
 * Work is a state machine, so that it can stop at a question and go on with the answer. Innermost
 * is room in one set; then the experts that are still to be told of a use; then the step.
 */
#include "mm/policy/replace/chooser.h"

enum {
    SORTED = 32,     /* pages of the turn before sorted at an access */
    SHRINK_MAX = 32, /* pages that leave a set in one call, where it is too large */
    ASKED_MAX = 16,  /* pages of a set the buffer is asked about for one that leaves it */
    LOST_LOOKS = 8,  /* lost pages looked at, at an access */
};

static void use_answered(struct chooser *s, uint32_t node, bool kept);
static void room_answered(struct chooser *s, uint32_t node, enum page_buffered is, bool asked);
static void look_answered(struct chooser *s, uint32_t node, bool kept);
static void victim_answered(struct chooser *s, uint32_t node);

/* ---- Questions ------------------------------------------------------------------------------- */

/* The buffer tells once that a page was used, so all experts are owed the answer. */
void chooser_answer(struct chooser *s, uint32_t node, enum page_buffered is)
{
    struct chooser_work *w = &s->work;

    ASSERT(node == w->asked);
    w->asked = REPLACE_NONE;
    if (is == BUFFER_USED || is == BUFFER_NOT_KEPT)
        chooser_owe(s, node, is == BUFFER_USED ? ALL : 0);
    if (w->room.on)
        room_answered(s, node, is, true);
    else if (w->step == STEP_ENTER)
        use_answered(s, node, is >= BUFFER_KEPT);
    else if (w->step == STEP_LOOK)
        look_answered(s, node, is >= BUFFER_KEPT);
    else
        victim_answered(s, node);
}

static void ask_about(struct chooser *s, uint32_t node)
{
    s->work.asked = node;
    if (!s->answers)
        chooser_answer(s, node, BUFFER_UNKNOWN);
}

/* ---- Room in a set --------------------------------------------------------------------------- */

static void begin_room(struct chooser *s, uint32_t expert, uint32_t incoming, uint32_t left,
                       bool enters)
{
    s->work.room = (struct chooser_room){
        .on = true, .enters = enters, .expert = expert, .incoming = incoming, .left = left};
}

static void room_answered(struct chooser *s, uint32_t node, enum page_buffered is, bool asked)
{
    struct chooser_room *r = &s->work.room;
    uint32_t i = r->expert;

    if (asked && chooser_hears(s, i, node)) {
        chooser_expert[i]->touch(chooser_state(s, i), node);
        return;
    }
    chooser_set_leave(s, i, node);
    if (is == BUFFER_KEPT && base_resident(s, node) && !(chooser_page(s, node)->owed & LOOKED_AT) &&
        lost_add(&s->lost, node))
        chooser_page(s, node)->owed |= LOOKED_AT;
    r->asked = 0;
    r->gone++;
}

/* Names the next page to leave the set, or ends the room that was to be made. */
static void make_room(struct chooser *s)
{
    struct chooser_room *r = &s->work.room;
    uint32_t i = r->expert;

    if (s->size[i] > r->left && r->gone < SHRINK_MAX) {
        uint32_t node = chooser_expert[i]->victim(chooser_state(s, i), r->incoming);
        if (r->asked++ < ASKED_MAX)
            ask_about(s, node);
        else
            room_answered(s, node, BUFFER_KEPT, false);
        return;
    }
    r->on = false;
    if (r->enters)
        chooser_set_enter(s, i, r->incoming);
}

/* ---- Uses ------------------------------------------------------------------------------------ */

/*
 * Tells the next expert that the resident page is used. The one in force makes no room while all of
 * its set is resident: as if it were alone, it is asked when memory is short.
 */
static void tell_expert(struct chooser *s)
{
    struct chooser_work *w = &s->work;
    uint32_t i = (uint32_t)__builtin_ctz(w->experts);

    w->experts &= w->experts - 1;
    if (chooser_in_set(s, i, w->node)) {
        chooser_expert[i]->touch(chooser_state(s, i), w->node);
        return;
    }
    w->missed |= 1u << i;
    begin_room(s, i, w->node, i != s->current || s->far[i] ? s->base.frames - 1 : UINT32_MAX, true);
}

/* kept: by the buffer. Then a use leaves no record, and experts with the page are not told now. */
static void use_answered(struct chooser *s, uint32_t node, bool kept)
{
    struct chooser_work *w = &s->work;
    uint32_t told = kept ? chooser_lacking(s, node) : ALL;
    struct chooser_page *page = chooser_page(s, node);

    page->uses = (uint8_t)MIN(page->uses + 1, 2);
    chooser_owe(s, node, ALL & ~told);
    w->node = node;
    w->experts = told;
    w->missed = 0;
    w->step = STEP_USE;
}

/* asks: the buffer may keep the page, which came just now. */
void chooser_begin_use(struct chooser *s, uint32_t node, bool asks)
{
    s->work.step = STEP_ENTER;
    if (asks)
        ask_about(s, node);
    else
        use_answered(s, node, false);
}

/* The victim named is used in the buffer: the expert in force, which named it, hears of it now, the
 * others when they name it. */
void chooser_begin_touch(struct chooser *s, uint32_t node)
{
    chooser_owe(s, node, ALL & ~(1u << s->current));
    s->work.node = node;
    s->work.experts = 1u << s->current;
}

/* ---- Lost pages ------------------------------------------------------------------------------ */

/* kept: the page is resident and kept by the buffer. Experts that are to hear of its use and lack
 * it would have missed. */
static void look_answered(struct chooser *s, uint32_t node, bool kept)
{
    struct chooser_work *w = &s->work;
    struct chooser_page *page = chooser_page(s, node);

    page->owed &= (uint8_t)~LOOKED_AT;
    if (!kept) {
        lost_done(&s->lost);
        return;
    }
    w->node = node;
    w->experts = chooser_lacking(s, node) & page->owed;
    w->missed = 0;
    w->step = STEP_LATE;
    if (w->experts >> s->current & 1)
        chooser_make_member(s, node);
}

static void look_at_next(struct chooser *s)
{
    struct chooser_work *w = &s->work;
    uint32_t node;

    if (w->looks == LOST_LOOKS || !lost_take_due(&s->lost, &node)) {
        w->step = STEP_DECIDE;
        return;
    }
    w->looks++;
    if (base_resident(s, node))
        ask_about(s, node);
    else
        look_answered(s, node, false);
}

/* The experts without the page have been told: it is looked at again while a set lacks it. */
static void end_look(struct chooser *s)
{
    struct chooser_work *w = &s->work;
    struct chooser_page *page = chooser_page(s, w->node);

    weigh_count_late(&s->weigh, w->missed);
    page->owed &= (uint8_t)~w->missed;
    if (chooser_lacking(s, w->node)) {
        page->owed |= LOOKED_AT;
        lost_again(&s->lost);
    } else {
        lost_done(&s->lost);
    }
    w->step = STEP_LOOK;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static void end_decision(struct chooser *s)
{
    s->largest = s->base.frames;
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (i != s->current)
            s->largest = MAX(s->largest, s->size[i]);
}

/* Shrinks the set in force to memory, as those not in force are, before expert `next` takes
 * over. */
static void begin_take_over(struct chooser *s, uint32_t next)
{
    begin_room(s, s->current, REPLACE_NONE, s->base.frames, false);
    s->work.next = next;
    s->work.step = STEP_TAKE_OVER;
}

static void decide(struct chooser *s)
{
    uint32_t fetches[EXPERTS];

    s->until = weigh_interval(s->base.frames);
    for (uint32_t i = 0; i < EXPERTS; i++)
        fetches[i] = chooser_to_fetch(s, i);
    uint32_t next = weigh_decide(&s->weigh, s->current, fetches, s->base.frames);
    if (next != s->current)
        begin_take_over(s, next);
    else
        end_decision(s);
}

static void end_access(struct chooser *s)
{
    bool sorted = chooser_sort(s, SORTED);

    s->work.step = STEP_NONE;
    s->until -= s->until > 0;
    if (s->until == 0 && sorted)
        decide(s);
}

static void take_over(struct chooser *s)
{
    s->current = s->work.next;
    s->switches++;
    s->turn = 2 - s->turn;
    s->work.step = STEP_NONE;
    end_decision(s);
}

/* ---- Fewer frames ---------------------------------------------------------------------------- */

void chooser_begin_resize(struct chooser *s)
{
    s->work.step = STEP_RESIZE;
    s->work.next = 0;
}

static void shrink_next(struct chooser *s)
{
    struct chooser_work *w = &s->work;

    w->next += w->next == s->current;
    if (w->next >= EXPERTS)
        w->step = STEP_NONE;
    else
        begin_room(s, w->next++, REPLACE_NONE, s->base.frames, false);
}

/* ---- Victims --------------------------------------------------------------------------------- */

void chooser_begin_victim(struct chooser *s, uint32_t incoming)
{
    struct chooser_work *w = &s->work;

    chooser_sort_for_stray(s);
    w->looks = 0;
    w->incoming = incoming;
    w->step = STEP_CHOOSE;
}

static void end_victim(struct chooser *s, uint32_t node)
{
    s->base.offered = node;
    s->work.step = STEP_NONE;
}

/* The page goes, unless the expert in force is owed word of a use of it and the buffer has it. */
static void consider(struct chooser *s, uint32_t node)
{
    if (node == REPLACE_NONE)
        end_victim(s, s->base.list[UNUSED_LIST].tail);
    else if (s->work.looks == LOOKS_MAX || !(chooser_page(s, node)->owed >> s->current & 1))
        end_victim(s, node);
    else
        ask_about(s, node);
}

static void victim_answered(struct chooser *s, uint32_t node)
{
    if (!chooser_hears(s, s->current, node)) {
        end_victim(s, node);
        return;
    }
    chooser_make_member(s, node);
    s->work.node = node;
    s->work.experts = 1u << s->current;
    s->work.looks++;
}

/* Returns whether `node` is resident and was used since it came. */
static bool is_used(const struct chooser *s, uint32_t node)
{
    uint32_t list = base_list_of(&s->base, node);

    return list != LIST_NONE && list != UNUSED_LIST;
}

/* Returns the victim of the expert in force; after LOOKS_MAX that are not resident, any page. */
static uint32_t next_member(struct chooser *s)
{
    uint32_t i = s->current, node;

    for (uint32_t looks = 0; looks < LOOKS_MAX; looks++) {
        node = chooser_expert[i]->victim(chooser_state(s, i), s->work.incoming);
        if (node == REPLACE_NONE || is_used(s, node))
            return node;
        chooser_set_leave(s, i, node);
    }
    node = chooser_members(s)->size ? chooser_members(s)->tail : chooser_strays(s)->tail;
    return list_named(node);
}

/* While there are strays the set in force is to become no larger than memory, and strays go. */
static void choose(struct chooser *s)
{
    struct chooser_work *w = &s->work;

    if (!chooser_strays(s)->size) {
        consider(s, next_member(s));
        return;
    }
    bool comes = w->incoming != REPLACE_NONE && !chooser_in_set(s, s->current, w->incoming);
    begin_room(s, s->current, w->incoming, s->base.frames - comes, false);
    w->step = STEP_STRAY;
}

/*
 * Strays go from both ends in turn. In a loop the one used longest ago is used next, on the way
 * back of a sweep the latest, and each that goes too soon makes another one go.
 */
static void choose_stray(struct chooser *s)
{
    s->work.step = STEP_CHOOSE;
    s->newest = !s->newest;
    consider(s, s->newest ? chooser_strays(s)->tail : chooser_strays(s)->head);
}

/* ---- Going on -------------------------------------------------------------------------------- */

static void next_step(struct chooser *s)
{
    struct chooser_work *w = &s->work;

    switch (w->step) {
    case STEP_USE:
        weigh_count(&s->weigh, w->missed);
        s->lost.now++;
        w->looks = 0;
        w->step = STEP_LOOK;
        return;
    case STEP_LOOK:
        look_at_next(s);
        return;
    case STEP_LATE:
        end_look(s);
        return;
    case STEP_DECIDE:
        end_access(s);
        return;
    case STEP_TAKE_OVER:
        take_over(s);
        return;
    case STEP_RESIZE:
        shrink_next(s);
        return;
    case STEP_CHOOSE:
        choose(s);
        return;
    case STEP_STRAY:
        choose_stray(s);
        return;
    default:
        ASSERT(false);
    }
}

void chooser_go_on(struct chooser *s)
{
    struct chooser_work *w = &s->work;

    while (w->asked == REPLACE_NONE) {
        if (w->room.on)
            make_room(s);
        else if (w->experts)
            tell_expert(s);
        else if (w->step != STEP_NONE)
            next_step(s);
        else
            return;
    }
}
