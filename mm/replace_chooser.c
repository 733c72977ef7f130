/*
 * The chooser: does what the expert among the policies does that has missed least (replace_weigh.h), and is never much worse than the best of
 * them on the whole.
 *
 * Each expert has a memory of its own without pages in it: the *set* of what it would have resident had it been in force all the time.
 * So what each would have missed is known, not estimated, as far as the log has the uses that it would have with that one alone.  Memory is made
 * to follow the set of the one in force: pages outside it, *strays*, go first, and when there are none the page goes that leaves the set.  A miss
 * of memory that the expert does not have brings a page of the set, so that from when an expert takes over on memory misses no more often than it,
 * but for the pages that were to be fetched.
 * A memory that another has filled does not become what an expert would have by itself: MRU keeps what it finds, what ARC
 * keeps follows from what it once kept, gap knows of a page what it saw.  No page is evicted when another takes over.
 *
 * But for strays the one in force does as it does alone: it is asked when memory is short, not when it misses, and told of what leaves.
 *
 * A page in constant use stays in the page access buffer, and is logged no more.  So that no set loses it, the buffer is asked about what an
 * expert would have go, as the mechanism does about what memory is to lose.  It tells once that the page was used; who did not ask is owed
 * the answer, as long as the buffer keeps the page.  What a set has lost all the same may be used there unseen, where the expert alone would
 * miss it: lost pages that the buffer keeps are looked at now and then.  And a page that memory has lost comes back with a use that no record
 * would tell of while the buffer keeps it: those who have the page are not told.
 *
 * Cost: for each access what every expert does with it.
 */
#include "mm/replace_list.h"
#include "mm/replace_weigh.h"

static const struct replace_ops *const expert[] = {&replace_lru, &replace_clock, &replace_lirs_recent,
                                                   &replace_gap, &replace_arc,   &replace_mru};
enum {
    EXPERTS = ARRAY_SIZE(expert),
    ALL = (1 << EXPERTS) - 1,
    MEMBER = 1,
    STRAY,
    UNUSED_LIST,
    ASKED_MAX = 16,     /* so many pages of a set the buffer is asked, for one that goes */
    LOST_MAX = 1024,    /* pages that are looked at ...                                        */
    LOST_FOR = 16,      /* ... after so many accesses at least, and ...                        */
    LOST_STILL = 32,    /* ... after so many when nobody had used it                           */
    LOOKS = 8,          /* ... at most so many at an access                                    */
    LOOKED_AT = 1 << 7, /* beside what is owed: it is one of these                             */
};

struct chooser {
    uint32_t nodes, frames;
    uint64_t switches;
    uint32_t current; /* expert in force         */
    uint32_t until;   /* accesses to the next decision */
    uint32_t offered; /* the latest victim, until anything else is said: touched at once, it is in use now */
    bool newest;      /* of strays the latest used goes next, and then the one used longest ago */
    uint32_t size[EXPERTS]; /* of its set ...            */
    uint32_t far[EXPERTS];  /* ... pages that are not resident */
    uint64_t at[EXPERTS];   /* its state, in bytes from this one's start */
    uint32_t now;           /* accesses */
    uint32_t lost_first, lost_size;
    /* A ring.  By the number of accesses: lost or looked at last, in its place, and so many to the next look. */
    struct lost {
        uint32_t node, since, put, wait;
    } lost[LOST_MAX];
    enum page_buffered (*in_buffer)(const void *whose, uint32_t node);
    const void *whose;
    struct weigh weigh;
    struct replace_list members; /* of the set in force, latest use first */
    struct replace_list strays;  /* likewise when it took over; what left the set since is first */
    struct replace_unused unused;
    struct replace_links link; /* of resident pages */
};

/* ---- Memory: a state for each expert behind this one's; of a node the link, what each expert has of it, and what they are owed ---- */

/* Of the experts: a link, and what LIRS and `gap` have besides. */
#define OWED_AT  (8 * sizeof(struct replace_link) + 16)
#define PER_NODE (OWED_AT + sizeof(uint64_t))

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

static uint8_t *owed(const struct chooser *s, uint32_t node)
{
    return (uint8_t *)link_of(&s->link, node) + OWED_AT;
}

static void *state_of(const struct chooser *s, uint32_t i)
{
    return (char *)(uintptr_t)s + s->at[i];
}

static int init_experts(struct chooser *s, const struct replace_config *config,
                        const struct replace_place *place)
{
    size_t at = sizeof *s, within = sizeof(struct replace_link);
    int rc = 0;

    for (uint32_t i = 0; i < EXPERTS && !rc; i++) {
        struct replace_config its = *config;
        its.place = (struct replace_place){.at = place->at + (int64_t)(within - at), .stride = place->stride};
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
    const struct replace_ops *first = config->first ? replace_find(config->first) : &replace_lirs_recent;
    struct replace_place place = replace_place(config, states_bytes(), PER_NODE);
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct chooser){.nodes = config->nodes,
                          .frames = config->frames,
                          .until = weigh_interval(config->frames),
                          .in_buffer = config->in_buffer,
                          .whose = config->whose,
                          .offered = LINK_END};
    while (s->current < EXPERTS && expert[s->current] != first)
        s->current++;
    if (s->current == EXPERTS)
        return -EINVAL;
    weigh_init(&s->weigh, EXPERTS);
    list_init(&s->members, MEMBER);
    list_init(&s->strays, STRAY);
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

/* ---- Memory, and the sets ---- */

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

static void take_out(struct chooser *s, uint32_t node)
{
    if (link_of(&s->link, node)->list == UNUSED_LIST)
        unused_remove(&s->link, &s->unused, node);
    else
        list_remove(&s->link, link_of(&s->link, node)->list == MEMBER ? &s->members : &s->strays, node);
}

static void member(struct chooser *s, uint32_t node)
{
    take_out(s, node);
    list_push_head(&s->link, &s->members, node);
}

/* A prefetched page waits for its use whatever is thought of it. */
static void stray(struct chooser *s, uint32_t node)
{
    if (link_of(&s->link, node)->list != MEMBER)
        return;
    list_remove(&s->link, &s->members, node);
    list_push_head(&s->link, &s->strays, node);
}

/* It waits for a look behind the others. */
static void push_lost(struct chooser *s, struct lost lost)
{
    lost.put = s->now;
    s->lost[(s->lost_first + s->lost_size++) % LOST_MAX] = lost;
}

/* A set has lost the page. */
static void note_lost(struct chooser *s, uint32_t node)
{
    if (s->lost_size == LOST_MAX || (*owed(s, node) & LOOKED_AT))
        return;
    *owed(s, node) |= LOOKED_AT;
    push_lost(s, (struct lost){.node = node, .wait = LOST_FOR, .since = s->now});
}

static void set_leave(struct chooser *s, uint32_t i, uint32_t node)
{
    expert[i]->leave(state_of(s, i), node);
    s->size[i]--;
    if (!resident(s, node))
        s->far[i]--;
    else if (i == s->current)
        stray(s, node);
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

static void set_make_room(struct chooser *s, uint32_t i, uint32_t incoming, uint32_t left)
{
    for (uint32_t asked = 0; s->size[i] > left;) {
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
    }
}

/* A resident page is used.  Whether the expert would have missed.  The one in force is asked when memory is short, which is when it would be
 * alone, once all of its set is there. */
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

/* The page has been used in the buffer since it was looked at last: who lacks it would have missed. */
static void miss_late(struct chooser *s, uint32_t node)
{
    uint32_t lack = lacking(s, node);

    if (lack >> s->current & 1)
        member(s, node);
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (lack >> i & 1)
            set_use(s, i, node);
    weigh_count_late(&s->weigh, lack);
    *owed(s, node) &= ~lack;
}

/* Whether the page is to be looked at again. */
static bool look_at(struct chooser *s, struct lost *lost)
{
    enum page_buffered is = resident(s, lost->node) ? in_buffer(s, lost->node) : BUFFER_NOT_KEPT;

    *owed(s, lost->node) &= ~LOOKED_AT;
    if (is == BUFFER_USED)
        miss_late(s, lost->node);
    if (is != BUFFER_KEPT)
        return false;
    *owed(s, lost->node) |= LOOKED_AT;
    lost->since = s->now;
    lost->wait = LOST_STILL;
    return true;
}

/* Of the pages that sets have lost those whose turn it is. */
static void look_at_lost(struct chooser *s)
{
    for (uint32_t looks = 0; looks < LOOKS && s->lost_size; looks++) {
        struct lost lost = s->lost[s->lost_first % LOST_MAX];
        if (s->now - lost.put < LOST_FOR)
            break;
        s->lost_first++;
        s->lost_size--;
        if (s->now - lost.since < lost.wait || look_at(s, &lost))
            push_lost(s, lost);
    }
}

/* ---- Decisions ---- */

static void take_over(struct chooser *s, uint32_t next)
{
    uint32_t before;

    set_make_room(s, s->current, REPLACE_NONE, s->frames);
    s->current = next;
    s->switches++;
    for (uint32_t n; (n = s->strays.head) != LINK_END;) {
        list_remove(&s->link, &s->strays, n);
        list_push_tail(&s->link, &s->members, n);
    }
    for (uint32_t n = s->members.tail; n != LINK_END; n = before) {
        before = link_of(&s->link, n)->prev;
        if (!in_set(s, next, n))
            stray(s, n);
    }
}

/* The lists have it as used.  kept: by the buffer, so that who has it would not be told. */
static void used(struct chooser *s, uint32_t node, bool kept)
{
    uint32_t told = kept ? lacking(s, node) : ALL, missed = 0;

    owe(s, node, ALL & ~told);
    for (uint32_t i = 0; i < EXPERTS; i++)
        if (told >> i & 1)
            missed |= (uint32_t)set_use(s, i, node) << i;
    weigh_count(&s->weigh, missed);
    s->now++;
    look_at_lost(s);
    if (--s->until)
        return;
    s->until = weigh_interval(s->frames);
    uint32_t next = weigh_decide(&s->weigh, s->current, s->far, s->frames);
    if (next != s->current)
        take_over(s, next);
}

/* ---- What it is told ---- */

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
static void came(struct chooser *s, uint32_t node)
{
    s->offered = LINK_END;
    for (uint32_t i = 0; i < EXPERTS; i++)
        s->far[i] -= in_set(s, i, node);
}

static void chooser_enter(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->members, node);
    came(s, node);
    used(s, node, in_buffer(s, node) >= BUFFER_KEPT);
}

static void chooser_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct chooser *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->unused.list, node);
    came(s, node);
}

/* The one in force hears of a use in the buffer that another has asked about. */
static void owed_touch(struct chooser *s, uint32_t node)
{
    member(s, node);
    set_use(s, s->current, node);
}

/*
 * While there are strays the set is to become no larger than memory, and they go, from both ends in turn: in a loop the one used longest ago is
 * used next, on the way back the latest, and each that goes too soon has another one go.
 */
static uint32_t next_stray(struct chooser *s, uint32_t incoming)
{
    bool comes = incoming != REPLACE_NONE && !in_set(s, s->current, incoming);

    set_make_room(s, s->current, incoming, s->frames - comes);
    s->newest = !s->newest;
    return s->newest ? s->strays.tail : s->strays.head;
}

/* What the one in force would have go. */
static uint32_t next_member(struct chooser *s, uint32_t incoming)
{
    uint32_t i = s->current, node;

    while ((node = expert[i]->victim(state_of(s, i), incoming)) != REPLACE_NONE &&
           link_of(&s->link, node)->list != MEMBER)
        set_leave(s, i, node);
    return node;
}

static uint32_t choose(struct chooser *s, uint32_t incoming)
{
    for (;;) {
        uint32_t node = s->strays.size ? next_stray(s, incoming) : next_member(s, incoming);
        if (node == REPLACE_NONE)
            return s->unused.list.tail;
        if (!(*owed(s, node) >> s->current & 1))
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
    if (was)
        take_out(s, node);
    if (s->offered == node)
        s->offered = LINK_END;
}

static void chooser_resize(void *state, uint32_t frames)
{
    struct chooser *s = state;

    ASSERT(frames > 0);
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
    out->resident = s->members.size + s->strays.size + s->unused.list.size;
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
    if (report.resident != s->size[i] || (i != s->current && s->size[i] > s->frames))
        return "chooser: a set is miscounted";
    return far == s->far[i] ? NULL : "chooser: pages of a set that are not resident are miscounted";
}

static const char *chooser_check(const void *state)
{
    const struct chooser *s = state;
    const char *broken = list_check(&s->link, s->nodes, &s->members);

    if (!broken)
        broken = list_check(&s->link, s->nodes, &s->strays);
    if (!broken)
        broken = list_check(&s->link, s->nodes, &s->unused.list);
    for (uint32_t i = 0; i < EXPERTS && !broken; i++)
        broken = set_check(s, i);
    for (uint32_t n = 0; n < s->nodes && !broken; n++)
        if (link_of(&s->link, n)->list == MEMBER && !in_set(s, s->current, n))
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
