/*
 * Lists of nodes, as replacement policies keep them: doubly linked by node numbers, 8 bytes a node
 * for its place in one list of up to seven and three marks. Internal to mm/replace_*.c.
 *
 * What a policy has of a node is together, and those of all nodes are in a row behind its state, so
 * that more nodes are room behind them and nothing is moved. A policy that asks others (chooser.c)
 * has theirs of a node in its own.
 */
#pragma once
#include "mm/policy/replace/replace.h"

enum { LINK_END = REPLACE_NODES_MAX, LIST_NONE = 0, LISTS_MAX = 7 };

/* Pages in use that a hand passes for one victim at most, so that no call looks at all of them. */
enum { LOOKS_MAX = 256 };

struct replace_link {
    uint32_t next : 29, list : 3; /* list: which it is in, LIST_NONE: none */
    uint32_t prev : 29, mark : 3; /* mark: the policy's own */
};

/* Where the links of all nodes are. */
struct replace_links {
    int64_t at;      /* node 0's, in bytes from here */
    uint32_t stride; /* from one to the next */
    uint32_t spare;
};

/* The link that is `offset` bytes into what the policy of this state has of each node. */
static inline void links_init(struct replace_links *k, const void *state,
                              const struct replace_layout *place, size_t offset)
{
    k->at = (const char *)state - (const char *)k + place->at + (int64_t)offset;
    k->stride = place->stride;
}

static inline struct replace_link *link_of(const struct replace_links *k, uint32_t node)
{
    return (struct replace_link *)((uintptr_t)k + (uintptr_t)k->at + (uintptr_t)node * k->stride);
}

/* Most recent first. id: 1..LISTS_MAX. */
struct replace_list {
    uint32_t head, tail, size, id;
};

static inline void list_init(struct replace_list *l, uint32_t id)
{
    *l = (struct replace_list){.head = LINK_END, .tail = LINK_END, .id = id};
}

static inline void list_push_head(const struct replace_links *k, struct replace_list *l,
                                  uint32_t node)
{
    ASSERT(link_of(k, node)->list == LIST_NONE);
    link_of(k, node)->list = l->id;
    link_of(k, node)->prev = LINK_END;
    link_of(k, node)->next = l->head;
    if (l->head != LINK_END)
        link_of(k, l->head)->prev = node;
    else
        l->tail = node;
    l->head = node;
    l->size++;
}

static inline void list_push_tail(const struct replace_links *k, struct replace_list *l,
                                  uint32_t node)
{
    ASSERT(link_of(k, node)->list == LIST_NONE);
    link_of(k, node)->list = l->id;
    link_of(k, node)->next = LINK_END;
    link_of(k, node)->prev = l->tail;
    if (l->tail != LINK_END)
        link_of(k, l->tail)->next = node;
    else
        l->head = node;
    l->tail = node;
    l->size++;
}

/* Next to a node of the list on the tail's side, or at the head: after == LINK_END. */
static inline void list_push_after(const struct replace_links *k, struct replace_list *l,
                                   uint32_t after, uint32_t node)
{
    if (after == LINK_END || after == l->tail) {
        if (after == LINK_END)
            list_push_head(k, l, node);
        else
            list_push_tail(k, l, node);
        return;
    }
    ASSERT(link_of(k, node)->list == LIST_NONE && link_of(k, after)->list == l->id);
    link_of(k, node)->list = l->id;
    link_of(k, node)->prev = after;
    link_of(k, node)->next = link_of(k, after)->next;
    link_of(k, link_of(k, after)->next)->prev = node;
    link_of(k, after)->next = node;
    l->size++;
}

static inline void list_remove(const struct replace_links *k, struct replace_list *l, uint32_t node)
{
    uint32_t next = link_of(k, node)->next, prev = link_of(k, node)->prev;

    ASSERT(link_of(k, node)->list == l->id);
    if (prev != LINK_END)
        link_of(k, prev)->next = next;
    else
        l->head = next;
    if (next != LINK_END)
        link_of(k, next)->prev = prev;
    else
        l->tail = prev;
    link_of(k, node)->list = LIST_NONE;
    l->size--;
}

static inline void list_to_head(const struct replace_links *k, struct replace_list *l,
                                uint32_t node)
{
    if (l->head == node) {
        ASSERT(link_of(k, node)->list == l->id);
        return;
    }
    list_remove(k, l, node);
    list_push_head(k, l, node);
}

/*
 * So many pages stay behind their use whatever is thought of them, for they may be used again at
 * once: one in 100, but two at least of each 1,024 that there are, as far as a quarter of memory
 * goes: what a program uses at once grows with its data, not with memory.
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
const char *list_check(const struct replace_links *k, uint32_t nodes, const struct replace_list *l);
/* How many nodes say that they are in the list of this number. */
uint32_t list_claimed(const struct replace_links *k, uint32_t nodes, uint32_t id);
/* What every init() refuses: 0 or -EINVAL. */
int replace_config_check(const struct replace_config *config);
/* A state of so many bytes, and what there is of each node; 0: so many nodes cannot be. */
size_t replace_bytes(uint32_t nodes, size_t state, size_t per_node);
/* Where the configuration, or nobody, says that it is. */
struct replace_layout replace_layout(const struct replace_config *config, size_t state,
                                     size_t per_node);

/*
 * Prefetched pages that were not used yet, oldest first at the tail, for policies that know no
 * place for a page without a use. They go as old pages of an LRU list would: each has about as
 * many evictions to be used in as there are frames.
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

static inline void unused_remove(const struct replace_links *k, struct replace_unused *u,
                                 uint32_t node)
{
    if (u->list.tail == node)
        u->credit = 0;
    list_remove(k, &u->list, node);
}
