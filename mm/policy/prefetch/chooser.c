/*
 * The chooser of prefetchers: in each region it fetches the predictions of those experts that did
 * no harm there of late, as far ahead as they did none.
 *
 * Experts are streams (streams.h), the pages behind the one faulted on, and the page proximity
 * graph. Each ranks pages, those wanted next first. A fetched page takes the frame of another one,
 * and does no harm if it is wanted before that (Cao et al., A Study of Integrated Prefetching and
 * Caching Strategies, 1995). Whether it is can be seen without fetching: at each fault or first use
 * one or two pages that are out are remembered from an expert's ranking, and one page an event of
 * those that leave memory; the number of events until each is wanted is measured. A predicted page
 * that is wanted gains by the share of the pages that left which come back later than it. One that
 * is not wanted for long loses by the share of them which come back at all.
 *
 * Ranks are taken together by powers of two. A group is *open* if its gains are above FAIR on the
 * average and enough of its pages are wanted at all. The window of an expert in a region ends
 * before the first group that is not. So of random accesses nothing is fetched, as any page is
 * wanted as soon as another. But a table that is used at random beside arrays that are read once is
 * fetched: the pages that leave are of the arrays.
 *
 * Pages that are waited for long fill the part of memory that may be fetched and not used yet. The
 * window ends before groups of such pages. Where the first group is one, the expert fetches only
 * while that part is nearly empty, and its listed pages in memory stay all the same.
 *
 * Groups and windows follow from the past alone. So an event first collects questions about the
 * pages that may be remembered and those of the windows. By the answers it then remembers one page
 * of each ranking and fills the list.
 */
#include "mm/policy/prefetch/shadow.h"
#include "mm/policy/prefetch/streams.h"

enum expert { BY_STREAM, BEHIND, BY_GRAPH, EXPERTS };

enum {
    GROUPS = 8, /* of ranks: 0, 1, 2 and 3, 4 to 7, .., 64 to 127 */
    GAIN = 16,  /* gain of a page wanted before any page that left comes back */
    /* average gain that is needed: pages no better than those that left gain half of GAIN */
    FAIR = 10,
    SCORE_FIRST = -4 * (GAIN - FAIR),
    SCORE_MIN = -24 * (GAIN - FAIR),
    SCORE_MAX = 6 * (GAIN - FAIR),
    HIT = 3, /* a page that is wanted makes up for three that are not */
    USEFUL_MAX = 32,
    LONGEST_PCT = 50,   /* percent of memory: a page is waited for that number of events, ... */
    LONGEST_MAX = 4096, /* ... this at most */
    WAIT_SHIFT = 3,     /* weight of a wait in the mean: an eighth */
    /* a slow group waits longer than this times the pages that may be fetched and not used */
    SLOW = 3,
    ROOM_PCT = 75, /* ... percent of which must be free for its pages to be fetched */
    TRIES = 8,     /* pages looked at for one that is out */
    /* classes of time until a page comes back: 0, 1, 2 and 3, .. events; the last: not for long */
    TIMES = 14,
    RETURNS_FIRST = 32, /* returns assumed at first: expect_returns */
    RETURNS_MAX = 1024, /* returns at which all counts are halved */
};

struct group {
    uint16_t wait;  /* mean wait for its pages */
    int16_t score;  /* SCORE_MIN..SCORE_MAX, gains above FAIR */
    int16_t useful; /* -USEFUL_MAX..USEFUL_MAX, by pages that were wanted */
};

enum ask_kind {
    ASK,
    ASK_IF_NONE_OUT, /* asked only if the page asked about before is not out */
    ASK_NOTHING,     /* not asked: the node is known, and whether it is out makes no difference */
};

/* Questions of an expert: about `tries` pages of `group`, the first of which that is out is
 * remembered, then about the pages of its window. */
struct asked {
    uint8_t tries, group, window;
    bool room; /* pages may be fetched, not only touched */
};
enum { RANKS = 1 << (GROUPS - 1), ASKS_MAX = EXPERTS * TRIES + 2 * PREFETCH_FETCH_MAX + RANKS };

struct chooser {
    uint32_t now;                      /* events */
    uint32_t longest;                  /* 1..LONGEST_MAX */
    uint32_t unused_max;               /* pages that may be fetched and not used yet */
    uint32_t left_at;                  /* event at which a page that left was remembered last */
    uint32_t returned, returns[TIMES]; /* pages that came back, in all and by class of time */
    struct group group[REPLACE_REGIONS_MAX][EXPERTS][GROUPS];
    struct shadow predicted[EXPERTS], gone;
    struct streams streams;
    /* Of the last event: its region, and questions by expert. */
    uint8_t region;
    struct asked asked[EXPERTS];
    unsigned asks, answered; /* questions; those before the next one to ask */
    struct prefetch_ask ask[ASKS_MAX];
    struct prefetch_list listed; /* list of the graph */
    uint64_t ppg[PREFETCH_PPG_BYTES / 8];
};
_Static_assert(offsetof(struct chooser, ppg) + PREFETCH_PPG_BYTES == sizeof(struct chooser),
               "the graph's nodes are in a row behind its state");

/* Returns the class of `number`: 0, 1, 2 for 2 and 3, 3 for 4 to 7, .., up to `most`. */
static unsigned power(uint32_t number, unsigned most)
{
    unsigned group = number ? 32 - (unsigned)__builtin_clz(number) : 0;

    return MIN(group, most);
}

static uint32_t age(const struct chooser *c, const struct shadow_mark *mark)
{
    return (uint16_t)(c->now - mark->since);
}

/* ---- When pages come back -------------------------------------------------------------------- */

/*
 * Sets the returns assumed before any page has come back: half of them as likely at any time up to
 * the longest, and the other half evenly over the powers of two. By the first half alone pages of
 * random accesses that happen to be predicted would seem to be wanted before those that left.
 */
static void expect_returns(struct chooser *c)
{
    unsigned last = power(c->longest, TIMES - 2);
    uint32_t left = RETURNS_FIRST / 2;

    for (unsigned time = last; time > 0 && left > 1; time--) {
        c->returns[time] = left / 2;
        left -= left / 2;
    }
    c->returns[0] = left;
    for (unsigned i = 0; i < RETURNS_FIRST / 2; i++)
        c->returns[i % (last + 1)]++;
    c->returned = RETURNS_FIRST;
}

static void count_return(struct chooser *c, unsigned time)
{
    c->returns[time]++;
    if (++c->returned < RETURNS_MAX)
        return;
    c->returned = 0;
    for (unsigned t = 0; t < TIMES; t++)
        c->returned += c->returns[t] /= 2;
}

/* Returns the gain of a page wanted after `events`: GAIN times the share of the pages that left
 * which come back later. */
static int gain(const struct chooser *c, uint32_t events)
{
    unsigned time = power(events, TIMES - 2);
    uint32_t sooner = c->returns[time] / 2;

    for (unsigned t = 0; t < time; t++)
        sooner += c->returns[t];
    return (int)((c->returned - sooner) * GAIN / c->returned);
}

/* Returns the loss of a page that is not wanted for long: FAIR times the share of the pages that
 * left which do come back. */
static int loss(const struct chooser *c)
{
    return (int)((c->returned - c->returns[TIMES - 1]) * FAIR / c->returned);
}

static void chooser_left(void *state, uint32_t node)
{
    struct chooser *c = state;

    if (c->left_at == c->now)
        return;
    c->left_at = c->now;
    shadow_put(&c->gone, (struct shadow_mark){.node = node, .since = (uint16_t)c->now});
}

/* ---- What came of what was predicted --------------------------------------------------------- */

/* Counts the outcome of a predicted page. waited: events; hit: the page was wanted then. */
static void judge_mark(struct chooser *c, enum expert e, const struct shadow_mark *mark,
                       uint32_t waited, bool hit)
{
    struct group *g = &c->group[mark->region][e][mark->rank];
    int score = g->score + (hit ? gain(c, waited) - FAIR : -loss(c)),
        useful = g->useful + (hit ? HIT : -1);

    g->score = (int16_t)MIN(MAX(score, (int)SCORE_MIN), (int)SCORE_MAX);
    g->useful = (int16_t)MIN(MAX(useful, -(int)USEFUL_MAX), (int)USEFUL_MAX);
    g->wait = (uint16_t)(g->wait - (g->wait >> WAIT_SHIFT) + (waited >> WAIT_SHIFT));
    if (e == BY_GRAPH)
        prefetch_ppg.outcome(c->ppg, hit);
}

/* Counts the page, which is wanted, for the experts that predicted it, and its return if it had
 * left. */
static void settle_page(struct chooser *c, uint32_t node)
{
    struct shadow_mark mark;

    for (unsigned e = 0; e < EXPERTS; e++) {
        if (shadow_take(&c->predicted[e], node, &mark))
            judge_mark(c, e, &mark, age(c, &mark), true);
        while (shadow_expired(&c->predicted[e], c->now, c->longest, &mark))
            judge_mark(c, e, &mark, c->longest, false);
    }
    if (shadow_take(&c->gone, node, &mark))
        count_return(c, power(age(c, &mark), TIMES - 2));
    while (shadow_expired(&c->gone, c->now, c->longest, &mark))
        count_return(c, TIMES - 1);
}

/* ---- What experts predict -------------------------------------------------------------------- */

/* An expert's ranking: pages at multiples of a stride, or a list of nodes. */
struct ranking {
    enum expert expert;
    const struct prefetch_use *use;
    int64_t stride;
    const struct prefetch_list *listed; /* NULL: a stride */
};

static unsigned first_rank(unsigned group)
{
    return group ? 1u << (group - 1) : 0;
}

static void ask_rank(struct chooser *c, const struct ranking *r, unsigned rank, enum ask_kind kind)
{
    ASSERT(c->asks < ASKS_MAX);
    c->ask[c->asks++] = (struct prefetch_ask){
        .page = r->use->page + (uint64_t)(r->stride * (rank + 1)),
        .node = r->listed ? (uint32_t)r->listed->page[rank] : PREFETCH_NO_NODE,
        .kind = kind};
}

static bool is_ranked(const struct ranking *r, unsigned rank)
{
    return !r->listed || rank < r->listed->length;
}

static bool is_open(const struct group *g)
{
    return g->score >= 0 && g->useful >= 0;
}

static bool is_slow(const struct chooser *c, const struct group *g)
{
    return g->wait > (uint64_t)SLOW * c->unused_max;
}

/* Returns the number of groups, from the first on, that are open, up to the first slow one if group
 * 0 is not slow. */
static unsigned open_groups(const struct chooser *c, const struct ranking *r)
{
    const struct group *group = c->group[r->use->region][r->expert];
    unsigned g = 0;

    while (g < GROUPS && is_open(&group[g]) && (is_slow(c, &group[0]) || !is_slow(c, &group[g])))
        g++;
    return g;
}

/* Asks about pages of the group, one of which is to be remembered. */
static void ask_group(struct chooser *c, const struct ranking *r, unsigned group)
{
    struct asked *asked = &c->asked[r->expert];
    unsigned first = first_rank(group), size = MAX(first, 1u), start = c->now * 2654435761u >> 16;

    asked->group = (uint8_t)group;
    for (unsigned i = 0; i < MIN(size, (unsigned)TRIES); i++) {
        unsigned rank = first + (start + i) % size;
        if (is_ranked(r, rank))
            ask_rank(c, r, rank, asked->tries++ ? ASK_IF_NONE_OUT : ASK);
    }
}

/* Returns the group of which a page is remembered: in turn the first that is not open, and any. */
static unsigned group_to_remember(const struct chooser *c, unsigned open)
{
    return c->now % 2 ? MIN(open, (unsigned)GROUPS - 1) : c->now / 2 % GROUPS;
}

/* Returns the number of ranks in that number of groups. */
static unsigned ranks_of(unsigned groups)
{
    return groups ? 2 * first_rank(groups - 1) + (groups == 1) : 0;
}

/* Asks about pages of the ranking to be remembered. Returns the number of ranks in the window. */
static unsigned ask_to_remember(struct chooser *c, const struct ranking *r)
{
    unsigned open = open_groups(c, r);

    ask_group(c, r, group_to_remember(c, open));
    return ranks_of(open);
}

/* Returns the number of ranks that this event needs. */
static unsigned ranks_needed(const struct chooser *c, const struct ranking *r)
{
    unsigned open = open_groups(c, r);

    return ranks_of(MAX(open, group_to_remember(c, open) + 1));
}

/* Returns whether the pages of the expert may be fetched now, not only touched. */
static bool has_room(const struct chooser *c, const struct ranking *r,
                     const struct prefetch_list *list)
{
    return !is_slow(c, &c->group[r->use->region][r->expert][0]) ||
           list->fetch > (uint64_t)c->unused_max * ROOM_PCT / 100;
}

/* Asks about the ranks from..to - 1, which are to be listed. */
static void ask_window(struct chooser *c, const struct ranking *r, unsigned from, unsigned to,
                       const struct prefetch_list *list)
{
    struct asked *asked = &c->asked[r->expert];

    asked->room = has_room(c, r, list);
    for (unsigned rank = from; rank < to && is_ranked(r, rank); rank++) {
        ask_rank(c, r, rank, r->listed && asked->room ? ASK_NOTHING : ASK);
        asked->window++;
    }
}

/* Asks about pages of a stream, many together: no more until half of the window has been used. */
static void follow_stream(struct chooser *c, const struct prefetch_use *use,
                          const struct prefetch_list *list, bool fault)
{
    struct stream *s = streams_event(&c->streams, use, fault);

    if (!s)
        return;
    struct ranking r = {.expert = BY_STREAM, .use = use, .stride = s->stride};
    unsigned window = MIN(ask_to_remember(c, &r), (unsigned)PREFETCH_FETCH_MAX), from = s->ahead;
    if (from * 2 > window)
        return;
    ask_window(c, &r, from, window, list);
    s->ahead = (uint16_t)window;
}

static void look_behind(struct chooser *c, const struct prefetch_use *use,
                        const struct prefetch_list *list)
{
    struct ranking r = {.expert = BEHIND, .use = use, .stride = 1};

    ask_window(c, &r, 0, MIN(ask_to_remember(c, &r), (unsigned)PREFETCH_FETCH_MAX), list);
}

static void follow_graph(struct chooser *c, const struct prefetch_use *use,
                         const struct prefetch_list *list, bool fault)
{
    struct ranking r = {.expert = BY_GRAPH, .use = use, .listed = &c->listed};

    c->listed.length = 0;
    c->listed.most = (uint16_t)ranks_needed(c, &r);
    if (fault)
        prefetch_ppg.fault(c->ppg, use, &c->listed);
    else
        prefetch_ppg.first_use(c->ppg, use, &c->listed);
    ask_window(c, &r, 0, ask_to_remember(c, &r), list);
}

/* Remembers the first of the tried pages that is out. */
static void remember_page(struct chooser *c, enum expert e, const struct prefetch_ask *tried)
{
    const struct asked *asked = &c->asked[e];
    unsigned i = 0;

    while (i < asked->tries && !tried[i].out)
        i++;
    if (i < asked->tries)
        shadow_put(&c->predicted[e], (struct shadow_mark){.node = tried[i].node,
                                                          .since = (uint16_t)c->now,
                                                          .region = c->region,
                                                          .rank = asked->group});
}

/* Lists pages of a window: to be fetched, or touched if in memory. */
static void list_window(const struct asked *asked, const struct prefetch_ask *ask,
                        struct prefetch_list *list)
{
    for (unsigned i = 0; i < asked->window && list->length < PREFETCH_LIST_MAX; i++)
        if (ask[i].node != PREFETCH_NO_NODE && (asked->room || !ask[i].out))
            list->page[list->length++] = ask[i].node;
}

/* ---- The policy ------------------------------------------------------------------------------ */

static void chooser_init(void *state, uint32_t nodes)
{
    struct chooser *c = state;

    for (unsigned r = 0; r < REPLACE_REGIONS_MAX; r++)
        for (unsigned e = 0; e < EXPERTS; e++)
            for (unsigned g = 0; g < GROUPS; g++)
                c->group[r][e][g].score = SCORE_FIRST;
    prefetch_ppg.init(c->ppg, nodes);
}

static void chooser_grow(void *state, uint32_t nodes)
{
    struct chooser *c = state;

    prefetch_ppg.grow(c->ppg, nodes);
}

static void chooser_resize(void *state, uint32_t unused_max)
{
    struct chooser *c = state;
    uint64_t part = (uint64_t)unused_max * LONGEST_PCT / PREFETCH_UNUSED_PCT;

    c->longest = (uint32_t)MIN(MAX(part, (uint64_t)1), (uint64_t)LONGEST_MAX);
    c->unused_max = unused_max;
    prefetch_ppg.resize(c->ppg, unused_max);
    if (!c->returned)
        expect_returns(c);
}

static void begin_event(struct chooser *c, const struct prefetch_use *use)
{
    c->now++;
    settle_page(c, use->node);
    c->region = use->region;
    c->asks = c->answered = 0;
    memset(c->asked, 0, sizeof c->asked);
}

static void chooser_fault(void *state, const struct prefetch_use *use, struct prefetch_list *list)
{
    struct chooser *c = state;

    begin_event(c, use);
    follow_stream(c, use, list, true);
    look_behind(c, use, list);
    follow_graph(c, use, list, true);
}

static void chooser_first_use(void *state, const struct prefetch_use *use,
                              struct prefetch_list *list)
{
    struct chooser *c = state;

    begin_event(c, use);
    follow_stream(c, use, list, false);
    follow_graph(c, use, list, false);
}

static struct prefetch_ask *chooser_asks(void *state)
{
    struct chooser *c = state;
    unsigned next = c->answered;
    bool out = next && c->ask[next - 1].out;

    while (next < c->asks &&
           (c->ask[next].kind == ASK_NOTHING || (c->ask[next].kind == ASK_IF_NONE_OUT && out)))
        next++;
    if (next == c->asks)
        return NULL;
    c->answered = next + 1;
    return &c->ask[next];
}

static void chooser_decide(void *state, struct prefetch_list *list)
{
    struct chooser *c = state;
    const struct prefetch_ask *ask = c->ask;

    for (unsigned e = 0; e < EXPERTS; e++) {
        remember_page(c, e, ask);
        ask += c->asked[e].tries;
        list_window(&c->asked[e], ask, list);
        ask += c->asked[e].window;
    }
}

/* Fetched pages are judged like those that are only remembered. */
static void chooser_outcome(void *state, bool soon)
{
    (void)state, (void)soon;
}

static void chooser_forget(void *state, uint32_t node)
{
    struct chooser *c = state;
    struct shadow_mark mark;

    for (unsigned e = 0; e < EXPERTS; e++)
        shadow_take(&c->predicted[e], node, &mark);
    shadow_take(&c->gone, node, &mark);
    prefetch_ppg.forget(c->ppg, node);
}

/* Returns the number of experts that fetch, over all regions. */
static unsigned chooser_level(const void *state)
{
    const struct chooser *c = state;
    unsigned open = 0;

    for (unsigned r = 0; r < REPLACE_REGIONS_MAX; r++)
        for (unsigned e = 0; e < EXPERTS; e++)
            open += is_open(&c->group[r][e][0]);
    return open;
}

static bool in_range(const struct group *g)
{
    return g->wait <= LONGEST_MAX && g->score >= SCORE_MIN && g->score <= SCORE_MAX &&
           g->useful >= -USEFUL_MAX && g->useful <= USEFUL_MAX;
}

static const char *chooser_check(const void *state)
{
    const struct chooser *c = state;
    uint32_t returned = 0;

    for (unsigned t = 0; t < TIMES; t++)
        returned += c->returns[t];
    if (returned != c->returned || returned == 0 || returned >= RETURNS_MAX)
        return "pages that came back are not as many as at all times";
    for (unsigned r = 0; r < REPLACE_REGIONS_MAX; r++)
        for (unsigned e = 0; e < EXPERTS; e++)
            for (unsigned g = 0; g < GROUPS; g++)
                if (!in_range(&c->group[r][e][g]))
                    return "what is thought of an expert is out of range";
    return streams_check(&c->streams) ?: prefetch_ppg.check(c->ppg);
}

const struct prefetch_ops prefetch_chooser = {
    .name = "chooser",
    .unit = PREFETCH_NODES,
    .orders = PREFETCH_ORDERS,
    .bytes = sizeof(struct chooser),
    .per_node = PREFETCH_PPG_NODE_BYTES,
    .init = chooser_init,
    .grow = chooser_grow,
    .resize = chooser_resize,
    .fault = chooser_fault,
    .first_use = chooser_first_use,
    .asks = chooser_asks,
    .decide = chooser_decide,
    .outcome = chooser_outcome,
    .left = chooser_left,
    .forget = chooser_forget,
    .level = chooser_level,
    .check = chooser_check,
};
