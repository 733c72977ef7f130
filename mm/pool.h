/*
 * A pool: the memory of one process, or with mem.pool=global of all of them. It knows each page
 * that is or was resident as a node, how many frames it may have, and by a policy which page goes
 * next. There are pools only where pages can go anywhere or memory is limited (pools_wanted);
 * without, address spaces manage by themselves.
 *
 * How others plug in:
 *   a replacement policy is a struct replace_ops (mm/policy/replace/replace.h), chosen by
 *   mem.policy when a pool is made. All its calls are
 *       made under the pool's lock; its state is moved when the pool's nodes have become too few.
 *   a tracker (mm/track/track.h) hands pages that were used, in their order, to pool_sink(), and is
 *   asked before a page leaves. Where none
 *       watches, faults are all that a policy hears of, and with mem.accessed the accessed bits of
 *       pages about to go.
 *   a prefetcher names nodes when a page is read in or a prefetched one first used; pool_fetch()
 *   starts their reading. They come
 *       back READY: not mapped, so that their first use is a fault, and seen.
 *   who divides memory between pools calls pool_set_target().
 *
 * A node's life, by its state; the page table has its page (HERE) or its number (all others):
 *
 *      new -> HERE -> GOING -> WRITING -> OUT -> COMING -> READY -> HERE       (a clean page goes
 *      from GOING to OUT)
 *                                 \-> HERE, when it is used while it is being written (it stays
 *                                 unfit to go until that is done);
 *                                     READY, when writing failed
 * A page that is unmapped while somebody has its frame (GOING, WRITING, COMING) is an orphan: its
 * node has no space any more, and who has the frame frees both.
 *
 * Locks: [P] = the pool's lock, taken under a space's [S], also by interrupts; [-] = fixed; [A] =
 * atomic; [L] = that of the list of pools.
 */
#pragma once
#include "kernel/mem/account.h"
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
#define POOL_BEHIND 256 /* pages remembered that a sequential reading has passed, a power of two */
#define POOL_QUEUES 32  /* who waits for a node sleeps in one of so many */

enum node_state {
    NODE_FREE,    /* no page's */
    NODE_HERE,    /* mapped: frame is the page */
    NODE_READY,   /* in frame, not mapped */
    NODE_COMING,  /* being read into frame */
    NODE_GOING,   /* unmapped, but TLBs may still know frame */
    NODE_WRITING, /* being written from frame */
    NODE_OUT,     /* in slot; without one it is all zeros */
};

enum node_flag {
    NODE_DIRTY =
        /* differs from its slot, or has none and is not all zeros; the page table may know it is,
         * too */
    1,
    NODE_BEHIND = 2, /* HERE: it was used while it was being written, which is not done yet */
    NODE_UNUSED = 4, /* COMING, READY: nobody has asked for it yet */
    NODE_FAILED = 8, /* OUT: could not be read, alone, when somebody asked for it */
    /* UNUSED: the prefetch policy wanted it, and waits to hear what becomes of it */
    NODE_PREDICTED = 16,
    /* HERE: the policy has heard of the use that brought it; the tracker, which watches, is still
     * to tell of the same one. */
    NODE_FRESH = 32,
    NODE_ALONE =
        /* could not be written together with others: DIRTY, and what is in its slot is not known */
    64,
};

struct node {
    struct space *space; /* NULL: free or an orphan */
    uint64_t page;       /* number of the virtual page; free: the next free node */
    uint32_t frame;      /* number of the frame, or 0 */
    uint32_t slot;       /* where it is or was swapped out to, or SLOT_NONE */
    uint8_t state, flags;
    uint8_t region; /* which it was made in, as policies are told */
};

struct pool {
    struct spinlock lock;
    struct node *nodes;               /* [P] */
    uint32_t capacity, free_nodes;    /* [P] of nodes */
    uint32_t free_head;               /* [P] or NODE_NONE */
    const struct replace_ops *ops;    /* [-] */
    void *state;                      /* [P] the policy's */
    const struct prefetch_ops *ahead; /* [-] of prefetch, or NULL */
    struct prefetch *prefetch;        /* [P] NULL: nothing is prefetched */
    /* [P] of all pages; NULL: the prefetch policy does not look */
    struct lrustack *order[PREFETCH_ORDERS];
    /* [P] what the policy says where there is no memory for a fault's own list */
    struct prefetch_list unheard;
    struct memory_account *account; /* [-] that its tables are charged to, or NULL */
    uint64_t charged;               /* [P] bytes of them */
    uint32_t limit;                 /* [-] frames it may ever have */
    /* [P] frames it should have when memory is short; 0: an even part */
    uint32_t target;
    /* [P] frames it had when memory became short; 0: it has not, or there is no goal */
    uint32_t kept;
    uint32_t planned; /* [P] frames that its target goes towards (mm/policy/divide/plan.h) */
    bool bound;       /* [P] it may never have more than its target */
    /* [P] so long has any of its threads waited for a page, up to then */
    uint64_t held_up_ns, held_up_to_ns;
    uint32_t held_up_threads; /* [P] so many wait for one */
    /* mm/pool/divide.c: major faults, and held_up_ns, at its last look */
    uint64_t judged_faults, judged_ns;
    /* mm/pool/divide.c: when that was, or when the pool began */
    uint64_t judged_at_ns;
    uint32_t weight, rate_max; /* [-] what it is to get: mem.weight, mem.rate */
    uint64_t seed;             /* [-] of its policy: mem.seed */
    bool mru_decides;          /* [-] its part of memory is decided by MRU's curve, too */
    /* [-] pages are asked whether they were used: mem.accessed */
    bool accessed;
    /* [P] mm/pool/divide.c: what came of that, but for target and planned */
    struct pool_division division;
    uint32_t reserve; /* [P] so many are kept free */
    uint32_t frames;  /* [P] it has, those on their way in or out included */
    /* [P] of those, nodes' (others are in hand: on their way to a node, or back) */
    uint32_t held;
    uint32_t leaving;  /* [P] of those, GOING and WRITING */
    uint32_t coming;   /* [P] of those, COMING */
    uint32_t promised; /* [P] so many more pages are about to leave */
    uint64_t vain;     /* [P] pages looked at since one could leave, or a frame was to be had */
    uint32_t hand;     /* [P] the node looked at last where policies name nodes in vain */
    /* [P] threads that wait for a frame of memory as a whole: mm/pool/reclaim_line.h */
    uint32_t waiting;
    /* [A] written under [P]: memory is short, trackers are to watch its spaces */
    bool is_short;
    uint32_t unused; /* [P] of those it has, flagged NODE_UNUSED */
    /* [P] came by sequential reading, in this order: they leave first */
    /* [P] ever put in, and taken out */
    /* [P] who waits for a node */
    /* [P] a thread is about to make nodes */
    /* [P] ... others wait for that */
    /* [P] who waits at its limit for a frame, or for the pool's end */
    /* [P] */
    /* [L] that use it */
    /* [L] who works on it besides */
    /* [L] its end, for pins to be 0 */
    /* [L] */
    /* [-] */
    uint32_t behind[POOL_BEHIND];
    uint32_t behind_head, behind_tail;
    struct wait_queue busy[POOL_QUEUES];
    bool growing;
    struct wait_queue grown;
    struct wait_queue room;
    struct pool_stats stats;
    uint32_t spaces;
    uint32_t pins;
    struct wait_queue unpinned;
    struct list link;
    bool global;
};

/* ---- Pools (pool.c). Thread context unless they say otherwise. ------------------------------ */
/* Are there to be pools, by what the arguments say now: is there a disk to swap to, or memory
 * limited, or mem.pools=always? Any context; who begins a space without another one to be like
 * asks (space_create). */
bool pools_wanted(void);
/* The pool for a new space: as the arguments say now (like: NULL) or, of a process that another one
 * starts, like that one's. account: what its tables are charged to, as long as the space is there,
 * or NULL; those of the pool that all use are charged to none. 0, -ENOMEM or -EDQUOT. */
int pool_join(const struct pool *like, struct memory_account *account, struct pool **out);
/* The space, which has no page in it any more, leaves; the last one ends the pool, after waiting,
 * whatever becomes of the process, for all that is still being read or written and for who works on
 * it (pools_each). No lock held. */
void pool_leave(struct pool *p);
/* [P] held: a thread waits for a page from then on, by arch_clock_ns(); until now, and the page
 * came, which is a major fault. Threads' waits may be at the same time. */
void pool_wait_begins_locked(struct pool *p, uint64_t since_ns);
void pool_wait_ends_locked(struct pool *p, uint64_t since_ns, uint64_t now_ns, bool came);
/* [P] held: p->held_up_ns up to now. */
uint64_t pool_held_up_locked(struct pool *p, uint64_t now_ns);
/* Room for further nodes, pages leaving for it (pool_grow.c). -ENOMEM: none can, or there are as
 * many nodes as can be; -EDQUOT: its account has no room for them; -EINTR. No lock held. */
int pool_grow(struct pool *p);
/* Bytes of what grows with the number of nodes, for so many: nodes, and what policies know of them,
 * with what they have besides. In whole pages. Any context. */
uint64_t pool_tables_bytes(const struct pool *p, uint32_t nodes);
/* So many more a new node would be charged for: 0 while there is room. Thread context, no lock
 * held. */
uint64_t pool_bytes_to_grow(struct pool *p);
/* Nodes from..to - 1 are free, in this order and before *head. */
void pool_link_free(struct node *nodes, uint32_t from, uint32_t to, uint32_t *head);
/* So many frames should it have when memory is short, or, if it is bound, at any time; policies are
 * told. */
void pool_set_target(struct pool *p, uint32_t frames, bool bound);
/* [P] held: so many frames may it have now, at most. */
uint32_t pool_cap_locked(const struct pool *p);
/* Calls f for each pool, pinned, no lock held. */
void pools_each(void (*f)(struct pool *p, void *arg), void *arg);
/* Is memory short for it, as of the last frame that anybody asked for? Any context, without a
 * lock. */
static inline bool pool_is_short(const struct pool *p)
{
    return __atomic_load_n(&p->is_short, __ATOMIC_RELAXED);
}
/* Panics on a broken invariant. */
void pool_check(struct pool *p);

/* ---- Nodes. [P] held. ----------------------------------------------------------------------- */
/* A new page that is HERE, or NODE_NONE: pool_grow. */
uint32_t pool_node_new(struct pool *p, struct space *s, vaddr_t va, uint32_t frame, uint8_t region);
/* A new page that is READY, read ahead, or NODE_NONE: pool_grow. The frame is charged. */
uint32_t pool_node_ahead(struct pool *p, struct space *s, vaddr_t va, uint32_t frame,
                         uint8_t region);
/* The same for a node that is OUT and has no slot. */
void pool_node_filled(struct pool *p, uint32_t n, uint32_t frame);
/* Its region is read sequentially: it is to leave when reading has gone on a little. The next such
 * node, which may have become anything else since, or NODE_NONE. */
void pool_behind_add(struct pool *p, uint32_t n);
uint32_t pool_behind_next(struct pool *p);
/* So many pages more may be read before anybody asks, where a program has said how it reads. */
uint32_t pool_ahead_room(const struct pool *p);
/* The node is nobody's; its frame has been seen to. */
void pool_node_free(struct pool *p, uint32_t n);
/* Its frame goes back, and whoever waits for room is woken. */
void pool_frame_free(struct pool *p, uint32_t n);
void pool_set_state(struct pool *p, uint32_t n, enum node_state state);
/* A page that has been taken out of its table, or its number has, is gone for ever; not one that is
 * BEHIND. Its frame, if it was HERE: it goes back, and is uncharged, when no TLB knows it. Else
 * 0: all is done, or will be. */
uint32_t pool_forget(struct pool *p, uint32_t n);
/* Where who waits for the node sleeps. */
static inline struct wait_queue *pool_queue(struct pool *p, uint32_t n)
{
    return &p->busy[n % POOL_QUEUES];
}

/* ---- Frames of pools (reclaim.c) ------------------------------------------------------------- */
/* The caller gets the right to one more frame of the pool, for a node that is read in or NODE_NONE,
 * after others' pages have left if need be. 0; -ENOMEM: nothing can leave; -EDQUOT: the same of
 * the process's own pages, which has all that it may; -EINTR: the process ends. No lock held. */
int pool_charge(struct pool *p, uint32_t incoming);
void pool_uncharge(struct pool *p, uint32_t frames); /* any context, without its lock */

/* hot.c: pages of the space, which has a curve, that are mapped and have been used since this was
 * asked last, as the tracker has it, though nothing was logged of them in the epoch before, or that
 * was their first use. In the turn of track_each_curve, no lock held. */
uint32_t pool_hot_pages(struct pool *p, struct space *s);

/* ---- What trackers and prefetchers call. No lock held. -------------------------------------- */
/* A sink of trackers (mm/track/track.h): the pages of a run were used, in this order. */
void pool_sink(struct space *s, const struct page_run *run);
enum pool_fetch {
    FETCH_TOUCH = 1,     /* those that are resident are touched for the replacement policy */
    FETCH_PREDICTED = 2, /* the prefetch policy wants them */
};
/* Starts reading those of these nodes of p that are out, in this order, `max` at most, as long as
 * frames are free or others leave without being written. How many it has begun. */
unsigned pool_fetch(struct pool *p, const uint32_t *nodes, unsigned n, unsigned max, unsigned how);
/* The nodes of those of n pages, by their virtual numbers, that have one, in the same order: how
 * many. */
unsigned space_nodes(struct space *s, const uint64_t *page, unsigned n, uint32_t *nodes);
