/*
 * Page replacement: which resident page of a pool is to go next.
 *
 * Policies, by name:
 *   lru              the least recently used
 *   clock            second chance: the oldest that was not used since it was last looked at
 *   [Corbato 1968]
 *   mru              the most recently used: of a loop, what came first stays
 *   lirs             of those used once in a long while, the first, exactly as published [Jiang and
 *   Zhang 2002]
 *   lirs-recent      the same with more frames for what was used last, where a hundredth is few
 *   arc              between recency and frequency, by which of both misses more [Megiddo and Modha
 *   2003]
 *   sieve            the oldest that was not used since a hand last passed, new pages being passed
 *   last [Zhang 2024]
 *   s3fifo           of the new, those not used again; of the others the oldest not used in their
 *   round [Yang 2023]
 *   wtinylfu         of the last of a window and the last of the rest the one used less often
 *   [Einziger 2017]
 *   wtinylfu-margin  the same, the rest being given no page that was not used twice more often
 *   gap              whose next use is foretold to be farthest, by gaps between uses [Phalke and
 *   Gopinath 1995]
 *   region           LRU or MRU for each region, by its curves, and memory where it saves most
 *   misses [Azimi 2007, 4.3.1]
 *   chooser          what the one of its experts does that has missed least so far
 *
 * A page is a *node*, a number below `nodes`; a policy knows nothing else of it. What it is told:
 *   touch            the page access log has a resident page, in the log's order. Pages that the
 *   page access buffer
 *                    holds are used without being logged, so a page in constant use sinks as if it
 *                    was idle
 *   enter            a page became resident because a thread waits for it: this is its use as well
 *   enter_unused     it was prefetched; its first use will be a touch
 *   leave            it is no longer resident. Any resident page may leave, not the victim alone
 *   forget           it is no more; its node may come back as another page
 *
 * Eviction: the mechanism asks victim(), looks whether that page is in the page access buffer, and
 * if so answers with touch() and asks again (as often as it likes to); otherwise it evicts the page
 * and says leave(). A touch that comes right behind victim() tells of the use that brought the
 * page and goes on: not of a second one, which would raise it. Asked twice without anything in
 * between, a policy names the same node. More pages may be resident than `frames` (memory was
 * taken away, reads are under way), and fewer (memory is reclaimed ahead).
 *
 * A policy's state is one block of memory of the caller's, all zeros at first, without pointers
 * into itself, so that it may be moved: growth is to have more zeros behind it and grow(), which
 * takes no time by the number of nodes. Pure: no lock, clock or allocation; one caller at a time
 * per state.
 */
#pragma once
#include "mm/policy/replace/buffered.h"
#include "kernel/lib/base.h"

#define REPLACE_NONE UINT32_MAX /* no node */

enum {
    REPLACE_NODES_MAX = (1 << 29) - 1, /* links of 29 bits: 2 TB of pages */
    REPLACE_REGIONS_MAX = 64,
};

/* Where what a policy has of each node is: node 0's, in bytes from the state's start, and from one
 * to the next. */
struct replace_layout {
    int64_t at;
    uint32_t stride; /* 0: behind the state, in a row */
};

struct replace_config {
    uint32_t nodes;  /* 1..REPLACE_NODES_MAX: every node is below */
    uint32_t frames; /* at least 1: so many pages may be resident */
    uint64_t seed;   /* of policies that draw or hash */
    /* policy to start with, of those that choose among others; NULL: their default */
    const char *first;
    /* The caller answers what asks() asks. Else no answer is ever known, and nothing is asked. */
    bool answers;
    struct replace_layout place; /* of those that another policy asks */
};

#define REPLACE_EXPERTS_MAX 8

/* What a policy says of itself, for people to read. */
struct replace_report {
    const char *policy; /* the one in force: its own name, or of the one chosen now */
    uint32_t resident;
    uint32_t history;  /* pages that are out, and remembered */
    uint64_t switches; /* from one policy to another */
    /* bit n: in region n it does what MRU would, in others what `policy` says */
    uint64_t mru_regions;
    unsigned experts; /* among which it chooses; 0: it does not */
    struct {
        const char *policy;
        uint64_t misses; /* that it has had so far, or would have had */
    } expert[REPLACE_EXPERTS_MAX];
};

/*
 * state: aligned to 8, as large as bytes() says. A node or region out of range, a touch of a page
 * that is not resident, an entry of one that is: broken invariants, ASSERTed.
 */
struct replace_ops {
    const char *name;
    size_t per_node; /* bytes of state that each node costs */
    /* A second use raises a page: what a tracker says of the use that brought it is not to be told
     * again. */
    bool use_once;
    /* Bytes of state for so many nodes, a multiple of 8; 0 when nodes are out of range. */
    size_t (*bytes)(uint32_t nodes);
    /* The state is all zeros; nothing is resident. 0, or -EINVAL: a number out of range, or an
     * unknown `first`. */
    int (*init)(void *state, const struct replace_config *config);
    /* The state is in a block of bytes(nodes), zeros behind what it was; nodes are no fewer than
     * before. */
    void (*grow)(void *state, uint32_t nodes);
    void (*touch)(void *state, uint32_t node);
    /* region: 0..REPLACE_REGIONS_MAX - 1, whose page it is; 0 where there are no regions. */
    void (*enter)(void *state, uint32_t node, uint32_t region);
    void (*enter_unused)(void *state, uint32_t node, uint32_t region);
    /* A resident node, or REPLACE_NONE: nothing is resident. incoming: the node that the frame is
     * for (not resident; its
       enter follows), or REPLACE_NONE: memory is reclaimed ahead. */
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
    /* Resident or not, known or not: afterwards it is neither. */
    void (*forget)(void *state, uint32_t node);
    /* So many frames from now on, at least 1. Evicting what is too much is the caller's. */
    void (*resize)(void *state, uint32_t frames);
    bool (*resident)(const void *state, uint32_t node);
    void (*report)(const void *state, struct replace_report *out);
    /* NULL, or which invariant is broken. Takes time by the number of nodes: for tests. */
    const char *(*check)(const void *state);
};

extern const struct replace_ops replace_lru, replace_clock, replace_mru, replace_lirs,
    replace_lirs_recent, replace_arc, replace_sieve, replace_s3fifo, replace_wtinylfu,
    replace_wtinylfu_margin, replace_gap, replace_region, replace_chooser;
extern const struct replace_ops *const replace_policies[]; /* NULL-terminated, in the order above */

/* The policy of that name, or NULL. */
const struct replace_ops *replace_find(const char *name);
