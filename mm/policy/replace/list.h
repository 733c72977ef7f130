/*
 * Lists of nodes as replacement policies keep them, and struct replace_base, the part of a policy's
 * state that most have. Internal to this folder.
 *
 * A list is doubly linked by node numbers. A node costs 8 bytes: its neighbours, the number of the
 * list that it is in, and a mark of three bits.
 *
 * What a policy keeps of each node is in one place, and those of all nodes are in a row behind its
 * state, so that growth adds room at the end and moves nothing. A policy that asks others
 * (chooser.h) has their part of a node in its own.
 */
#pragma once
#include "mm/policy/replace/replace.h"

enum {
    LINK_END = REPLACE_NODES_MAX, /* no node */
    LIST_NONE = 0,                /* number of no list */
    LISTS_MAX = 7,                /* lists are numbered from 1 to this */
    UNUSED_LIST = LISTS_MAX,      /* in struct replace_base: prefetched pages without a use yet */
    LOOKS_MAX = 256, /* pages in use that a hand passes in one call, so that no call looks at all */
};

struct replace_link {
    uint32_t next : 29, list : 3; /* list: number of the node's list, or LIST_NONE */
    uint32_t prev : 29, mark : 3; /* mark: the policy's own */
};

/* Where the links of all nodes are. */
struct replace_links {
    int64_t at;      /* node 0's link, in bytes from here */
    uint32_t stride; /* bytes from one node's to the next one's */
    uint32_t spare;
};

/* Sets `k`, a part of `state`, to the links that are `offset` bytes into each node's part. */
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

/* A list, the latest node at its head. id: its number, 1..LISTS_MAX. */
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

/* Puts `node` behind `after`, on the tail's side, or at the head if that is LINK_END. */
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
 * Returns the number of pages that stay for a while after a use whatever a policy thinks of them,
 * since they may be used again at once: a hundredth of `frames`, but at least two of each 1,024
 * `nodes` up to a quarter of memory, as the pages that a program uses at once grow with its data,
 * not with memory.
 */
static inline uint32_t recent_frames(uint32_t nodes, uint32_t frames)
{
    uint32_t few = MIN(2u, MAX(frames - 1, 1u)), scaled = MIN(2 * (nodes >> 10), frames / 4);

    return MAX(frames / 100, MAX(few, scaled));
}

/* Returns `node` as victim() does. */
static inline uint32_t list_named(uint32_t node)
{
    return node == LINK_END ? REPLACE_NONE : node;
}

/* Returns NULL, or the broken invariant: of the links, numbers and size of the list, or of nodes
 * that claim to be in it. */
const char *list_check(const struct replace_links *k, uint32_t nodes, const struct replace_list *l);
/* Returns how many nodes claim to be in the list of number `id`. */
uint32_t list_claimed(const struct replace_links *k, uint32_t nodes, uint32_t id);
/* Returns the bytes of a state of `state` bytes and `nodes` parts of `per_node`, a multiple of 8; 0
 * if there cannot be as many nodes. */
size_t replace_bytes(uint32_t nodes, size_t state, size_t per_node);

/* ---- What most policies have ----------------------------------------------------------------- */

/*
 * The first member of a policy's state. Lists have the numbers that the policy gives them.
 * Prefetched pages without a use yet are in UNUSED_LIST. They go as old pages of an LRU list would:
 * a page has about as many evictions of others to be used in as there are frames.
 */
struct replace_base {
    uint32_t nodes, frames;
    uint32_t offered; /* the victim named last, until anything else is said; LINK_END: none */
    uint32_t out;     /* a bit for each list of pages that are out, and remembered */
    uint64_t credit;  /* evictions of others, times unused pages, since one of these was due */
    struct replace_links link;
    struct replace_list list[LISTS_MAX + 1]; /* by number */
};

/* Sets up `b`, the first member of a state of `state` bytes of zeros, which has `per_node` bytes of
 * each node with the link `link_at` bytes into these. Returns 0, or -EINVAL for numbers that are
 * out of range. */
int base_init(struct replace_base *b, const struct replace_config *config, size_t state,
              size_t per_node, size_t link_at);
/* Returns where the nodes' parts are. */
struct replace_layout base_layout(const struct replace_config *config, size_t state,
                                  size_t per_node);

/* Members of struct replace_ops. base_bytes() and base_start() are for states that are a struct
 * replace_base and a link for each node. */
size_t base_bytes(uint32_t nodes);
int base_start(void *state, const struct replace_config *config);
void base_grow(void *state, uint32_t nodes);
void base_enter_unused(void *state, uint32_t node, uint32_t region);
/* These clear the page's mark. */
void base_leave(void *state, uint32_t node);
void base_forget(void *state, uint32_t node);
void base_resize(void *state, uint32_t frames);
bool base_resident(const void *state, uint32_t node);
/* As report() of the policy of that name: pages in the lists. */
void base_report(const void *state, const char *policy, struct replace_report *out);
/* Checks all lists, and that the victim named last is resident. */
const char *base_check(const void *state);

/* Returns the number of the list that `node` is in. */
static inline uint32_t base_list_of(const struct replace_base *b, uint32_t node)
{
    ASSERT(node < b->nodes);
    return link_of(&b->link, node)->list;
}

static inline void base_push_head(struct replace_base *b, uint32_t list, uint32_t node)
{
    ASSERT(node < b->nodes);
    list_push_head(&b->link, &b->list[list], node);
}

/* Takes `node` out of its list. */
static inline void base_take_out(struct replace_base *b, uint32_t node)
{
    uint32_t list = base_list_of(b, node);

    ASSERT(list != LIST_NONE);
    if (list == UNUSED_LIST && b->list[list].tail == node)
        b->credit = 0;
    list_remove(&b->link, &b->list[list], node);
}

/* Counts a page that leaves for the unused ones. */
static inline void base_pass(struct replace_base *b)
{
    uint32_t unused = b->list[UNUSED_LIST].size;

    b->credit = unused ? b->credit + unused : 0;
}

/* Returns the unused page that goes before any other, or LINK_END. */
static inline uint32_t base_due(const struct replace_base *b)
{
    return b->credit >= b->frames ? b->list[UNUSED_LIST].tail : LINK_END;
}

/* Returns whether the victim is known: it was named already, or is an unused page. */
static inline bool base_decided(struct replace_base *b)
{
    if (b->offered == LINK_END)
        b->offered = base_due(b);
    return b->offered != LINK_END;
}

/* Names `node`, or if that is LINK_END the oldest unused page. Returns the victim. */
static inline uint32_t base_name(struct replace_base *b, uint32_t node)
{
    b->offered = node == LINK_END ? b->list[UNUSED_LIST].tail : node;
    return list_named(b->offered);
}
