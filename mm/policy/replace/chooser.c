/*
 * The chooser: does what the expert among the policies does that has missed least (weigh.h), and is
 * never much worse than the best of them on the whole.
 *
 * Each expert has a memory of its own without pages in it: the *set* of what it would have resident
 * had it been in force all the time. So what each would have missed is known, not estimated, as far
 * as the log has the uses that it would have with that one alone. Memory is made to follow the set
 * of the one in force: pages outside it, *strays*, go first, and when there are none the page goes
 * that leaves the set. A miss of memory that the expert does not have brings a page of the set, so
 * that from when an expert takes over on memory misses no more often than it, but for the pages
 * that were to be fetched. A memory that another has filled does not become what an expert would
 * have by itself: MRU keeps what it finds, what ARC keeps follows from what it once kept, gap knows
 * of a page what it saw. No page is evicted when another takes over.
 *
 * But for strays the one in force does as it does alone: it is asked when memory is short, not when
 * it misses, and told of what leaves.
 *
 * A page in constant use stays in the page access buffer, and is logged no more. So that no set
 * loses it, the buffer is asked about what an expert would have go, as the mechanism does about
 * what memory is to lose. It tells once that the page was used; who did not ask is owed the
 * answer, as long as the buffer keeps the page. What a set has lost all the same may be used there
 * unseen, where the expert alone would miss it: lost pages that the buffer keeps are looked at now
 * and then. And a page that memory has lost comes back with a use that no record would tell of
 * while the buffer keeps it: those who have the page are not told.
 *
 * What a change costs is reckoned by what became of pages of the set that were not resident: used,
 * they would have had to be fetched; if they left the set first, they would not. Pages used only
 * once yet do not tell: nothing comes back on the first pass of anything.
 *
 * Cost: for each access what every expert does with it. No call looks at all pages: when another
 * takes over, pages of memory are looked through a few at a time, whether its set has them, and
 * where memory was taken away sets shrink by a few pages at a time.
 */
#include "mm/policy/replace/list.h"
#include "mm/policy/replace/weigh.h"

static const struct replace_ops *const expert[] = {&replace_lru,         &replace_wtinylfu_margin,
                                                   &replace_lirs_recent, &replace_gap,
                                                   &replace_arc,         &replace_mru};
enum {
    EXPERTS = ARRAY_SIZE(expert),
    ALL = (1 << EXPERTS) - 1,
    UNUSED_LIST = 1,
    MEMBER, /* of either turn, MEMBER and MEMBER + 2: a page of the set in force ... */
    STRAY,  /* ... and STRAY and STRAY + 2: one that is not */
    LISTS = STRAY + 3,
    SORTED = 32,        /* pages that are looked through at an access ... */
    SHRINK_MAX = 32,    /* pages that leave a set in one call, where it is too large */
    ASKED_MAX = 16,     /* so many pages of a set the buffer is asked, for one that goes */
    LOST_MAX = 1024,    /* pages that are looked at, ... */
    LOST_FOR = 4,       /* ... after so many accesses at first, ... */
    LOST_TURNS = 4,     /* ... and after twice as many each time that it was not used, */
    LOOKS = 8,          /* ... at most so many at an access */
    LOOKED_AT = 1 << 7, /* beside what is owed: it is one of these */
    FATES = 4,          /* N pages whose fate is known: then they are halved */
    FATES_FIRST = 16,   /* N / 16 are taken for used at first */
};

/* What the chooser has of a page besides its link. */
struct page_state {
    uint8_t owed; /* a bit for each expert that is to hear of its latest use, and LOOKED_AT */
    uint8_t uses; /* up to 2 */
    uint8_t spare[6];
};

struct chooser {
    uint32_t nodes, frames;
    uint64_t switches;
    uint32_t current; /* expert in force */
    uint32_t until;   /* accesses to the next decision */
    /* the latest victim, until anything else is said: touched at once, it is in use now */
    uint32_t offered;
    bool newest; /* of strays the latest used goes next, and then the one used longest ago */
    uint32_t size[EXPERTS]; /* of its set ... */
    uint32_t far[EXPERTS];  /* ... pages that are not resident; what became of such: */
    /* no set but that in force has more pages */
    /* its state, in bytes from this one's start */
    /* accesses */
    /* of lost[]: the first that is none; LOST_MAX: all are */
    uint32_t used[EXPERTS], unused_left[EXPERTS];
    uint32_t largest;
    uint64_t at[EXPERTS];
    uint32_t now;
    uint32_t lost_free;
    struct lost_queue {
        uint32_t first, last;
    } waiting[LOST_TURNS]; /* by how long they wait, each in the order in which they were put */
    struct lost {
        uint32_t node, put, next; /* put: by the number of accesses; next: LOST_MAX: none */
    } lost[LOST_MAX];
    enum page_buffered (*in_buffer)(const void *whose, uint32_t node);
    const void *whose;
    struct weigh weigh;
    /*
     * Resident pages, latest use first: members of the set in force and strays. When another takes
     * over both are of the turn before, and are looked through, members first.
     */
    uint32_t turn; /* 0 or 2: lists MEMBER + turn and STRAY + turn are of the one in force */
    struct replace_list list[LISTS]; /* by number, but UNUSED_LIST */
    struct replace_unused unused;
    struct replace_links link; /* of resident pages */
};

/* ---- Memory: a state for each expert behind this one's; of a node the link, what each expert has
 * of it, and what they are owed ---- */

/* Of the experts: a link, and what W-TinyLFU, LIRS and `gap` have besides. */
#define OWED_AT  (9 * sizeof(struct replace_link) + 16)
#define PER_NODE (OWED_AT + sizeof(struct page_state))

static size_t expert_bytes(uint32_t i)
{
    return expert[i]->bytes(8) - 8 * expert[i]->per_node;
}

static size_t states_bytes(void)
{
    size_t bytes = sizeof(struct chooser);

    for (uint32_t i = 0; i < EXPERTS; i++)
        bytes += expert_bytes(i);
    return bytes;
}

static size_t chooser_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, states_bytes(), PER_NODE);
}

static struct page_state *page_of(const struct chooser *s, uint32_t node)
{
    return (struct page_state *)((char *)link_of(&s->link, node) + OWED_AT);
}

static uint8_t *owed(const struct chooser *s, uint32_t node)
{
    return &page_of(s, node)->owed;
}

static void *state_of(const struct chooser *s, uint32_t i)
{
    return (char *)(uintptr_t)s + s->at[i];
}

static int init_experts(struct chooser *s, const struct replace_config *config,
                        const struct replace_layout *place)
{
    size_t at = sizeof *s, within = sizeof(struct replace_link);
    int rc = 0;

    for (uint32_t i = 0; i < EXPERTS && !rc; i++) {
        struct replace_config its = *config;
        its.place = (struct replace_layout){.at = place->at + (int64_t)(within - at),
                                            .stride = place->stride};
        s->at[i] = at;
        rc = expert[i]->init(state_of(s, i), &its);
        at += expert_bytes(i);
        within += expert[i]->per_node;
    }
    ASSERT(rc || within == OWED_AT);
    return rc;
}

static int chooser_init(void *state, const struct replace_config *config)
{
    struct chooser *s = state;
    const struct replace_ops *first =
        config->first ? replace_find(config->first) : &replace_wtinylfu_margin;
    struct replace_layout place = replace_layout(config, states_bytes(), PER_NODE);
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct chooser){.nodes = config->nodes,
                          .frames = config->frames,
                          .until = weigh_interval(config->frames),
                          .in_buffer = config->in_buffer,
                          .whose = config->whose,
                          .largest = config->frames,
                          .offered = LINK_END};
    while (s->current < EXPERTS && expert[s->current] != first)
        s->current++;
    if (s->current == EXPERTS)
        return -EINVAL;
    weigh_init(&s->weigh, EXPERTS);
    for (uint32_t i = MEMBER; i < LISTS; i++)
        list_init(&s->list[i], i);
    for (uint32_t i = 0; i < LOST_MAX; i++)
        s->lost[i].next = i + 1;
    for (uint32_t i = 0; i < LOST_TURNS; i++)
        s->waiting[i].first = LOST_MAX;
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    return init_experts(s, config, &place);
}

static void chooser_grow(void *state, uint32_t nodes)
{
    struct chooser *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
    for (uint32_t i = 0; i < EXPERTS; i++)
        expert[i]->grow(state_of(s, i), nodes);
}

/* ---- Memory, and the sets -------------------------------------------------------------------- */

static bool resident(const struct chooser *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list != LIST_NONE;
}

static bool chooser_resident(const void *state, uint32_t node)
{
    return resident(state, node);
}

static bool in_set(const struct chooser *s, uint32_t i, uint32_t node)
{
    return expert[i]->resident(state_of(s, i), node);
}

static struct replace_list *members(struct chooser *s)
{
    return &s->list[MEMBER + s->turn];
}

static struct replace_list *strays(struct chooser *s)
{
    return &s->list[STRAY + s->turn];
}

static void take_out(struct chooser *s, uint32_t node)
{
    uint32_t list = link_of(&s->link, node)->list;

    if (list == UNUSED_LIST)
        unused_remove(&s->link, &s->unused, node);
    else
        list_remove(&s->link, &s->list[list], node);
}

static void member(struct chooser *s, uint32_t node)
{
    take_out(s, node);
    list_push_head(&s->link, members(s), node);
}

/* A prefetched page waits for its use whatever is thought of it; one of the turn before is looked
 * at yet. */
static void stray(struct chooser *s, uint32_t node)
{
    if (link_of(&s->link, node)->list != members(s)->id)
        return;
    list_remove(&s->link, members(s), node);
    list_push_head(&s->link, strays(s), node);
}

/* Pages of the turn before: the list that has the latest used of them, or the one that has those
 * used longest ago. */
static struct replace_list *unsorted(struct chooser *s, bool latest)
{
    struct replace_list *first = &s->list[(latest ? MEMBER : STRAY) + 2 - s->turn],
                        *second = &s->list[(latest ? STRAY : MEMBER) + 2 - s->turn];

    return first->size ? first : second;
}

static void sort_one(struct chooser *s, bool latest)
{
    struct replace_list *before = unsorted(s, latest);
    uint32_t node = latest ? before->head : before->tail;

    list_remove(&s->link, before, node);
    list_push_tail(&s->link, in_set(s, s->current, node) ? members(s) : strays(s), node);
}

/* Looks through so many of them. Whether that is all. */
static bool sort(struct chooser *s, uint32_t pages)
{
    while (pages-- && unsorted(s, true)->size)
        sort_one(s, true);
    return unsorted(s, true)->size == 0;
}

/* There is a stray to go, if one is among the latest used or among those used longest ago. */
static void sort_for_a_stray(struct chooser *s)
{
    sort(s, LOOKS_MAX);
    for (uint32_t looks = 0; looks < LOOKS_MAX && !strays(s)->size && unsorted(s, false)->size;
         looks++)
        sort_one(s, false);
}

/* It waits for a look behind the others. */
static void push_lost(struct chooser *s, uint32_t at, uint32_t turn)
{
    struct lost_queue *q = &s->waiting[turn];

    s->lost[at].put = s->now;
    s->lost[at].next = LOST_MAX;
    if (q->first == LOST_MAX)
        q->first = at;
    else
        s->lost[q->last].next = at;
    q->last = at;
}

/* A set has lost the page. */
static void note_lost(struct chooser *s, uint32_t node)
{
    uint32_t at = s->lost_free;

    if (at == LOST_MAX || (*owed(s, node) & LOOKED_AT))
        return;
    *owed(s, node) |= LOOKED_AT;
    s->lost_free = s->lost[at].next;
    s->lost[at].node = node;
    push_lost(s, at, 0);
}

static void set_leave(struct chooser *s, uint32_t i, uint32_t node)
{
    expert[i]->leave(state_of(s, i), node);
    s->size[i]--;
    *owed(s, node) &= ~(1u << i);
    if (!resident(s, node)) {
        s->far[i]--;
        s->unused_left[i] += page_of(s, node)->uses > 1;
    } else if (i == s->current) {
        stray(s, node);
    }
}

/* These are to hear of its latest use, and no others. */
static void owe(struct chooser *s, uint32_t node, uint32_t experts)
{
    *owed(s, node) = (*owed(s, node) & LOOKED_AT) | experts;
}

/* Whoever asks, all are owed the answer. */
static enum page_buffered in_buffer(struct chooser *s, uint32_t node)
{
    enum page_buffered is = s->in_buffer ? s->in_buffer(s->whose, node) : BUFFER_UNKNOWN;

    if (is == BUFFER_USED || is == BUFFER_NOT_KEPT)
        owe(s, node, is == BUFFER_USED ? ALL : 0);
    return is;
}

/* Has the page been used in the buffer since the expert heard of it last? */
static bool hears_of_use(struct chooser *s, uint32_t i, uint32_t node)
{
    bool heard = *owed(s, node) >> i & 1;

    *owed(s, node) &= ~(1u << i);
    return heard;
}

/* As far as one call goes. */
static void set_make_room(struct chooser *s, uint32_t i, uint32_t incoming, uint32_t left)
{
    for (uint32_t asked = 0, gone = 0; s->size[i] > left && gone < SHRINK_MAX;) {
        uint32_t node = expert[i]->victim(state_of(s, i), incoming);
        bool asks = asked++ < ASKED_MAX;
        enum page_buffered is = asks ? in_buffer(s, node) : BUFFER_KEPT;
        if (asks && hears_of_use(s, i, node)) {
            expert[i]->touch(state_of(s, i), node);
            continue;
        }
        set_leave(s, i, node);
        if (is == BUFFER_KEPT && resident(s, node))
            note_lost(s, node);
        asked = 0;
        gone++;
    }
}

/* A resident page is used. Whether the expert would have missed. The one in force is asked when
 * memory is short, which is when it would be alone, once all of its set is there. */
static bool set_use(struct chooser *s, uint32_t i, uint32_t node)
{
    if (in_set(s, i, node)) {
        expert[i]->touch(state_of(s, i), node);
        return false;
    }
    if (i != s->current || s->far[i])
        set_make_room(s, i, node, s->frames - 1);
    expert[i]->enter(state_of(s, i), node, 0);
    s->size[i]++;
    return true;
}

static uint32_t lacking(const struct chooser *s, uint32_t node)
{
    uint32_t lack = 0;

    for (uint32_t i = 0; i < EXPERTS; i++)
        lack |= (uint32_t)!in_set(s, i, node) << i;
    return lack;
}

/* The page has been used in the buffer; of those that are to hear of it, those that lack it would
 * have missed. */
static void miss_late(struct chooser *s, uint32_t node)
{
    uint32_t lack = lacking(s, node) & *owed(s, node);

    if (lack >> s->current & 1)
        member(s, node);
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (lack >> i & 1)
            set_use(s, i, node);
    weigh_count_late(&s->weigh, lack);
    *owed(s, node) &= ~lack;
}

/* Whether the page is to be looked at again. */
static bool look_at(struct chooser *s, uint32_t node)
{
    bool kept = resident(s, node) && in_buffer(s, node) >= BUFFER_KEPT;

    *owed(s, node) &= ~LOOKED_AT;
    if (!kept)
        return false;
    miss_late(s, node);
    if (!lacking(s, node))
        return false;
    *owed(s, node) |= LOOKED_AT;
    return true;
}

static void look_at_first(struct chooser *s, uint32_t turn)
{
    uint32_t at = s->waiting[turn].first;

    s->waiting[turn].first = s->lost[at].next;
    if (look_at(s, s->lost[at].node)) {
        push_lost(s, at, MIN(turn + 1, LOST_TURNS - 1u));
        return;
    }
    s->lost[at].next = s->lost_free;
    s->lost_free = at;
}

/* Of the pages that sets have lost those whose turn it is. */
static void look_at_lost(struct chooser *s)
{
    uint32_t looks = 0;

    for (uint32_t turn = 0; turn < LOST_TURNS; turn++) {
        uint32_t *first = &s->waiting[turn].first;
        for (; *first != LOST_MAX && looks < LOOKS &&
               s->now - s->lost[*first].put >= (uint32_t)LOST_FOR << turn;
             looks++)
            look_at_first(s, turn);
    }
}

/* ---- Decisions ------------------------------------------------------------------------------- */

/* All pages of the turn before have been looked through. */
static void take_over(struct chooser *s, uint32_t next)
{
    set_make_room(s, s->current, REPLACE_NONE, s->frames);
    s->current = next;
    s->switches++;
    s->turn = 2 - s->turn;
}

/* Of the pages of its set that are not resident, those to be fetched, by what became of others. */
static uint32_t to_fetch(struct chooser *s, uint32_t i)
{
    uint64_t used = s->used[i] + s->frames / FATES_FIRST + 1, all = used + s->unused_left[i];

    if (all > (uint64_t)FATES * s->frames) {
        s->used[i] /= 2;
        s->unused_left[i] /= 2;
    }
    return (uint32_t)(s->far[i] * used / all);
}

static void decide(struct chooser *s)
{
    uint32_t fetches[EXPERTS];

    s->until = weigh_interval(s->frames);
    for (uint32_t i = 0; i < EXPERTS; i++)
        fetches[i] = to_fetch(s, i);
    uint32_t next = weigh_decide(&s->weigh, s->current, fetches, s->frames);
    if (next != s->current)
        take_over(s, next);
    s->largest = s->frames;
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (i != s->current)
            s->largest = MAX(s->largest, s->size[i]);
}

/* The lists have it as used. kept: by the buffer, so that who has it would not be told. */
static void used(struct chooser *s, uint32_t node, bool kept)
{
    uint32_t told = kept ? lacking(s, node) : ALL, missed = 0;
    struct page_state *page = page_of(s, node);

    page->uses = (uint8_t)MIN(page->uses + 1, 2);
    owe(s, node, ALL & ~told);
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (told >> i & 1)
            missed |= (uint32_t)set_use(s, i, node) << i;
    weigh_count(&s->weigh, missed);
    s->now++;
    look_at_lost(s);
    bool sorted = sort(s, SORTED);
    s->until -= s->until > 0;
    if (s->until == 0 && sorted)
        decide(s);
}

/* ---- What it is told ------------------------------------------------------------------------- */

static void chooser_touch(void *state, uint32_t node)
{
    struct chooser *s = state;

    ASSERT(resident(s, node));
    bool first = link_of(&s->link, node)->list == UNUSED_LIST, named = node == s->offered;
    s->offered = LINK_END;
    member(s, node);
    if (named && !first) {
        /* It is used in the buffer: who named it hears of it, the others when they name it. */
        owe(s, node, ALL & ~(1u << s->current));
        set_use(s, s->current, node);
    } else {
        used(s, node, first && in_buffer(s, node) >= BUFFER_KEPT);
    }
}

/* It is resident now. */
static void came(struct chooser *s, uint32_t node, bool used)
{
    s->offered = LINK_END;
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (in_set(s, i, node)) {
            s->far[i]--;
            s->used[i] += used;
        }
}

static void chooser_enter(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, members(s), node);
    came(s, node, true);
    used(s, node, in_buffer(s, node) >= BUFFER_KEPT);
}

static void chooser_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->unused.list, node);
    came(s, node, false);
}

/* The one in force hears of a use in the buffer that another has asked about. */
static void owed_touch(struct chooser *s, uint32_t node)
{
    member(s, node);
    set_use(s, s->current, node);
}

/*
 * While there are strays the set is to become no larger than memory, and they go, from both ends in
 * turn: in a loop the one used longest ago is used next, on the way back the latest, and each that
 * goes too soon has another one go.
 */
static uint32_t next_stray(struct chooser *s, uint32_t incoming)
{
    bool comes = incoming != REPLACE_NONE && !in_set(s, s->current, incoming);

    set_make_room(s, s->current, incoming, s->frames - comes);
    s->newest = !s->newest;
    return s->newest ? strays(s)->tail : strays(s)->head;
}

/* What the one in force would have go; after some that are not resident any. */
static uint32_t next_member(struct chooser *s, uint32_t incoming)
{
    uint32_t i = s->current, node;

    for (uint32_t looks = 0; looks < LOOKS_MAX; looks++) {
        node = expert[i]->victim(state_of(s, i), incoming);
        if (node == REPLACE_NONE || link_of(&s->link, node)->list >= MEMBER)
            return node;
        set_leave(s, i, node);
    }
    node = members(s)->size ? members(s)->tail : strays(s)->tail;
    return list_named(node);
}

static uint32_t choose(struct chooser *s, uint32_t incoming)
{
    sort_for_a_stray(s);
    for (uint32_t looks = 0;; looks++) {
        uint32_t node = strays(s)->size ? next_stray(s, incoming) : next_member(s, incoming);
        if (node == REPLACE_NONE)
            return s->unused.list.tail;
        if (looks == LOOKS_MAX || !(*owed(s, node) >> s->current & 1))
            return node;
        in_buffer(s, node);
        if (!hears_of_use(s, s->current, node))
            return node;
        owed_touch(s, node);
    }
}

static uint32_t chooser_victim(void *state, uint32_t incoming)
{
    struct chooser *s = state;
    uint32_t due = unused_due(&s->unused, s->frames);

    if (s->offered == LINK_END)
        s->offered = due != LINK_END ? due : choose(s, incoming);
    return list_named(s->offered);
}

static void chooser_leave(void *state, uint32_t node)
{
    struct chooser *s = state;

    ASSERT(resident(s, node));
    s->offered = LINK_END;
    if (link_of(&s->link, node)->list != UNUSED_LIST)
        unused_pass(&s->unused);
    take_out(s, node);
    for (uint32_t i = 0; i < EXPERTS; i++)
        s->far[i] += in_set(s, i, node);
    if (in_set(s, s->current, node))
        set_leave(s, s->current, node);
}

static void chooser_forget(void *state, uint32_t node)
{
    struct chooser *s = state;
    bool was = resident(s, node);

    for (uint32_t i = 0; i < EXPERTS; i++) {
        bool in = in_set(s, i, node);
        s->size[i] -= in;
        s->far[i] -= in && !was;
        expert[i]->forget(state_of(s, i), node);
    }
    owe(s, node, 0);
    page_of(s, node)->uses = 0;
    if (was)
        take_out(s, node);
    if (s->offered == node)
        s->offered = LINK_END;
}

static void chooser_resize(void *state, uint32_t frames)
{
    struct chooser *s = state;

    ASSERT(frames > 0);
    s->largest = MAX(s->largest, frames);
    s->frames = frames;
    for (uint32_t i = 0; i < EXPERTS; i++) {
        expert[i]->resize(state_of(s, i), frames);
        if (i != s->current)
            set_make_room(s, i, REPLACE_NONE, frames);
    }
    s->until = MIN(s->until, weigh_interval(frames));
}

static void chooser_report(const void *state, struct replace_report *out)
{
    const struct chooser *s = state;

    expert[s->current]->report(state_of(s, s->current), out);
    out->resident = s->unused.list.size;
    for (uint32_t i = MEMBER; i < LISTS; i++)
        out->resident += s->list[i].size;
    out->switches = s->switches;
    out->experts = EXPERTS;
    for (uint32_t i = 0; i < EXPERTS; i++) {
        out->expert[i].policy = expert[i]->name;
        out->expert[i].misses = s->weigh.misses[i];
    }
}

static const char *set_check(const struct chooser *s, uint32_t i)
{
    const char *broken = expert[i]->check(state_of(s, i));
    struct replace_report report;
    uint32_t far = 0;

    if (broken)
        return broken;
    for (uint32_t n = 0; n < s->nodes; n++)
        far += in_set(s, i, n) && !resident(s, n);
    expert[i]->report(state_of(s, i), &report);
    if (report.resident != s->size[i] || (i != s->current && s->size[i] > s->largest))
        return "chooser: a set is miscounted";
    return far == s->far[i] ? NULL : "chooser: pages of a set that are not resident are miscounted";
}

static const char *chooser_check(const void *state)
{
    const struct chooser *s = state;
    const char *broken = list_check(&s->link, s->nodes, &s->unused.list);

    for (uint32_t i = MEMBER; i < LISTS && !broken; i++)
        broken = list_check(&s->link, s->nodes, &s->list[i]);
    for (uint32_t i = 0; i < EXPERTS && !broken; i++)
        broken = set_check(s, i);
    for (uint32_t n = 0; n < s->nodes && !broken; n++)
        if (link_of(&s->link, n)->list == MEMBER + s->turn && !in_set(s, s->current, n))
            broken = "chooser: a page outside the set in force is no stray";
    return broken;
}

const struct replace_ops replace_chooser = {
    .name = "chooser",
    .per_node = PER_NODE,
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
