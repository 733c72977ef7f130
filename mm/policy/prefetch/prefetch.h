/*
 * Prefetching: which pages to read besides the one that a thread waits for ([Azimi 2007, 4.5]).
 *
 * Policies, by name:
 *   none
 *   spatial        the next pages of the address space; how many follows from how many were used
 *   streams        the next pages of arithmetic progressions among the pages wanted (streams.h)
 *   ppg            page proximity graph: the pages that were missed soon after this one before, and
 *                  those after them. Learns and fetches at faults and at first uses of prefetched
 *                  pages
 *   ppg-published  as [A] has it: at faults only. A prefetched page does not fault, so it gets no
 *                  edges
 *   chooser        by region, those of its experts that do no harm there (chooser.c)
 *
 * The mechanism says what happens, answers what the policy asks about pages, and receives a list of
 * pages, most likely first:
 *   1. prefetch_fault() or prefetch_first_use()
 *   2. prefetch_asks(), until it returns NULL; the mechanism fills in each answer
 *   3. prefetch_decide() completes the list
 * Nothing else is called in between. Then the mechanism goes through the list: a resident page it
 * touches in the replacement policy if list.touch is set, so that it stays; a page that is out it
 * begins to read and calls prefetch_fetched(), until it has begun list.fetch of them; others (never
 * used, unmapped, being read) it leaves out.
 *
 * A prefetched page that is not used soon was not predicted: it may be used, as any page in memory
 * may, before it is evicted. So policies hear whether their pages were used within a number of
 * faults and first uses that brings a new page to no more than a quarter of memory. At most
 * PREFETCH_UNUSED_PCT percent of memory may be prefetched and not used yet; then nothing is fetched
 * until some pages are used or evicted.
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
    PREFETCH_LIST_MAX = 254,  /* pages of a list, which takes 2 KB */
    PREFETCH_UNUSED_PCT = 10, /* of memory */
    PREFETCH_SOON = 512,      /* faults and first uses; fewer ... */
    PREFETCH_SOON_PCT = 25,   /* ... where memory is small */
    PREFETCH_JUDGED = 1024,   /* fetched pages with an outcome to be awaited */
};

/* How a list names pages. */
enum prefetch_unit {
    PREFETCH_PAGES, /* virtual page numbers, of the faulting page's space */
    PREFETCH_NODES,
};

/* Orders of pages that a policy may need. */
enum prefetch_order {
    PREFETCH_BY_USE, /* the LRU stack */
    /* by their last misses: faults, and first uses of prefetched pages */
    PREFETCH_BY_MISS,
    PREFETCH_ORDERS
};

struct prefetch_list {
    unsigned length; /* pages listed */
    /* pages to begin to read at most; when a policy is called, pages that may still be fetched */
    unsigned fetch;
    bool touch;    /* resident ones are to stay */
    uint16_t most; /* the graph lists no more than this; 0: up to PREFETCH_LIST_MAX */
    uint64_t page[PREFETCH_LIST_MAX];
};
_Static_assert(sizeof(struct prefetch_list) <= 2 * KIB, "an object of the heap, not a page");

#define PREFETCH_NO_NODE UINT32_MAX
/* What a policy asks about a page: which node it is, and whether it is out, that is to be read from
 * the disk, and not being read. */
struct prefetch_ask {
    uint64_t page; /* virtual page number, in the space of the page that is used */
    /* If PREFETCH_NO_NODE, the answer is the node of that page, or remains PREFETCH_NO_NODE; else
     * the question is about this node. */
    uint32_t node;
    bool out;     /* the answer; false for PREFETCH_NO_NODE */
    uint8_t kind; /* the policy's own */
};

/* A page that was faulted on or used for the first time. */
struct prefetch_use {
    uint32_t node;
    uint8_t region; /* in which it is, below REPLACE_REGIONS_MAX */
    bool late;      /* of a first use: the page was still being read, and a thread had to wait */
    uint64_t page;  /* virtual page number */
    const struct lrustack *order
        [PREFETCH_ORDERS]; /* all pages, from before this; NULL but for the first ops->orders */
};

/* The part of a policy's state for each node begins with this. All zeros for a node that was never
 * mentioned. waiting: 1 + the index in the ring of a fetched page without an outcome yet, or 0. */
struct prefetch_node {
    uint16_t waiting;
};

/* A policy. state: the part behind struct prefetch; the parts of all nodes follow in a row. */
struct prefetch_ops {
    const char *name;
    enum prefetch_unit unit;
    unsigned orders;        /* orders that it needs: none, the first, both */
    size_t bytes, per_node; /* bytes of its state, a multiple of 8; of each node, a multiple of 4 */
    void (*init)(void *state, uint32_t nodes);
    void (*grow)(void *state, uint32_t nodes);
    /* unused_max: pages that may be fetched and not used yet. Called after init(), too. */
    void (*resize)(void *state, uint32_t unused_max);
    /* These fill in page[] and length; they may lower fetch and clear touch. */
    void (*fault)(void *state, const struct prefetch_use *use, struct prefetch_list *list);
    void (*first_use)(void *state, const struct prefetch_use *use, struct prefetch_list *list);
    /* For policies that ask about pages; both are NULL in those that do not. asks() returns the
     * next question of the last fault() or first_use(), or NULL. The one returned before it has
     * been answered. decide() fills in page[] and length by the answers. */
    struct prefetch_ask *(*asks)(void *state);
    void (*decide)(void *state, struct prefetch_list *list);
    /* A prefetched page was used soon, or was not. */
    void (*outcome)(void *state, bool soon);
    /* A page leaves memory. */
    void (*left)(void *state, uint32_t node);
    void (*forget)(void *state, uint32_t node);
    /* Returns a number that sums up its state: a window, a threshold. */
    unsigned (*level)(const void *state);
    const char *(*check)(const void *state);
};

extern const struct prefetch_ops prefetch_none, prefetch_spatial, prefetch_streams, prefetch_ppg,
    prefetch_ppg_published, prefetch_chooser;
/* NULL-terminated, the default first */
extern const struct prefetch_ops *const prefetch_policies[];

/* Bytes of the state of prefetch_ppg, for a policy that has it inside: it comes last, so that its
 * nodes follow in a row. */
enum { PREFETCH_PPG_BYTES = 2432, PREFETCH_PPG_NODE_BYTES = 44 };

/* A fetched page without an outcome yet. */
struct prefetch_fetched {
    uint32_t node, since; /* the number of events when it was fetched */
};

struct prefetch {
    const struct prefetch_ops *ops;
    uint32_t nodes;
    uint32_t unused, unused_max;    /* pages fetched and not used yet */
    uint32_t soon;                  /* events within which a fetched page counts as used */
    uint64_t fetched, used, wasted; /* totals; wasted: evicted or unmapped before a use */
    /* used while still being read; lists cut because of the limit */
    uint64_t late, stopped;
    uint32_t events;          /* faults and first uses, modulo 2^32 */
    uint32_t judged, fetches; /* pages with an outcome; pages fetched. The others are in the ring */
    struct prefetch_fetched ring[PREFETCH_JUDGED];
    uint64_t state[]; /* the policy's state; the nodes' parts behind it */
};

/* Returns the bytes for `nodes`, 1..LRUSTACK_NODES_MAX; a multiple of 8. */
size_t prefetch_bytes(const struct prefetch_ops *ops, uint32_t nodes);
/* Initializes memory of prefetch_bytes(), all zeros, aligned to 8. frames: of memory, at least
 * 1. */
void prefetch_init(struct prefetch *p, const struct prefetch_ops *ops, uint32_t nodes,
                   uint32_t frames);
/* Enlarges the state: there are zeros behind it for more nodes. */
void prefetch_grow(struct prefetch *p, uint32_t nodes);
/* Sets the size of memory, at least 1 frame. */
void prefetch_resize(struct prefetch *p, uint32_t frames);

/* A thread waits for the page. Called before the page is touched in the stack; prefetch_asks() and
 * prefetch_decide() follow. */
void prefetch_fault(struct prefetch *p, const struct prefetch_use *use, struct prefetch_list *list);
/* A page that was fetched is used for the first time. Called and followed in the same way. */
void prefetch_first_use(struct prefetch *p, const struct prefetch_use *use,
                        struct prefetch_list *list);
/* Returns a question that the caller has to answer in place before the next call, or NULL. */
struct prefetch_ask *prefetch_asks(struct prefetch *p);
/* Completes the list of the last fault or first use. */
void prefetch_decide(struct prefetch *p, struct prefetch_list *list);
/* A page of a list is being read. */
void prefetch_fetched(struct prefetch *p, uint32_t node);
/* A page leaves memory, whether it was fetched or not. */
void prefetch_left(struct prefetch *p, uint32_t node);
/* A page that was fetched is evicted or unmapped, and was not used. */
void prefetch_wasted(struct prefetch *p, uint32_t node);
/* The page is unmapped: its node may come back as another page. */
void prefetch_forget(struct prefetch *p, uint32_t node);
/* Returns NULL, or the broken invariant. */
const char *prefetch_check(const struct prefetch *p);
