/*
 * Prefetching: which pages to read besides the one a thread waits for ([Azimi 2007, 4.5]).
 *
 * Policies, by name:
 *   none
 *   spatial        the next pages of the address space; how many follows from how many of them were
 *   used
 *   ppg            page proximity graph: the pages that were missed soon after this one before, and
 *   those after them. Learns and fetches at
 *                  faults and at first uses of prefetched pages
 *   ppg-published  as [A] has it: at faults only. A prefetched page does not fault, so it gets no
 *   edges
 *
 * The mechanism says what happens, and is told a list of pages, most likely first. It goes through
 * the list: a resident page it touches in the replacement policy where list.touch says so, so that
 * it stays; one that is out it begins to read and says prefetch_fetched(), until it has begun
 * list.fetch of them; others (never used, unmapped, read already) it leaves out.
 *
 * A prefetched page that is not used soon has not been foreseen: it may be used, as any page in
 * memory may, before it is evicted. What policies hear of their pages is therefore whether they
 * were used within so many faults and first uses, which do not bring a new page to more than a
 * quarter of memory, and they hear it no later. Not more than unused_pct percent of memory may be
 * prefetched and not used yet; then nothing is fetched until some are used or evicted.
 *
 * The state holds node numbers, and of pointers only that to its policy: it may be moved as a block
 * of bytes. Pure: memory comes from the caller, nothing is locked; one caller at a time for each
 * state.
 */
#pragma once
#include "mm/policy/curve/lrustack.h"
#include "mm/policy/replace/replace.h"

enum {
    PREFETCH_FETCH_MAX = 64,  /* pages read for one fault ([A 4.6.5]) */
    PREFETCH_LIST_MAX = 254,  /* pages looked at; the list takes 2 KB */
    PREFETCH_UNUSED_PCT = 10, /* of memory */
    PREFETCH_SOON = 512,      /* faults and first uses; fewer ... */
    PREFETCH_SOON_PCT = 25,   /* ... where memory is small */
    PREFETCH_JUDGED = 1024,   /* fetched pages that are waited for */
};

/* What a list names pages by. */
enum prefetch_unit {
    PREFETCH_PAGES, /* virtual page numbers, of the faulting page's space */
    PREFETCH_NODES,
};

/* Orders of pages that a policy may need. */
enum prefetch_order {
    PREFETCH_BY_USE, /* the LRU stack */
    /* by their last faults; a prefetched page's first use is one that was avoided */
    PREFETCH_BY_MISS,
    PREFETCH_ORDERS
};

struct prefetch_list {
    unsigned length; /* pages listed */
    /* the most of them to begin to read; when a policy is called: how many more may be fetched
     * and not used yet */
    unsigned fetch;
    bool touch;    /* resident ones are to stay */
    uint16_t most; /* the graph lists no more than these; 0: as many as there is room for */
    uint64_t page[PREFETCH_LIST_MAX];
};
_Static_assert(sizeof(struct prefetch_list) <= 2 * KIB, "an object of the heap, not a page");

#define PREFETCH_NO_NODE UINT32_MAX
/* What a policy can ask of pages. Out: to be read from the disk, and not being read. */
struct prefetch_pages {
    /* The node of a virtual page of the same space, or PREFETCH_NO_NODE. */
    uint32_t (*node_of)(const void *of, uint64_t page);
    bool (*is_out)(const void *of, uint32_t node);
    const void *of;
};

/* A page that was faulted on or used for the first time. */
struct prefetch_use {
    uint32_t node;
    uint8_t region; /* in which it is, below REPLACE_REGIONS_MAX */
    const struct prefetch_pages *pages;
    bool late;     /* of a first use: the page was still being read, and a thread had to wait */
    uint64_t page; /* virtual page number */
    const struct lrustack *order
        [PREFETCH_ORDERS]; /* all pages, from before this; NULL but for the first ops->orders */
};

/* What there is of each node begins with this; behind it is what the policy has of it. All zeros
 * of one that was never heard of. waiting: the place in the ring + 1 of a page that was fetched and
 * whose outcome is not known, or 0. */
struct prefetch_node {
    uint16_t waiting;
};

/* A policy. state: what follows struct prefetch, then what there is of each node, in a row. */
struct prefetch_ops {
    const char *name;
    enum prefetch_unit unit;
    unsigned orders;        /* it needs so many: none, the first, both */
    size_t bytes, per_node; /* of its state, a multiple of 8; of each node, a multiple of 4 */
    void (*init)(void *state, uint32_t nodes);
    void (*grow)(void *state, uint32_t nodes);
    /* So many pages may be fetched and not used yet, from now on; called once behind init, too. */
    void (*resize)(void *state, uint32_t unused_max);
    /* Fills in page[] and length; may have fewer fetched and others not touched. */
    void (*fault)(void *state, const struct prefetch_use *use, struct prefetch_list *list);
    void (*first_use)(void *state, const struct prefetch_use *use, struct prefetch_list *list);
    /* A prefetched page was used soon, or was not. */
    void (*outcome)(void *state, bool soon);
    /* A page leaves memory. */
    void (*left)(void *state, uint32_t node);
    void (*forget)(void *state, uint32_t node);
    /* One number of how it stands: a window, a threshold. */
    unsigned (*level)(const void *state);
    const char *(*check)(const void *state);
};

extern const struct prefetch_ops prefetch_none, prefetch_spatial, prefetch_streams, prefetch_ppg,
    prefetch_ppg_published, prefetch_chooser;
/* NULL-terminated, the default first */
extern const struct prefetch_ops *const prefetch_policies[];

/* Bytes of prefetch_ppg's state, for a policy that has one inside: it comes last, so that its nodes
 * follow in a row. */
enum { PREFETCH_PPG_BYTES = 2432, PREFETCH_PPG_NODE_BYTES = 44 };

/* A fetched page whose outcome is not known yet. */
struct prefetch_fetched {
    uint32_t node, since; /* the number of events when it was fetched */
};

struct prefetch {
    const struct prefetch_ops *ops;
    uint32_t nodes;
    uint32_t unused, unused_max;    /* pages fetched and not used yet */
    uint32_t soon;                  /* events within which a fetched page counts as used */
    uint64_t fetched, used, wasted; /* ... so far; wasted: evicted or unmapped before a use */
    /* used while still being read; lists cut because of the limit */
    uint64_t late, stopped;
    uint32_t events;          /* faults and first uses, modulo 2^32 */
    uint32_t judged, fetches; /* of the pages fetched; judged are not in the ring any more */
    struct prefetch_fetched ring[PREFETCH_JUDGED];
    uint64_t state[]; /* the policy's; behind it the nodes */
};

/* Bytes for so many nodes, 1..LRUSTACK_NODES_MAX; a multiple of 8. */
size_t prefetch_bytes(const struct prefetch_ops *ops, uint32_t nodes);
/* Nothing known; memory of prefetch_bytes(), all zeros, aligned to 8; frames of memory, at least
 * 1. */
void prefetch_init(struct prefetch *p, const struct prefetch_ops *ops, uint32_t nodes,
                   uint32_t frames);
/* There is memory for more nodes, zeros behind what it was: makes it one for them. */
void prefetch_grow(struct prefetch *p, uint32_t nodes);
/* Memory has another size from now on. */
void prefetch_resize(struct prefetch *p, uint32_t frames);

/* A thread waits for the page. Before the page is touched in the stack. */
void prefetch_fault(struct prefetch *p, const struct prefetch_use *use, struct prefetch_list *list);
/* A page that was fetched is used for the first time. Before it is touched in the stack. */
void prefetch_first_use(struct prefetch *p, const struct prefetch_use *use,
                        struct prefetch_list *list);
/* A page of a list is being read. */
void prefetch_fetched(struct prefetch *p, uint32_t node);
/* A page leaves memory, whether it was fetched or not. */
void prefetch_left(struct prefetch *p, uint32_t node);
/* A page that was fetched is evicted or unmapped, and was not used. */
void prefetch_wasted(struct prefetch *p, uint32_t node);
/* The page is unmapped: its node may come back as another page. */
void prefetch_forget(struct prefetch *p, uint32_t node);
/* NULL, or the invariant that does not hold. */
const char *prefetch_check(const struct prefetch *p);
