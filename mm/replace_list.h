/*
 * Lists of nodes, as replacement policies keep them: doubly linked by node numbers, 8 bytes a node for its place in one list of
 * up to seven and three marks.  Internal to mm/replace_*.c.
 */
#pragma once
#include "mm/replace.h"

enum { LINK_END = REPLACE_NODES_MAX, LIST_NONE = 0, LISTS_MAX = 7 };

struct replace_link {
    uint32_t next : 29, list : 3; /* list: which it is in, LIST_NONE: none */
    uint32_t prev : 29, mark : 3; /* mark: the policy's own                */
};

/* Most recent first.  id: 1..LISTS_MAX. */
struct replace_list {
    uint32_t head, tail, size, id;
};

static inline void list_init(struct replace_list *l, uint32_t id)
{
    *l = (struct replace_list){.head = LINK_END, .tail = LINK_END, .id = id};
}

/* Nodes first..nodes - 1 are in no list. */
static inline void links_init(struct replace_link *link, uint32_t first, uint32_t nodes)
{
    memset(link + first, 0, (nodes - first) * sizeof *link);
}

static inline void list_push_head(struct replace_link *link, struct replace_list *l, uint32_t node)
{
    ASSERT(link[node].list == LIST_NONE);
    link[node].list = l->id;
    link[node].prev = LINK_END;
    link[node].next = l->head;
    if (l->head != LINK_END)
        link[l->head].prev = node;
    else
        l->tail = node;
    l->head = node;
    l->size++;
}

static inline void list_push_tail(struct replace_link *link, struct replace_list *l, uint32_t node)
{
    ASSERT(link[node].list == LIST_NONE);
    link[node].list = l->id;
    link[node].next = LINK_END;
    link[node].prev = l->tail;
    if (l->tail != LINK_END)
        link[l->tail].next = node;
    else
        l->head = node;
    l->tail = node;
    l->size++;
}

/* Next to a node of the list on the tail's side, or at the head: after == LINK_END. */
static inline void list_push_after(struct replace_link *link, struct replace_list *l, uint32_t after,
                                   uint32_t node)
{
    if (after == LINK_END || after == l->tail) {
        if (after == LINK_END)
            list_push_head(link, l, node);
        else
            list_push_tail(link, l, node);
        return;
    }
    ASSERT(link[node].list == LIST_NONE && link[after].list == l->id);
    link[node].list = l->id;
    link[node].prev = after;
    link[node].next = link[after].next;
    link[link[after].next].prev = node;
    link[after].next = node;
    l->size++;
}

static inline void list_remove(struct replace_link *link, struct replace_list *l, uint32_t node)
{
    uint32_t next = link[node].next, prev = link[node].prev;

    ASSERT(link[node].list == l->id);
    if (prev != LINK_END)
        link[prev].next = next;
    else
        l->head = next;
    if (next != LINK_END)
        link[next].prev = prev;
    else
        l->tail = prev;
    link[node].list = LIST_NONE;
    l->size--;
}

static inline void list_to_head(struct replace_link *link, struct replace_list *l, uint32_t node)
{
    if (l->head == node) {
        ASSERT(link[node].list == l->id);
        return;
    }
    list_remove(link, l, node);
    list_push_head(link, l, node);
}

/*
 * So many pages stay behind their use whatever is thought of them, for they may be used again at once: one in 100, but two at least of
 * each 1,024 that there are, as far as a quarter of memory goes: what a program uses at once grows with its data, not with memory.
 */
static inline uint32_t recent_frames(uint32_t nodes, uint32_t frames)
{
    uint32_t few = MIN(2u, MAX(frames - 1, 1u)), scaled = MIN(2 * (nodes >> 10), frames / 4);

    return MAX(frames / 100, MAX(few, scaled));
}

/* LINK_END as the policies' callers know it. */
static inline uint32_t list_named(uint32_t node)
{
    return node == LINK_END ? REPLACE_NONE : node;
}

/* NULL, or what is broken: links there and back, numbers in range, the size. */
const char *list_check(const struct replace_link *link, uint32_t nodes, const struct replace_list *l);
/* How many nodes say that they are in the list of this number. */
uint32_t list_claimed(const struct replace_link *link, uint32_t nodes, uint32_t id);
/* What every init() refuses: 0 or -EINVAL. */
int replace_config_check(const struct replace_config *config);

/*
 * Prefetched pages that were not used yet, oldest first at the tail, for policies that know no place for a page without a
 * use.  They go as old pages of an LRU list would: each has about as many evictions to be used in as there are frames.
 */
struct replace_unused {
    struct replace_list list;
    uint64_t credit; /* evictions of others, times the pages here, since one was due */
};

static inline void unused_init(struct replace_unused *u, uint32_t id)
{
    list_init(&u->list, id);
    u->credit = 0;
}

/* Another page left. */
static inline void unused_pass(struct replace_unused *u)
{
    u->credit = u->list.size ? u->credit + u->list.size : 0;
}

/* The page that goes before any other, or LINK_END. */
static inline uint32_t unused_due(const struct replace_unused *u, uint32_t frames)
{
    return u->credit >= frames ? u->list.tail : LINK_END;
}

static inline void unused_remove(struct replace_link *link, struct replace_unused *u, uint32_t node)
{
    if (u->list.tail == node)
        u->credit = 0;
    list_remove(link, &u->list, node);
}
