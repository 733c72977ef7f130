/*
 * A pool: the memory of one process with those that it has forked or, with mem.pool=global, of all
 * processes. A pool knows each page that is or was resident as a node, the number of frames it may
 * have, and, by a replacement policy, which page to evict next.
 *
 * What plugs in:
 * - A replacement policy is a struct replace_ops (mm/policy/replace/replace.h), chosen by
 *   mem.policy when a pool is made. It is called under the pool's lock; its state is moved when the
 *   pool gets more nodes.
 * - A tracker (mm/track/track.h) hands used pages, in order of use, to pool_sink() and is asked
 *   before a page is evicted. Where no tracker watches, a policy hears of faults only and, with
 *   mem.accessed, of the accessed bits of pages about to be evicted.
 * - A prefetch policy (mm/policy/prefetch/prefetch.h) names nodes when a page is read or a
 *   prefetched page is first used; pool_fetch() starts reading them. They become READY: they are
 *   not mapped, so that their first use faults and is noticed.
 * - The division of memory among pools (mm/pool/divide.c) calls pool_set_target().
 *
 * A node's life, by its state. A page table holds the page, if it maps it, otherwise the node's
 * number:
 *
 *      new -> HERE -> GOING -> WRITING -> OUT -> COMING -> READY -> HERE
 *
 * - A clean page goes from GOING to OUT.
 * - A page used while WRITING becomes HERE and cannot be evicted until the write ends.
 * - A page that could not be written becomes READY, as does one that no table maps any more.
 *
 * Spaces that descend from one by fork, a lineage (mm/lineage.h), share a pool and, until one
 * of them writes, pages. `sharers` counts the tables that have a node: its page, its number, or
 * none any more, but TLBs have not forgotten the page. `mapped` counts those that have its page,
 * or whose TLBs may. While there are several sharers no table gives the right to write, but to
 * COMMON pages. While threads hold a node (`holds`) its frame is neither evicted nor freed. A page
 * of a file has one sharer, the file's own table; processes that map it count in `mapped`.
 *
 * A page whose last sharer goes while it is GOING, WRITING, COMING or held becomes an orphan: its
 * node has no lineage any more, and the code that completes the transfer, or holds it, frees node
 * and frame.
 *
 * Locks: [P] the pool's lock, taken under a space's [S], also by interrupts; [-] fixed; [A] atomic;
 * [L] the lock of the list of pools.
 */
#pragma once
#include "kernel/mem/account.h"
#include "kernel/mem/frame.h"
#include "hpm/path/ring.h"
#include "mm/policy/curve/lrustack.h"
#include "mm/mm.h"
#include "mm/policy/prefetch/prefetch.h"
#include "mm/policy/replace/replace.h"
#include "mm/policy/slots.h"
#include "kernel/lib/list.h"
#include "kernel/core/lock.h"
#include "sched/sched.h"

#define NODE_NONE   UINT32_MAX
#define POOL_PASSED 256 /* entries of struct passed_pages, a power of two */
#define POOL_QUEUES 32  /* wait queues for nodes, chosen by the node's number */

enum node_state {
    NODE_FREE,    /* belongs to no page */
    NODE_HERE,    /* mapped */
    NODE_READY,   /* in its frame, not mapped */
    NODE_COMING,  /* being read into its frame */
    NODE_GOING,   /* unmapped, but TLBs may still map its frame */
    NODE_WRITING, /* being written from its frame */
    NODE_OUT,     /* in its slot; without a slot the page is all zeros */
};

enum node_flag {
    /* The page differs from its slot, or has no slot and is not all zeros. Of a mapped page the
     * page table may know this first. */
    NODE_DIRTY = 1,
    NODE_RESCUED = 2,    /* HERE: used while it was being written; the write has not ended */
    NODE_UNUSED = 4,     /* COMING, READY: read before any thread asked for it */
    NODE_FAILED = 8,     /* OUT: reading it alone, for a thread that waited, failed */
    NODE_PREDICTED = 16, /* UNUSED: the prefetch policy asked for it and must hear its outcome */
    /* HERE: the replacement policy has heard of the use that brought the page in; the tracker that
     * watches will report the same use once more. */
    NODE_FRESH = 32,
    /* DIRTY: writing it together with other pages failed; its slot's contents are unknown. */
    NODE_ALONE = 64,
    NODE_COMMON = 128, /* of memory that forked processes share: all its sharers may write to it */
};

struct node {
    struct lineage *lineage;          /* NULL: free, or an orphan */
    uint64_t page;                    /* virtual page number; of a free node the next free node */
    uint32_t frame;                   /* frame number, or 0 */
    uint32_t slot;                    /* where the page is or was swapped out to, or SLOT_NONE */
    uint8_t state : 7, elsewhere : 1; /* elsewhere: its contents are also where they stay */
    uint8_t flags;
    uint8_t region; /* number of its region, as policies are told it */
    uint8_t holds;  /* threads that read its frame */
    uint16_t sharers, mapped;
};
_Static_assert(sizeof(struct node) == 32, "there are millions");

/* What prefetching keeps of a pool: mm/pool/prefetching.c. The tables are replaced by larger ones
 * when the pool gets more nodes. */
struct prefetching {
    const struct prefetch_ops *ops; /* [-] NULL: nothing is prefetched */
    struct prefetch *policy;        /* [P] NULL: nothing is prefetched */
    /* [P] orders of all pages, the first ops->orders of them; the others are NULL */
    struct lrustack *order[PREFETCH_ORDERS];
    uint32_t unused; /* [P] nodes flagged NODE_UNUSED */
    /* [P] filled in, and not read, where there is no memory for a fault's own list */
    struct prefetch_list spare_list;
};

/* What the division of memory keeps of a pool: mm/pool/divide.c, which documents the terms. */
struct pool_share {
    uint32_t weight, rate_max; /* [-] mem.weight, mem.rate */
    bool mru_decides;          /* [-] MRU's curve, too, decides the pool's part of memory */
    bool bound;                /* [P] the pool may never have more frames than its target */
    uint32_t target;           /* [P] frames to keep when memory is short; 0: an even part */
    uint32_t planned;          /* [P] frames that targets move towards (mm/policy/divide/plan.h) */
    /* [P] frames it had when memory first was short, set by mm/pool/reclaim.c; 0: it never was, or
     * there is no goal */
    uint32_t kept;
    /* [P] major faults, time held up, and the time itself, at the last look; at first the pool's
     * beginning */
    uint64_t last_faults, last_held_up_ns, last_look_ns;
    struct pool_division
        division; /* [P] the last division's outcome; its target and planned are 0 */
};

/* The time during which at least one thread of the pool waited for a page: mm/pool/node.c. [P] */
struct pool_held_up {
    uint64_t ns, to_ns; /* the sum, up to to_ns */
    uint32_t threads;   /* that wait for a page now */
};

/* Nodes that a sequential reader has passed, in order of reading: evicted first. [P] */
struct passed_pages {
    uint32_t node[POOL_PASSED];
    uint32_t head, tail; /* nodes ever added and taken out */
};

/* Nodes of the pool of files, in the order of their uses, which its curve is yet to be told of
 * (mm/track/curve.c). */
#define POOL_USES 1024 /* a power of two */
struct pool_uses {
    uint32_t head,
        tail;      /* head - tail uses, at most POOL_USES; head is read without the lock, too */
    uint64_t lost; /* there was no room */
    uint32_t node[POOL_USES];
};

struct pool {
    struct spinlock lock;

    /* Nodes: mm/pool/node.c, pool_grow.c */
    struct node *nodes;                  /* [P] */
    uint32_t capacity, free_nodes;       /* [P] of nodes */
    uint32_t free_head;                  /* [P] or NODE_NONE */
    struct wait_queue busy[POOL_QUEUES]; /* [P] threads that wait for a node to change */
    bool growing;                        /* [P] a thread makes more nodes */
    struct wait_queue grown;             /* [P] threads that wait for these */
    struct memory_account *account;      /* [-] the tables are charged to, or NULL */
    uint64_t charged;                    /* [P] bytes of tables charged */

    /* Replacement */
    const struct replace_ops *ops; /* [-] */
    void *state;                   /* [P] the policy's */
    uint64_t seed;                 /* [-] the policy's: mem.seed */
    bool accessed;                 /* [-] eviction looks at accessed bits: mem.accessed */
    struct passed_pages passed;    /* [P] */

    /* Frames: mm/pool/reclaim.c, evict.c */
    bool limited;       /* [-] when it was made memory was limited, or there was a swap disk */
    uint32_t limit;     /* [-] frames the pool may ever have */
    uint32_t reserve;   /* [-] frames of the limit that reclaim keeps free */
    uint32_t frames;    /* [P] frames charged to the pool */
    uint32_t held;      /* [P] of these, frames of nodes; threads have the others in hand */
    uint32_t elsewhere; /* [A] written under [P]: of those, frames of nodes that are elsewhere */
    uint32_t leaving;   /* [P] nodes GOING or WRITING */
    uint32_t coming;    /* [P] nodes COMING */
    uint32_t promised;  /* [P] pages that threads are about to evict */
    uint32_t waiting;   /* [P] threads of the pool in line for memory (reclaim_line.h) */
    struct wait_queue room; /* [P] threads that wait for a frame, or for the pool's end */
    bool is_short;          /* [A] written under [P]: memory is short, trackers are to watch */
    uint64_t vain;          /* [P] pages looked at since one was evicted or a frame was charged */
    uint32_t hand;          /* [P] the last node that evict.c looked at in order of nodes */

    struct prefetching prefetching;
    struct pool_share share;
    struct pool_held_up held_up;
    struct pool_stats stats; /* [P] */

    bool files; /* [-] its pages are those of files (mm/object.h), which processes may map, too */
    struct pool_uses *uses; /* [P] of files, where memory is limited, else NULL */

    /* The list of pools: mm/pool/pool.c */
    uint32_t spaces;            /* [L] that use the pool */
    uint32_t pins;              /* [L] threads that work on the pool without using it */
    struct wait_queue unpinned; /* [L] the ending pool's thread, until pins is 0 */
    struct list link;           /* [L] */
    bool global;                /* [-] all processes use it */
};

/* ---- Pools (pool.c). Thread context unless they say otherwise. ------------------------------ */
/* Finds or makes the pool of a new space: like `like`, the pool of the process that starts this
 * one, or, if like is NULL, as the arguments say now. `account` is charged for the pool's tables as
 * long as the space exists; NULL and the global pool: none is. Returns 0, -ENOMEM or -EDQUOT. */
int pool_join(const struct pool *like, struct memory_account *account, struct pool **out);
/* As pool_join, for memory of files (mm/object.h): there is one pool for all, which may have all
 * frames that processes together may have. Returns 0 or -ENOMEM. */
int pool_join_files(struct pool **out);
/* Returns the pool of files, or NULL: there is none. Any context. */
struct pool *pool_of_files(void);
/* Returns whether half of the room for uses is taken. Any context, no lock. */
static inline bool pool_uses_are_many(const struct pool *p)
{
    return p->uses && __atomic_load_n(&p->uses->head, __ATOMIC_RELAXED) -
                              __atomic_load_n(&p->uses->tail, __ATOMIC_RELAXED) >
                          POOL_USES / 2;
}
/* Adds a space to p, which another one is in. */
void pool_join_too(struct pool *p);
/* Takes a space that has no page any more out of p. The last space ends the pool, after waiting
 * uninterruptibly for pending reads and writes and for pins (pools_each). No lock held. */
void pool_leave(struct pool *p);
/* Begins a thread's wait for a page, as of since_ns by arch_clock_ns(). Waits of several threads
 * may overlap. [P] held. */
void pool_wait_begins_locked(struct pool *p, uint64_t since_ns);
/* Ends the wait at now_ns; `came`: the page came, which counts as a major fault. [P] held. */
void pool_wait_ends_locked(struct pool *p, uint64_t since_ns, uint64_t now_ns, bool came);
/* Returns p->held_up.ns, brought up to now_ns. [P] held. */
uint64_t pool_held_up_locked(struct pool *p, uint64_t now_ns);
/* Makes room for more nodes, evicting pages for it if need be (pool_grow.c). Returns 0; -ENOMEM: no
 * page can be evicted, or the pool has the most nodes possible; -EDQUOT: the account is exhausted;
 * -EINTR. No lock held. */
int pool_grow(struct pool *p);
/* Returns the bytes, in whole pages, of all tables that p needs for `nodes` nodes. Any context. */
uint64_t pool_tables_bytes(const struct pool *p, uint32_t nodes);
/* Returns the bytes that one more node would be charged for: 0 while a node is free. No lock
 * held. */
uint64_t pool_bytes_to_grow(struct pool *p);
/* Links nodes from..to - 1 as free ones, in this order, in front of *head. */
void pool_link_free(struct node *nodes, uint32_t from, uint32_t to, uint32_t *head);
/* Sets the frames that p keeps when memory is short (0: an even part); if bound, its cap at all
 * times. Resizes its policies. No lock held. */
void pool_set_target(struct pool *p, uint32_t frames, bool bound);
/* Returns the most frames that p may have now. [P] held. */
uint32_t pool_cap_locked(const struct pool *p);
/* Calls f for each pool, pinned, no lock held. */
void pools_each(void (*f)(struct pool *p, void *arg), void *arg);
/* Tells whether memory was short for p when a frame was last asked for. Any context, no lock. */
static inline bool pool_is_short(const struct pool *p)
{
    return __atomic_load_n(&p->is_short, __ATOMIC_RELAXED);
}
/* Panics on a broken invariant. */
void pool_check(struct pool *p);

/* ---- The replacement policy (node.c). [P] held. ---------------------------------------------- */
/* These call the policy's touch(), enter(), resize() and victim(), and answer the policy's
 * questions. */
void pool_touch_locked(struct pool *p, uint32_t n);
void pool_resize_locked(struct pool *p, uint32_t frames);
void pool_enter_locked(struct pool *p, uint32_t n);
uint32_t pool_victim_locked(struct pool *p, uint32_t incoming);

/* Returns whether the frame has a page of p, and not one of a file, which a process maps though it
 * is in another pool. */
static inline bool pool_owns(const struct pool *p, paddr_t frame)
{
    return frame_page(frame)->of_files == p->files;
}

/* Returns whether the page, which a space in p has, is its own, in memory or out, and not an
 * object's. */
static inline bool pool_owns_page(const struct pool *p, const struct arch_page *page)
{
    return page->kind == ARCH_PAGE_OUT || (page->kind == ARCH_PAGE_HERE && pool_owns(p, page->pa));
}

/* ---- Nodes. [P] held. ----------------------------------------------------------------------- */
/* Makes a node that is HERE for a new page at va. Returns it, or NODE_NONE: call pool_grow. */
uint32_t pool_node_new(struct pool *p, struct space *s, vaddr_t va, uint32_t frame, uint8_t region);
/* Makes a node that is OUT, without a slot, and has the flags, for a new page at va. Returns it, or
 * NODE_NONE: call pool_grow. */
uint32_t pool_node_out(struct pool *p, struct space *s, vaddr_t va, uint8_t flags, uint8_t region);
/* Makes node n, which is OUT without a slot, READY in `frame`, which is charged: it was read
 * ahead. */
void pool_node_filled(struct pool *p, uint32_t n, uint32_t frame);
/* Makes node n, which is OUT, COMING into `frame`, which is charged: it is to be read ahead. */
void pool_node_coming(struct pool *p, uint32_t n, uint32_t frame);
/* Notes that a sequential reader has reached n: n is to be evicted when reading has gone on a
 * little. */
void pool_passed_add(struct pool *p, uint32_t n);
/* Takes out the next node to evict, which may have changed since, or returns NODE_NONE. */
uint32_t pool_passed_next(struct pool *p);
/* Returns the number of further pages that may be read ahead where a program has advised how it
 * reads. */
uint32_t pool_readahead_room(const struct pool *p);
/* Frees a node that has no frame any more, and its slot. */
void pool_node_free(struct pool *p, uint32_t n);
/* Counts a frame of node n: one more, or one less. */
static inline void pool_count_held(struct pool *p, uint32_t n, int more)
{
    uint32_t elsewhere = p->elsewhere + (p->nodes[n].elsewhere ? (uint32_t)more : 0);

    p->held += (uint32_t)more;
    __atomic_store_n(&p->elsewhere, elsewhere, __ATOMIC_RELAXED);
}
/* Makes the frame, which is charged, that of node n. */
static inline void pool_frame_take(struct pool *p, uint32_t n, uint32_t frame)
{
    struct page *page = frame_page_number(frame);

    page->next = n;
    page->of_files = p->files;
    p->nodes[n].frame = frame;
    pool_count_held(p, n, 1);
}
/* Frees the node's frame and wakes threads that wait for one. */
void pool_frame_free(struct pool *p, uint32_t n);
/* Changes the node's state and wakes threads that wait for the node. */
void pool_set_state(struct pool *p, uint32_t n, enum node_state state);
/* Returns whether others have the node's page, too, or threads read its frame. */
static inline bool pool_is_shared(const struct node *node)
{
    return node->sharers > 1 || node->holds;
}
/* Returns whether who writes to the node's page gets a copy, so that no table may give the right to
 * write to it. */
static inline bool pool_is_copied(const struct node *node)
{
    return pool_is_shared(node) && !(node->flags & NODE_COMMON);
}
/* Returns whether the node's page cannot be forgotten now: it is being written though it is HERE,
 * or TLBs of processes that map an object may have it. The node's queue tells of the end. */
static inline bool pool_is_kept(const struct node *node)
{
    return (node->flags & NODE_RESCUED) || node->mapped > node->sharers;
}
/* Forgets a page that is no longer in its only page table, neither itself nor its number; not one
 * that is RESCUED. Returns its frame if it was mapped: the caller frees and uncharges it when no
 * TLB maps it. Else returns 0: nothing is left to do for the caller. */
uint32_t pool_forget(struct pool *p, uint32_t n);
/* Notes that a table has node n's page no longer. */
void pool_unmapped(struct pool *p, uint32_t n);
/* Takes a sharer away: its table has node n no longer, and no TLB of its own maps the page. The
 * last one's page is forgotten. */
void pool_drop_share(struct pool *p, uint32_t n);
/* Holds node n's frame, unless too many threads do; lets go of it. */
bool pool_hold(struct pool *p, uint32_t n);
void pool_let_go(struct pool *p, uint32_t n);
/* Returns the queue of threads that wait for node n. */
static inline struct wait_queue *pool_queue(struct pool *p, uint32_t n)
{
    return &p->busy[n % POOL_QUEUES];
}

/* ---- Frames of pools (reclaim.c) ------------------------------------------------------------- */
/* Charges p for one more frame, evicting pages and waiting if need be. `incoming`: the node that is
 * to be read into the frame, or NODE_NONE. Thread context, no lock held. Returns 0; -ENOMEM: no
 * page can be evicted; -EDQUOT: the same where the pool has all that its own limit allows; -EINTR:
 * the process ends. */
int pool_charge(struct pool *p, uint32_t incoming);
/* Gives back `frames` charged frames. [P] not held. Any context. */
void pool_uncharge(struct pool *p, uint32_t frames);

/* ---- What trackers and prefetchers call. No lock held. -------------------------------------- */
/* Tells the policies of a use of node n, which is HERE. [P] held. */
void pool_used_locked(struct pool *p, uint32_t n);
/* A sink of trackers (mm/track/track.h): touches the run's pages, in their order. */
void pool_sink(struct space *s, const struct page_run *run);
enum pool_fetch {
    FETCH_TOUCH = 1,     /* touch resident pages in the replacement policy */
    FETCH_PREDICTED = 2, /* the prefetch policy wants the pages */
};
/* Starts reading up to `max` of the n nodes that are OUT in a slot, in their order, as long as
 * frames are free or pages can be evicted without a write. `how`: flags of enum pool_fetch. Returns
 * the number of reads begun. */
unsigned pool_fetch(struct pool *p, const uint32_t *nodes, unsigned n, unsigned max, unsigned how);
/* Stores in nodes[] the nodes of n virtual pages of s, leaving out pages that have none. Returns
 * their number. */
unsigned space_nodes(struct space *s, const uint64_t *page, unsigned n, uint32_t *nodes);
