/*
 * The page with the farthest predicted next use goes: Belady's rule on times from an
 * inter-reference gap model [Phalke and Gopinath 1995], in which a page's last gaps between uses
 * predict the next one.
 *
 * Time is the number of uses. The prediction is the last gap, or the one before it if that came
 * nearer lately for that page: of a sweep there and back the gaps alternate. A late page is
 * expected later, by as much as it is late, until its patience ends: it is *over*, and goes before
 * any other, as do the finished blocks of a factorisation. When such pages come back, others that
 * are over are expected after as long a time, the latest use last. A page that comes back after 16
 * times its gaps starts anew. A page without a gap is expected when others were used the second
 * time; pages that still wait for that count with the time they have waited. The pages used last
 * are *recent* (recent_frames) and stay: LRU-K's and 2Q's answer to uses that come in bursts.
 *
 * Pages wait by the predicted time in slots of a timing wheel without cascades (Linux's; [Varghese
 * and Lauck 1987]), as wide as they are far: 1/8 to 1/61 of the time to go. A use costs a constant
 * time: it refiles up to STEPS_MAX pages that are late by now, each page at most eight times for a
 * use of it. The wheel lags behind where more are due at once, and catches up. victim() costs a
 * constant time.
 *
 * Time wraps. At each use the age of one page, in turn, is held to AGE_MAX, so that no age is ever
 * as long as time is.
 */
#include "mm/policy/replace/list.h"

enum { WAITING = 1, ONCE, OVER, RECENT };
enum {
    LEVELS = 8, /* as many as a mark has values */
    LEVEL_SHIFT = 3,
    SLOTS = 64,
    AHEAD_MAX = SLOTS - 3, /* whole slots to go, so that no slot that has just passed is filed in */
    GAP_MAX = 1 << 26,     /* below AHEAD_MAX of the widest slots */
    /* from this rule on the last gap is predicted, below it the one before */
    RULE_LAST = 4,
    RULE_MAX = 7,
    SURE_MAX = 7,
    NEAR_SHIFT = 2,     /* predicted well: to a quarter of the gap */
    PATIENCE_SHIFT = 1, /* of a page predicted well the last time: half its gap */
    PATIENCE_GAPS = 16, /* ... of others */
    LATE_SHIFT = 3,     /* a page that is late is looked for after 1/8 of its gap */
    AFRESH = 16,        /* gaps */
    FIRSTS = 64,        /* first gaps remembered, and half of those before */
    BACK_SHIFT = 3,     /* weight of one page that came back */
    HOT_SHIFT = 5,      /* in the page access buffer: expected in frames / 32 uses */
    STEPS_MAX = 32,     /* pages refiled, and times the wheel goes on by, at a use */
    AGE_MAX = 1 << 30,  /* further than GAP_MAX; with one use for each node below 2^31 */
    NOW_FIRST = -4096,  /* time wraps soon, so that tests and use meet it */
};

struct page {
    uint32_t last; /* use */
    uint32_t due;  /* of WAITING pages: time that the slot is for */
    uint32_t gap : 28, known : 1, rule : 3;
    uint32_t before : 29; /* gap, or 0 */
    /* gaps predicted well in a row; of a page without a gap: it came back */
    uint32_t sure : 3;
};

struct gap {
    struct replace_base base; /* lists ONCE, OVER and RECENT, latest first; not WAITING */
    uint32_t now;
    uint32_t wheel;  /* the time up to which slots have been emptied: now, or before it */
    uint32_t held;   /* the node with the age that is held next */
    uint32_t firsts; /* first gaps ... */
    uint64_t gaps;   /* ... their sum */
    uint64_t ages;   /* time since the use of all ONCE pages */
    uint32_t waiting, history;
    /* age at which pages that were over came back; 0: none has */
    uint32_t back;
    uint64_t taken[LEVELS]; /* slots with pages */
    struct replace_list slot[LEVELS][SLOTS];
};

/* ---- Memory ---------------------------------------------------------------------------------- */

#define PER_NODE (sizeof(struct replace_link) + sizeof(struct page))

static size_t gap_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct gap), PER_NODE);
}

static struct page *page_of(const struct gap *s, uint32_t node)
{
    return (struct page *)(link_of(&s->base.link, node) + 1);
}

static int gap_init(void *state, const struct replace_config *config)
{
    struct gap *s = state;

    s->now = s->wheel = (uint32_t)NOW_FIRST;
    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < SLOTS; i++)
            list_init(&s->slot[l][i], WAITING);
    return base_init(&s->base, config, sizeof *s, PER_NODE, 0);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static unsigned slot_of(uint32_t time, unsigned level)
{
    return time >> (level * LEVEL_SHIFT) & (SLOTS - 1);
}

static void wait_until(struct gap *s, uint32_t node, uint32_t due)
{
    uint32_t ahead = due - s->wheel, level = 0;

    while (ahead >> (level * LEVEL_SHIFT) > AHEAD_MAX)
        level++;
    ASSERT(level < LEVELS);
    unsigned i = slot_of(due, level);
    struct replace_list *l = &s->slot[level][i];
    if (l->size && (int32_t)(due - page_of(s, l->head)->due) > 0)
        list_push_head(&s->base.link, l, node);
    else
        list_push_tail(&s->base.link, l, node);
    link_of(&s->base.link, node)->mark = level & (LEVELS - 1);
    page_of(s, node)->due = due;
    s->taken[level] |= UINT64_C(1) << i;
    s->waiting++;
}

static void stop_waiting(struct gap *s, uint32_t node)
{
    unsigned level = link_of(&s->base.link, node)->mark, i = slot_of(page_of(s, node)->due, level);

    list_remove(&s->base.link, &s->slot[level][i], node);
    s->waiting--;
    if (!s->slot[level][i].size)
        s->taken[level] &= ~(UINT64_C(1) << i);
}

static void take_out(struct gap *s, uint32_t node)
{
    uint32_t list = base_list_of(&s->base, node);

    if (list == WAITING) {
        stop_waiting(s, node);
        return;
    }
    if (list == ONCE)
        s->ages -= s->now - page_of(s, node)->last;
    base_take_out(&s->base, node);
}

/* ---- What is predicted ----------------------------------------------------------------------- */

static uint32_t predicted(const struct page *p)
{
    return p->rule < RULE_LAST && p->before ? p->before : p->gap;
}

/* Returns how late the page may be. */
static uint32_t patience(const struct page *p)
{
    uint32_t gap = predicted(p);

    return p->sure ? gap >> PATIENCE_SHIFT : gap * PATIENCE_GAPS;
}

/* Returns the time after which a page is used the second time; 0: none was. */
static uint32_t first_gap(const struct gap *s)
{
    return s->firsts ? (uint32_t)MIN((s->gaps + s->ages) / s->firsts + 1, (uint64_t)GAP_MAX) : 0;
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Counts the return of a page that was over, or would have been. */
static void came_back(struct gap *s, uint32_t age)
{
    s->back = MAX(s->back ? s->back - (s->back >> BACK_SHIFT) + (age >> BACK_SHIFT) : age, 1u);
}

static void add_first_gap(struct gap *s, uint32_t gap)
{
    s->gaps += gap;
    if (++s->firsts == FIRSTS) {
        s->firsts /= 2;
        s->gaps /= 2;
    }
}

static void judge_gap(struct page *p, uint32_t gap)
{
    uint32_t last = apart(gap, p->gap), other = apart(gap, p->before);
    bool near = apart(gap, predicted(p)) < gap >> NEAR_SHIFT;

    p->sure = near ? p->sure + (p->sure < SURE_MAX) : 0;
    if (last < other && p->rule < RULE_MAX)
        p->rule++;
    else if (other < last && p->rule > 0)
        p->rule--;
}

static void learn_gap(struct gap *s, struct page *p, uint32_t gap)
{
    if (p->gap && gap > predicted(p) && gap - predicted(p) >= patience(p))
        came_back(s, gap);
    if (p->before && gap / AFRESH > p->gap && gap / AFRESH > p->before) {
        p->gap = p->before = 0;
        p->sure = 1;
        return;
    }
    if (!p->gap) {
        add_first_gap(s, gap);
        p->rule = RULE_LAST;
        p->sure = 0;
    } else if (p->before) {
        judge_gap(p, gap);
    }
    p->before = p->gap;
    p->gap = gap & (2 * GAP_MAX - 1);
}

/* ---- Where pages are ------------------------------------------------------------------------- */

static void push_once(struct gap *s, uint32_t node)
{
    base_push_head(&s->base, ONCE, node);
    s->ages += s->now - page_of(s, node)->last;
}

/* Files the page, which is in no list, by its next use. */
static void file_page(struct gap *s, uint32_t node)
{
    const struct page *p = page_of(s, node);
    uint32_t gap = predicted(p), age = s->now - p->last;

    if (!gap && p->sure)
        base_push_head(&s->base, OVER, node);
    else if (!gap)
        push_once(s, node);
    else if (age < gap)
        wait_until(s, node, p->last + gap);
    else if (age - gap < patience(p))
        wait_until(s, node,
                   s->now + MIN(MAX(MAX(age - gap, gap >> LATE_SHIFT), 1u), (uint32_t)GAP_MAX));
    else
        base_push_head(&s->base, OVER, node);
}

/* Files pages that are not among the last used any more. */
static void settle_recent(struct gap *s)
{
    uint32_t most = recent_frames(s->base.nodes, s->base.frames);

    while (s->base.list[RECENT].size > most) {
        uint32_t node = s->base.list[RECENT].tail;
        base_take_out(&s->base, node);
        file_page(s, node);
    }
}

/* Counts a use of the page, which is in no list. */
static void note_use(struct gap *s, uint32_t node)
{
    struct page *p = page_of(s, node);

    if (p->known)
        learn_gap(s, p, MIN(MAX(s->now - p->last, 1u), (uint32_t)GAP_MAX));
    p->known = 1;
    p->last = s->now;
    base_push_head(&s->base, RECENT, node);
    settle_recent(s);
}

/* Files a page again when its slot has passed. */
static void refile_page(struct gap *s, uint32_t node)
{
    stop_waiting(s, node);
    file_page(s, node);
}

/* Empties the slots that have passed at this time, in the given number of steps at most. Returns
 * the steps left; 0: perhaps not all slots are empty. */
static uint32_t empty_passed(struct gap *s, uint32_t time, uint32_t steps)
{
    for (unsigned level = 0; level < LEVELS; level++) {
        if (time & ((1u << (level * LEVEL_SHIFT)) - 1))
            break;
        struct replace_list *passed =
            &s->slot[level][slot_of(time - (1u << (level * LEVEL_SHIFT)), level)];
        for (; passed->size && steps; steps--)
            refile_page(s, passed->tail);
    }
    return steps;
}

static void turn_wheel(struct gap *s)
{
    for (uint32_t steps = STEPS_MAX;
         s->wheel != s->now && (steps = empty_passed(s, s->wheel + 1, steps)); steps--)
        s->wheel++;
}

/* Holds the age of one page to AGE_MAX. */
static void hold_age(struct gap *s)
{
    struct page *p = page_of(s, s->held);
    uint32_t age = s->now - p->last;

    if (p->known && age > AGE_MAX) {
        p->last += age - AGE_MAX;
        if (link_of(&s->base.link, s->held)->list == ONCE)
            s->ages -= age - AGE_MAX;
    }
    s->held = s->held + 1 < s->base.nodes ? s->held + 1 : 0;
}

static void tick(struct gap *s)
{
    s->now++;
    s->ages += s->base.list[ONCE].size;
    hold_age(s);
    turn_wheel(s);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void gap_touch(void *state, uint32_t node)
{
    struct gap *s = state;
    bool hot = node == s->base.offered;

    ASSERT(base_resident(s, node));
    s->base.offered = LINK_END;
    take_out(s, node);
    if (hot) {
        page_of(s, node)->known = 1;
        page_of(s, node)->last = s->now;
        wait_until(s, node, s->now + MIN(MAX(s->base.frames >> HOT_SHIFT, 1u), (uint32_t)GAP_MAX));
        return;
    }
    tick(s);
    note_use(s, node);
}

static void gap_enter(void *state, uint32_t node, uint32_t region)
{
    struct gap *s = state;

    ASSERT(!base_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->history -= page_of(s, node)->known;
    s->base.offered = LINK_END;
    tick(s);
    note_use(s, node);
}

static void gap_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct gap *s = state;

    base_enter_unused(s, node, region);
    s->history -= page_of(s, node)->known;
}

/* Returns the waiting page that is due last, to a slot's width, or LINK_END. */
static uint32_t farthest(const struct gap *s)
{
    uint32_t best = LINK_END;

    for (unsigned level = 0; level < LEVELS; level++) {
        uint64_t taken = s->taken[level];
        unsigned here = slot_of(s->wheel, level);
        if (!taken)
            continue;
        taken = here ? taken >> here | taken << (SLOTS - here) : taken;
        unsigned i = (here + log2_floor(taken)) & (SLOTS - 1);
        uint32_t node = s->slot[level][i].head;
        if (best == LINK_END || (int32_t)(page_of(s, node)->due - page_of(s, best)->due) > 0)
            best = node;
    }
    return best;
}

/* Returns the uses until a page without a gap is expected; a late page in as many as it is late. */
static uint32_t expected(const struct gap *s, uint32_t node, uint32_t typical)
{
    uint32_t age = s->now - page_of(s, node)->last;

    if (!typical || (age > typical && link_of(&s->base.link, node)->list == OVER))
        return UINT32_MAX;
    return apart(typical, age);
}

/* Returns the page to go among those used. */
static uint32_t of_used(const struct gap *s)
{
    const struct replace_list *list[] = {&s->base.list[OVER], &s->base.list[ONCE]};
    const uint32_t typical[] = {s->back, first_gap(s)};
    uint32_t best = farthest(s), ahead = 0;

    if (best != LINK_END)
        ahead = (uint32_t)MAX((int32_t)(page_of(s, best)->due - s->now), 0);
    for (unsigned i = 0; i < 4; i++) {
        const struct replace_list *l = list[i / 2];
        uint32_t node = i % 2 ? l->tail : l->head;
        if (l->size && (best == LINK_END || expected(s, node, typical[i / 2]) > ahead)) {
            best = node;
            ahead = expected(s, best, typical[i / 2]);
        }
    }
    return best;
}

static uint32_t gap_victim(void *state, uint32_t incoming)
{
    struct gap *s = state;

    (void)incoming;
    base_name(&s->base, base_decided(&s->base) ? s->base.offered : of_used(s));
    if (s->base.offered == LINK_END)
        s->base.offered = s->base.list[RECENT].tail;
    return list_named(s->base.offered);
}

static void gap_leave(void *state, uint32_t node)
{
    struct gap *s = state;

    ASSERT(base_resident(s, node));
    if (base_list_of(&s->base, node) != UNUSED_LIST)
        base_pass(&s->base);
    take_out(s, node);
    s->history += page_of(s, node)->known;
    s->base.offered = LINK_END;
}

static void gap_forget(void *state, uint32_t node)
{
    struct gap *s = state;

    if (base_resident(s, node))
        gap_leave(s, node);
    s->history -= page_of(s, node)->known;
    *page_of(s, node) = (struct page){0};
}

static void gap_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct gap *)state)->base.frames = frames;
    settle_recent(state);
}

static void gap_report(const void *state, struct replace_report *out)
{
    const struct gap *s = state;

    base_report(s, replace_gap.name, out);
    out->resident += s->waiting;
    out->history = s->history;
}

/* ---- Invariants ------------------------------------------------------------------------------ */

static const char *check_slot(const struct gap *s, unsigned level, unsigned i, uint32_t *found)
{
    const struct replace_list *l = &s->slot[level][i];
    uint32_t size = 0, before = LINK_END;

    for (uint32_t n = l->head; n != LINK_END && size <= l->size;
         before = n, n = link_of(&s->base.link, n)->next, size++) {
        if (n >= s->base.nodes || link_of(&s->base.link, n)->list != WAITING ||
            link_of(&s->base.link, n)->mark != level || link_of(&s->base.link, n)->prev != before)
            return "gap: a slot has what does not wait there";
        uint32_t ahead =
            (page_of(s, n)->due >> (level * LEVEL_SHIFT)) - (s->wheel >> (level * LEVEL_SHIFT));
        if (slot_of(page_of(s, n)->due, level) != i ||
            (ahead & (UINT32_MAX >> (level * LEVEL_SHIFT))) > AHEAD_MAX + 1)
            return "gap: a page waits in a slot of another time";
    }
    *found += size;
    if (size != l->size || before != l->tail || !size != !(s->taken[level] >> i & 1))
        return "gap: a slot's pages are miscounted";
    return NULL;
}

static const char *gap_check(const void *state)
{
    const struct gap *s = state;
    static const uint32_t lists[] = {ONCE, OVER, RECENT, UNUSED_LIST};
    const char *broken = NULL;
    uint32_t waiting = 0, history = 0;
    uint64_t ages = 0;

    for (unsigned l = 0; l < LEVELS; l++)
        for (unsigned i = 0; i < SLOTS && !broken; i++)
            broken = check_slot(s, l, i, &waiting);
    for (unsigned i = 0; i < ARRAY_SIZE(lists) && !broken; i++)
        broken = list_check(&s->base.link, s->base.nodes, &s->base.list[lists[i]]);
    for (uint32_t n = 0; n < s->base.nodes; n++)
        history += page_of(s, n)->known && !base_resident(s, n);
    for (uint32_t n = s->base.list[ONCE].head; n != LINK_END && !broken;
         n = link_of(&s->base.link, n)->next)
        ages += s->now - page_of(s, n)->last;
    if (!broken && ages != s->ages)
        broken = "gap: the time that pages have waited for a second use is miscounted";
    if (!broken &&
        (waiting != s->waiting || waiting != list_claimed(&s->base.link, s->base.nodes, WAITING)))
        broken = "gap: waiting pages are miscounted";
    return !broken && history != s->history ? "gap: pages that are out are miscounted" : broken;
}

const struct replace_ops replace_gap = {
    .name = "gap",
    .per_node = PER_NODE,
    .use_once = true,
    .bytes = gap_bytes,
    .init = gap_init,
    .grow = base_grow,
    .touch = gap_touch,
    .enter = gap_enter,
    .enter_unused = gap_enter_unused,
    .victim = gap_victim,
    .leave = gap_leave,
    .forget = gap_forget,
    .resize = gap_resize,
    .resident = base_resident,
    .report = gap_report,
    .check = gap_check,
};
