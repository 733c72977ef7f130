/*
 * The inside of an address space, for the files of mm only.
 *
 * Lock [S]: a spinlock, held for short stretches. No page is zeroed for a fault, no TLB shot down
 * and no thread blocked under it. Long work goes batch by batch and looks at the space anew in
 * each.
 *
 * Mutex [M], map_lock, is held by what changes regions, around [S]; so the regions may be read
 * under either. Faults do not take it, but for one that finds nothing, which waits for it and looks
 * again: a mapping is replaced at one stroke.
 */
#pragma once
#include "kernel/mem/account.h"
#include "mm/policy/region/region.h"
#include "kernel/core/lock.h"
#include "mm/lineage.h"
#include "sched/sched.h"

struct active_set;
struct block_device;
struct curve;
struct pool;

/* Where the frames of a space's page tables come from. */
struct space_tables {
    struct arch_frames frames;
    struct memory_account *account; /* [-] charged for them, or NULL */
    uint64_t charged;               /* [S] frames charged */
};

struct space {
    struct spinlock lock;
    struct space_tables tables;
    struct arch_space arch; /* [S] */
    struct mutex map_lock;
    struct regions regions;    /* [M][S]; spare nodes: [M] */
    uint32_t region_nodes;     /* [M] allocated */
    vaddr_t brk_start, brk;    /* [M] heap of brk; 0: none */
    uint64_t wx_choice;        /* [-] mem.wx when it was made */
    bool wx;                   /* [-] memory may be writable and executable */
    bool files;                /* [-] its pages are those of files: no thread runs in it */
    bool elsewhere;            /* [-] likewise: their contents are also where they stay */
    struct list objects;       /* [M] those it maps, as struct object_user (mm/object.h) */
    struct pool *pool;         /* [-] has a node for each page */
    struct lineage *lineage;   /* [-] */
    struct list relative;      /* lock of the lineage */
    bool leaves;               /* lock of the lineage: it is no longer pinned */
    uint32_t pid;              /* [-] the process, for messages */
    uint64_t mapped_pages;     /* [S] of regions that count: space_counts */
    uint64_t locked_pages;     /* [S] written under [M], too; of locked regions */
    bool locks_future;         /* [M] new regions are locked */
    bool has_shared;           /* [A] there has been a region that forked processes share */
    bool objects_gone;         /* [M] a region of an object was removed: `objects` may be fewer */
    uint64_t resident_pages;   /* [S] mapped by the page tables */
    uint64_t out_pages;        /* [S] with a node's number in the page tables */
    uint64_t faults;           /* [S] */
    uint64_t waits, waited_ns; /* [S] of threads, for pages to be read */
    /* [A] threads that evict pages of the space, which cannot end meanwhile */
    uint32_t pins;
    struct wait_queue unpinned; /* [S] */
    uint8_t next_tag;           /* [S] number of the next region, as policies know it */
    bool told_short;            /* [A] what trackers were told last of its memory */
    uint16_t number;            /* [-] known to trackers; 0: not */
    bool watched, is_short;     /* mm/track/track.c */
    struct curve *curve;        /* mm/track/curve.c */
    struct active_set *active;  /* mm/track/soft.c */
};

/* Returns whether policies are told each use of its pages, so that nothing is made of a fault, or
 * of accessed marks. */
static inline bool space_tells(const struct space *s)
{
    return s->watched || s->files;
}
/* Returns the page tables' protection for a page of a region with protection `prot`. A page without
 * rights stays in the tables, and every access to it faults. `shared`: pool_is_copied of its
 * node. */
static inline unsigned space_page_prot(unsigned prot, bool shared)
{
    unsigned all = prot ? prot | PROT_R | PROT_USER : PROT_USER;

    return shared ? all & ~(unsigned)PROT_W : all;
}
/* space.c: returns whether who writes to a page in s's tables gets a copy, or the right to it only
 * then: pool_is_copied of its node, or an object's. [S] held. */
bool space_shares(struct space *s, const struct arch_page *page);

/* space_check.c: as space_check, for a space that no thread runs in any more; mostly with
 * interrupts on. */
void space_check_end(struct space *s);
/* Where mapped contents come from: source.c. */
struct page_source_ops {
    bool slow;   /* reading makes a thread wait */
    bool object; /* `of` is an object: a shared mapping has its frames (mm/object.h) */
    /* Reads n pages from `page` on into frames. Thread context, no lock held. Returns 0 or -EIO. */
    int (*read_pages)(const struct page_source *s, uint64_t page, unsigned n, paddr_t *frames);
    /* Returns the disk that has the contents, in their order from its first page on, of at most *n
     * pages from `page` on, and makes *n less if there are fewer; NULL: none, or they change. Any
     * context. */
    struct block_device *(*disk)(const struct page_source *s, uint64_t page, unsigned *n);
};
/* Returns whether the region's pages count as mapped. */
static inline bool space_counts(const struct region *r)
{
    return r->prot && !(r->flags & REGION_UNCOUNTED);
}

/* Notes that region r has got `pages` more, or lost some. [M] and [S] held. */
static inline void space_note_pages(struct space *s, const struct region *r, int64_t pages)
{
    s->mapped_pages += space_counts(r) ? (uint64_t)pages : 0;
    s->locked_pages += r->flags & REGION_LOCKED ? (uint64_t)pages : 0;
}

/* space.c: makes a space without a page in the pool and lineage of another. Thread context, no lock
 * held. Returns 0, -ENOMEM or -EDQUOT. */
int space_create_relative(struct space *of, struct memory_account *account, struct space **out);
/* space.c: makes a space for the pages of files, in their pool; `elsewhere`: their contents are
 * also where they stay. Thread context, no lock held. Returns 0 or -ENOMEM. */
int space_create_for_files(bool elsewhere, struct space **out);
/* space.c: allocates nodes for `more` further regions. [M] held. Returns 0 or -ENOMEM. */
int space_reserve_regions(struct space *s, unsigned more);
/* space.c: the same to take regions out of [va, end), which only a hole amid one makes more. */
int space_reserve_to_remove(struct space *s, vaddr_t va, vaddr_t end);
/* space.c: frees nodes that are left over, releases [M], and then ends what is no longer mapped of
 * objects. */
void space_unlock_regions(struct space *s);
/* drop.c: drops all pages of [va, end). Unless the regions are closed, faults may bring new ones.
 * Thread context. */
void space_drop_pages(struct space *s, vaddr_t va, vaddr_t end);
/* drop.c: the same of those that are objects', and not the space's own. */
void space_drop_shown(struct space *s, vaddr_t va, vaddr_t end);
/* drop.c: splits regions at va and end, so that a change concerns whole regions. Two nodes are
 * reserved. [M] and [S] held. */
void space_cut_locked(struct space *s, vaddr_t va, vaddr_t end);
/* drop.c: takes all regions out of [va, end), cut to size: closes them and drops their pages. They
 * are left in place, for space_remove_locked. Two nodes are reserved. [M] held. */
void space_close(struct space *s, vaddr_t va, vaddr_t end);
/* drop.c: removes the closed regions of [va, end). [M] and [S] held. */
void space_remove_locked(struct space *s, vaddr_t va, vaddr_t end);
#define MAPPED_PAGES_MAX ((64 * GIB) >> PAGE_SHIFT) /* that a space may count */
/* map.c: returns 0; -EINVAL: no rights of a program; -EACCES: writable and executable. */
int space_check_prot(const struct space *s, unsigned prot);
/* map.c: returns the pages of [va, end) that count as mapped. [M] held. */
uint64_t space_counted(const struct space *s, vaddr_t va, vaddr_t end);
/* map.c: returns the tag of a neighbour that the region, not inserted or just changed, continues or
 * is continued by, or a new one. [M] and [S] held. */
uint8_t space_tag_for(struct space *s, const struct region *region);
/* map.c: returns 0, or -EINVAL: not whole pages in user space. */
int space_check_range(vaddr_t va, uint64_t len);
/* map.c: returns whether [va, va + len) is in user space and not mapped. [M] held. */
bool space_is_free(const struct space *s, vaddr_t va, uint64_t len);
/* map.c: extends the stack above va down to it, if there is one and it may grow so far. Returns
 * whether it did. [M] held. */
bool space_grow_stack(struct space *s, vaddr_t va);
/* locked.c: returns whether `pages` more pages may be locked. [M] held. */
bool space_may_lock(const struct space *s, uint64_t pages);
/* Pages that are to be read ahead of a sequential reader. */
struct read_on {
    vaddr_t va;
    unsigned n; /* 0: none */
};
/* readahead.c: begins a read of a source at va, which belongs to r. Returns the number of pages to
 * read together, from va on, at least 1, and notes in *on which others. [S] held. */
unsigned readahead_begin_locked(struct space *s, struct region *r, vaddr_t va, struct read_on *on);
/* readahead.c: notes which, if any, when the page at va of r is wanted that is read with others, or
 * was: `late`, it has not come yet. `most`: pages. [S] held. */
void readahead_on_locked(struct region *r, vaddr_t va, bool late, unsigned most,
                         struct read_on *out);
/* readahead.c: starts reading them, if va of s still maps the source's page. Thread context, no
 * lock held. */
void readahead_start(struct space *s, const struct page_source *source, uint64_t page,
                     const struct read_on *on);
/* readahead.c: reads n pages of the source, from `page` on: the first into frame `first`, the
 * others into frames of their own, which become pages of s unless they have been read otherwise
 * meanwhile. Thread context, no lock held. Returns 0; -EIO: the first page could not be read; or
 * -ENXIO: it is behind the end of an object. */
int readahead_read(struct space *s, const struct page_source *source, uint64_t page, vaddr_t va,
                   unsigned n, paddr_t first);
/* fault.c: brings the page at va, whatever its region's protection, as one that only s has. Thread
 * context. Returns as space_fault. */
int space_fault_own(struct space *s, vaddr_t va);
/* fill.c: makes the pages of [va, end) the space's own: copies what relatives have, too. [M] held.
 * Returns 0 or an error of space_fault. */
int space_unshare(struct space *s, vaddr_t va, vaddr_t end);
/* fetch.c: starts reading the pages of [va, end) that are out, as far as there is room. Thread
 * context, no lock held. */
void space_fetch(struct space *s, vaddr_t va, vaddr_t end);
