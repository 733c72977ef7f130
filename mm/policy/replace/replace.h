/*
 * Page replacement: which resident page of a pool is evicted next.
 *
 * A page is a *node*, a number below `nodes`; a policy knows nothing else of it. Calls:
 *   touch         the page access log has a resident page, in the log's order. Pages that the page
 *                 access buffer holds are used without being logged, so a page in constant use
 *                 sinks as if it was idle
 *   enter         a page became resident because a thread waits for it: this is its use as well
 *   enter_unused  a page was prefetched; its first use will be a touch
 *   leave         a page is no longer resident. Any resident page may leave, not the victim alone
 *   forget        a page is no more; its node may come back as another page
 *
 * Eviction: the mechanism calls victim() and looks whether that page is in the page access buffer.
 * If so it answers with touch() and calls again, as often as it likes to; otherwise it evicts the
 * page and calls leave(). A touch right behind victim() tells of the use that brought the page and
 * goes on: not of a second one, which would raise it. Called twice without anything in between,
 * victim() names the same node. More pages may be resident than `frames` (memory was taken away,
 * reads are under way), and fewer (memory is reclaimed ahead).
 *
 * A policy's state is one block of the caller's memory, all zeros at first, without pointers into
 * itself, so that it may be moved: for growth there are more zeros behind it, and grow() takes no
 * time by the number of nodes. Pure: no lock, clock or allocation; one caller at a time for each
 * state.
 */
#pragma once
#include "mm/policy/replace/buffered.h"
#include "kernel/lib/base.h"

#define REPLACE_NONE UINT32_MAX /* no node */

enum {
    REPLACE_NODES_MAX = (1 << 29) - 1, /* links of 29 bits: 2 TB of pages */
    REPLACE_REGIONS_MAX = 64,
};

/* Where a policy's parts of the nodes are. */
struct replace_layout {
    int64_t at;      /* node 0's, in bytes from the state's start */
    uint32_t stride; /* bytes from one node's to the next one's; 0: behind the state, in a row */
};

struct replace_config {
    uint32_t nodes;    /* 1..REPLACE_NODES_MAX: every node is below */
    uint32_t frames;   /* pages that may be resident, at least 1 */
    uint64_t seed;     /* of policies that draw or hash */
    const char *first; /* the expert that a chooser starts with; NULL: its default */
    /* The caller answers what asks() asks. Else nothing is asked, and answers are unknown. */
    bool answers;
    struct replace_layout place; /* of an expert, in the chooser's state */
};

#define REPLACE_EXPERTS_MAX 8

/* What a policy says of itself, for people to read. */
struct replace_report {
    const char *policy; /* the policy in force: its own name, or that of the expert chosen */
    uint32_t resident;
    uint32_t history;     /* pages that are out, and remembered */
    uint64_t switches;    /* from one policy to another */
    uint64_t mru_regions; /* bit n: region n is replaced by MRU; others as `policy` says */
    unsigned experts;     /* that it chooses among; 0: it does not choose */
    struct {
        const char *policy;
        uint64_t misses; /* that it has had, or would have had */
    } expert[REPLACE_EXPERTS_MAX];
};

/*
 * A policy. state: aligned to 8, of bytes() bytes. A node or region out of range, a touch of a page
 * that is not resident and an entry of one that is are broken invariants, ASSERTed.
 */
struct replace_ops {
    const char *name;
    size_t per_node; /* bytes of state for each node */
    /* A second use raises a page: the use that brought the page is not to be told again when a
     * tracker has it. */
    bool use_once;
    /* Returns the bytes of state for `nodes`, a multiple of 8, or 0 if that is out of range. */
    size_t (*bytes)(uint32_t nodes);
    /* The state is all zeros; nothing is resident. Returns 0, or -EINVAL for a number out of range
     * or an unknown `first`. */
    int (*init)(void *state, const struct replace_config *config);
    /* The state is in a block of bytes(nodes) now, zeros behind the old state. nodes: no fewer than
     * before. */
    void (*grow)(void *state, uint32_t nodes);
    void (*touch)(void *state, uint32_t node);
    /* region: of the page, below REPLACE_REGIONS_MAX; 0 where there are no regions. */
    void (*enter)(void *state, uint32_t node, uint32_t region);
    void (*enter_unused)(void *state, uint32_t node, uint32_t region);
    /* Returns a resident node, or REPLACE_NONE if nothing is resident. incoming: the node that the
     * frame is for, which is not resident and enters next; or REPLACE_NONE, if memory is reclaimed
     * ahead. */
    uint32_t (*victim)(void *state, uint32_t incoming);
    /*
     * For policies that need to know what the page access buffer has of pages that they do not name
     * as victims. Both are NULL in those that do not, and are used only with config.answers.
     * After each touch(), enter(), victim() and resize() the caller answers: asks() returns a node
     * that is or was resident, or enters, and tell() takes what the buffer has of it, until asks()
     * returns REPLACE_NONE. If anything was asked after victim(), the caller then calls victim()
     * again with the same `incoming`; the node named before an answer means nothing.
     */
    uint32_t (*asks)(const void *state);
    void (*tell)(void *state, uint32_t node, enum page_buffered is);
    void (*leave)(void *state, uint32_t node);
    /* The node may be resident or not, known or not; afterwards it is neither. */
    void (*forget)(void *state, uint32_t node);
    /* frames: at least 1. The caller evicts pages that are too many. */
    void (*resize)(void *state, uint32_t frames);
    bool (*resident)(const void *state, uint32_t node);
    void (*report)(const void *state, struct replace_report *out);
    /* Returns NULL, or the broken invariant. Takes time by the number of nodes: for tests. */
    const char *(*check)(const void *state);
};

/* The policies, by name with '_' for '-'. A policy is a file of this folder and its line here. */
#define REPLACE_POLICIES(X)                                                                        \
    /* the page used longest ago */                                                                \
    X(lru)                                                                                         \
    /* second chance: the oldest page that was not used since the hand passed [Corbato 1968] */    \
    X(clock)                                                                                       \
    /* the page used last: of a loop, the pages that came first stay */                            \
    X(mru)                                                                                         \
    /* of pages used once in a long while the first, as published [Jiang and Zhang 2002] */        \
    X(lirs)                                                                                        \
    /* the same with more frames for pages used last, where a hundredth is few */                  \
    X(lirs_recent)                                                                                 \
    /* by recency or frequency, whichever misses less [Megiddo and Modha 2003] */                  \
    X(arc)                                                                                         \
    /* the oldest page not used since a hand passed, which comes to new pages last [Zhang 2024] */ \
    X(sieve)                                                                                       \
    /* of new pages those not used again, of others those not used in their round [Yang 2023] */   \
    X(s3fifo)                                                                                      \
    /* of the last page of a window and that of the rest the one used less [Einziger 2017] */      \
    X(wtinylfu)                                                                                    \
    /* the same, but the rest is given no page that was not used twice more often */               \
    X(wtinylfu_margin)                                                                             \
    /* the page with the farthest next use, by gaps between uses [Phalke and Gopinath 1995] */     \
    X(gap)                                                                                         \
    /* LRU or MRU for each region by its curves, memory where it saves most [Azimi 2007] */        \
    X(region)                                                                                      \
    /* what the one of its experts does that has missed least so far */                            \
    X(chooser)

#define REPLACE_DECLARE(name) extern const struct replace_ops replace_##name;
REPLACE_POLICIES(REPLACE_DECLARE)
extern const struct replace_ops *const replace_policies[]; /* NULL-terminated, in this order */

/* Returns the policy of that name, or NULL. */
const struct replace_ops *replace_find(const char *name);
