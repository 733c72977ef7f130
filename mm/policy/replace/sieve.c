/*
 * SIEVE [Zhang, Yang, Yue, Vigfusson and Rashmi, NSDI 2024]. Pages in the order in which they came,
 * the latest at the head, each with a mark that a use after its coming sets. A hand goes from the
 * tail to the head, and again from the tail, clears marks, and stops at the first page without one,
 * which goes. Unlike in CLOCK, pages that the hand has passed stay where they are, and new ones
 * come at the head.
 *
 * Beyond the paper: the hand passes LOOKS_MAX pages for a victim at most, then the next page goes;
 * prefetched pages wait apart for their first use.
 */
#include "mm/policy/replace/list.h"

enum { QUEUE = 1, USED = 1 };

struct sieve {
    struct replace_base base;
    uint32_t hand; /* the page to be looked at next, or LINK_END: the tail */
    uint32_t spare;
};

static size_t sieve_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct sieve), sizeof(struct replace_link));
}

static int sieve_init(void *state, const struct replace_config *config)
{
    ((struct sieve *)state)->hand = LINK_END;
    return base_init(state, config, sizeof(struct sieve), sizeof(struct replace_link), 0);
}

static void sieve_touch(void *state, uint32_t node)
{
    struct replace_base *b = state;

    ASSERT(base_resident(b, node));
    if (base_list_of(b, node) == QUEUE) {
        link_of(&b->link, node)->mark = USED;
        return;
    }
    base_take_out(b, node);
    base_push_head(b, QUEUE, node);
}

static void sieve_enter(void *state, uint32_t node, uint32_t region)
{
    ASSERT(region < REPLACE_REGIONS_MAX);
    base_push_head(state, QUEUE, node);
}

static uint32_t under_hand(const struct sieve *s)
{
    return s->hand == LINK_END ? s->base.list[QUEUE].tail : s->hand;
}

static uint32_t sieve_victim(void *state, uint32_t incoming)
{
    struct sieve *s = state;
    uint32_t due = base_due(&s->base), node;

    (void)incoming;
    if (due != LINK_END)
        return due;
    for (uint32_t looks = 0; (node = under_hand(s)) != LINK_END; looks++) {
        struct replace_link *k = link_of(&s->base.link, node);
        bool used = k->mark == USED;
        k->mark = 0;
        if (!used || looks == LOOKS_MAX)
            return node;
        s->hand = k->prev;
    }
    return list_named(s->base.list[UNUSED_LIST].tail);
}

static void sieve_leave(void *state, uint32_t node)
{
    struct sieve *s = state;

    if (base_list_of(&s->base, node) == QUEUE && under_hand(s) == node)
        s->hand = link_of(&s->base.link, node)->prev;
    base_leave(s, node);
}

static void sieve_forget(void *state, uint32_t node)
{
    if (base_resident(state, node))
        sieve_leave(state, node);
}

static void sieve_report(const void *state, struct replace_report *out)
{
    base_report(state, replace_sieve.name, out);
}

static const char *sieve_check(const void *state)
{
    const struct sieve *s = state;
    const struct replace_base *b = &s->base;

    if (s->hand != LINK_END && base_list_of(b, s->hand) != QUEUE)
        return "sieve: the hand is at a page that is out";
    for (uint32_t n = 0; n < b->nodes; n++)
        if (link_of(&b->link, n)->mark && base_list_of(b, n) != QUEUE)
            return "sieve: a page that is out is marked as used";
    return base_check(b);
}

const struct replace_ops replace_sieve = {
    .name = "sieve",
    .per_node = sizeof(struct replace_link),
    .use_once = true,
    .bytes = sieve_bytes,
    .init = sieve_init,
    .grow = base_grow,
    .touch = sieve_touch,
    .enter = sieve_enter,
    .enter_unused = base_enter_unused,
    .victim = sieve_victim,
    .leave = sieve_leave,
    .forget = sieve_forget,
    .resize = base_resize,
    .resident = base_resident,
    .report = sieve_report,
    .check = sieve_check,
};
