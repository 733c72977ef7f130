/*
 * SIEVE [Zhang et al., NSDI 2024]. Pages in the order in which they came, the latest at the head,
 * each with a mark that a use after its coming sets. A hand goes from the tail to the head, and
 * again from the tail, clears marks, and stops at the first page without one, which goes. Unlike
 * CLOCK's, pages that the hand has passed stay where they are, and new ones come at the head.
 *
 * Beyond the paper: the hand passes LOOKS_MAX pages for a victim at most, then the next page goes;
 * prefetched pages wait apart for their first use.
 */
#include "mm/policy/replace/list.h"

enum { RESIDENT = 1, UNUSED_LIST, USED = 1 };

struct sieve {
    uint32_t nodes, frames;
    uint32_t hand; /* the page to be looked at next, LINK_END: the tail */
    uint32_t spare;
    struct replace_list queue;
    struct replace_unused unused;
    struct replace_links link;
};

static size_t sieve_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct sieve), sizeof(struct replace_link));
}

static int sieve_init(void *state, const struct replace_config *config)
{
    struct sieve *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct replace_link));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct sieve){.nodes = config->nodes, .frames = config->frames, .hand = LINK_END};
    list_init(&s->queue, RESIDENT);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    return 0;
}

static void sieve_grow(void *state, uint32_t nodes)
{
    struct sieve *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

static void sieve_enter(void *state, uint32_t node, uint32_t region)
{
    struct sieve *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->queue, node);
}

static void sieve_touch(void *state, uint32_t node)
{
    struct sieve *s = state;

    ASSERT(node < s->nodes && link_of(&s->link, node)->list != LIST_NONE);
    if (link_of(&s->link, node)->list == RESIDENT) {
        link_of(&s->link, node)->mark = USED;
        return;
    }
    unused_remove(&s->link, &s->unused, node);
    list_push_head(&s->link, &s->queue, node);
}

static void sieve_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct sieve *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->unused.list, node);
}

static uint32_t under_hand(const struct sieve *s)
{
    return s->hand == LINK_END ? s->queue.tail : s->hand;
}

static uint32_t sieve_victim(void *state, uint32_t incoming)
{
    struct sieve *s = state;
    uint32_t due = unused_due(&s->unused, s->frames), node;

    (void)incoming;
    if (due != LINK_END)
        return due;
    for (uint32_t looks = 0; (node = under_hand(s)) != LINK_END; looks++) {
        struct replace_link *k = link_of(&s->link, node);
        bool used = k->mark == USED;
        k->mark = 0;
        if (!used || looks == LOOKS_MAX)
            return node;
        s->hand = k->prev;
    }
    return list_named(s->unused.list.tail);
}

static void sieve_leave(void *state, uint32_t node)
{
    struct sieve *s = state;

    ASSERT(node < s->nodes && link_of(&s->link, node)->list != LIST_NONE);
    if (link_of(&s->link, node)->list == UNUSED_LIST) {
        unused_remove(&s->link, &s->unused, node);
        return;
    }
    unused_pass(&s->unused);
    if (under_hand(s) == node)
        s->hand = link_of(&s->link, node)->prev;
    list_remove(&s->link, &s->queue, node);
    link_of(&s->link, node)->mark = 0;
}

static bool sieve_resident(const void *state, uint32_t node)
{
    const struct sieve *s = state;

    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list != LIST_NONE;
}

static void sieve_forget(void *state, uint32_t node)
{
    if (sieve_resident(state, node))
        sieve_leave(state, node);
}

static void sieve_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct sieve *)state)->frames = frames;
}

static void sieve_report(const void *state, struct replace_report *out)
{
    const struct sieve *s = state;

    *out = (struct replace_report){.policy = replace_sieve.name,
                                   .resident = s->queue.size + s->unused.list.size};
}

static const char *sieve_check(const void *state)
{
    const struct sieve *s = state;
    const char *broken = list_check(&s->link, s->nodes, &s->queue);

    if (s->hand != LINK_END && link_of(&s->link, s->hand)->list != RESIDENT)
        return "sieve: the hand is at a page that is out";
    for (uint32_t n = 0; n < s->nodes && !broken; n++)
        if (link_of(&s->link, n)->mark && link_of(&s->link, n)->list != RESIDENT)
            broken = "sieve: a page that is out is marked as used";
    return broken ? broken : list_check(&s->link, s->nodes, &s->unused.list);
}

const struct replace_ops replace_sieve = {
    .name = "sieve",
    .per_node = sizeof(struct replace_link),
    .use_once = true,
    .bytes = sieve_bytes,
    .init = sieve_init,
    .grow = sieve_grow,
    .touch = sieve_touch,
    .enter = sieve_enter,
    .enter_unused = sieve_enter_unused,
    .victim = sieve_victim,
    .leave = sieve_leave,
    .forget = sieve_forget,
    .resize = sieve_resize,
    .resident = sieve_resident,
    .report = sieve_report,
    .check = sieve_check,
};
