/*
 * Processes' memory, as the other folders see it: address spaces, paging. It stands above the
 * scheduler: a fault may sleep.
 */
#pragma once
#include "kernel/arch/arch.h"
#include "kernel/core/cmdline.h"
#include "kernel/lib/base.h"
#include "mm/policy/replace/replace.h"

extern const struct arg mm_args[]; /* boot arguments mem.* and swap* */

/* ---- Address spaces (space.c, fault.c) ------------------------------------------------------- */
struct block_device;
struct memory_account;
struct space; /* a process's memory: regions and page tables */
#define REGION_NAME_MAX 16
enum region_kind { REGION_ANON, REGION_IMAGE, REGION_STACK, REGION_DISK };
/* The first three hold from then on, for what is read ahead and what leaves first; the others are
 * done at once. */
enum region_advice {
    ADVICE_NORMAL,
    ADVICE_SEQUENTIAL,
    ADVICE_RANDOM,
    ADVICE_WILLNEED,
    ADVICE_DONTNEED
};

/* Its memory is as boot arguments say now (like: NULL) or, of a process that another one starts, as
 * that one's. account: what its page tables and regions are charged to, as long as it is there, or
 * NULL. 0, -ENOMEM or -EDQUOT. Thread context, no lock held. */
int space_create(const struct space *like, struct memory_account *account, struct space **out);
/* Bytes of kernel memory that its next page may be charged for, at most but for further page
 * tables. Thread context, no lock held. */
uint64_t space_tables_wanted(const struct space *s);
void space_set_pid(struct space *s, uint32_t pid); /* whose it is, for messages; once */
void space_destroy(struct space *s);               /* nobody runs in it any more */
struct arch_space *space_arch(struct space *s);
uint16_t space_number(const struct space *s); /* by which page logs know it; 0: not at all */
/* Reserves len bytes (rounded up to pages): at va if not 0 (-EEXIST if taken, -EINVAL outside user
 * space or unaligned), else anywhere. Demand-zero. name is for people. -ENOMEM. */
int space_map(struct space *s, vaddr_t va, uint64_t len, unsigned prot, enum region_kind kind,
              const char *name, vaddr_t *out);
/* A disk's contents from that page on, anywhere: read when a page is first touched, and again when
 * it has left memory. Who may write has a copy of its own; nobody else sees it. len 0: to the
 * disk's end; *mapped: how much it is. -EINVAL: beyond the disk, or not whole pages; -EBUSY: pages
 * are swapped to it; -ENOMEM; -EACCES: W+X. */
int space_map_disk(struct space *s, struct block_device *d, uint64_t page, uint64_t len,
                   unsigned prot, vaddr_t *out, uint64_t *mapped);
int space_unmap(struct space *s, vaddr_t va, uint64_t len); /* -EINVAL; holes are fine */
int space_protect(struct space *s, vaddr_t va, uint64_t len,
                  unsigned prot); /* -ENOMEM where nothing is mapped; W+X: -EACCES */
/* All of [va, va + len) must be mapped: -ENOMEM; -EINVAL as above. WILLNEED: pages that are out
 * are read, as far as there is room; DONTNEED: pages are forgotten, and all zeros when next
 * used. */
int space_advise(struct space *s, vaddr_t va, uint64_t len, enum region_advice advice);
/* Writes initial contents into a mapped region whatever its protection (ELF loading). -ENOMEM,
 * -EFAULT. */
int space_fill(struct space *s, vaddr_t va, const void *src, size_t n);
/* Page fault in thread context: 0 repaired; -EFAULT no mapping or not allowed; -ENOMEM; -EDQUOT the
 * process may have no more; -EIO the page could not be read in; -EINTR the process is ending. */
int space_fault(struct space *s, vaddr_t va, enum fault_access access);
/* A page of the caller's that user mode may read at va, in SHOWN_BASE..SHOWN_MAX; hidden again, by
 * who showed it, before the space is destroyed. Thread context. 0, -ENOMEM, -EEXIST. */
int space_show(struct space *s, vaddr_t va, paddr_t page);
void space_hide(struct space *s, vaddr_t va);
/* Name and offset of the region an address lies in, for messages; "unmapped" if none. */
void space_describe(struct space *s, vaddr_t va, char *buf, size_t n);
/* The region an address lies in, guard pages included, how far into it, and how large it is.
 * False: in none. */
bool space_locate(struct space *s, vaddr_t va, char name[REGION_NAME_MAX], uint64_t *offset,
                  uint64_t *bytes);
/* Of a pool, since it was made. */
struct pool_stats {
    uint64_t first_faults;                    /* pages that came into being */
    uint64_t minor_faults;                    /* others that needed no reading */
    uint64_t major_faults;                    /* waited for a page to be read */
    uint64_t waited_ns;                       /* so long, from the fault on, all of them together */
    uint64_t page_ins, page_outs, clean_outs; /* read; written; left without being written */
    uint64_t prefetched, prefetched_used, wasted; /* read before anybody asked; used; left unused */
    uint64_t rescued;                             /* used while they were being written */
    uint64_t waits_for_room;                      /* faults that waited for a frame */
    uint64_t read_errors, write_errors;
};
/* How memory was divided last (mem.goal). */
struct pool_division {
    const char *goal;         /* NULL: even parts, and what follows is 0 */
    uint32_t target, planned; /* pages it keeps when memory is short; which go towards these */
    uint32_t weight, step;    /* step: so many pages are meant by more and less */
    uint32_t hot;             /* pages used all the time, which no curve knows */
    /* foretold: millionths of its speed, with what is planned, more and less */
    uint64_t lost, lost_more, lost_less;
};
struct pool_prefetch {
    const char *policy;
    unsigned level;  /* a window, or a threshold */
    uint32_t unused; /* read before anybody asked, in memory and not used yet */
    /* used while still being read; times that too many were unused to go on */
    uint64_t late, stopped;
};
struct space_stats {
    uint64_t mapped_pages, resident_pages, out_pages, faults;
    /* For its pages to be read; how long. Those of its pool, which others may share, are in
     * pool. */
    uint64_t waits, waited_ns;
    uint64_t room_pages;              /* it can still fill: pool_room_pages */
    bool watched;                     /* by a tracker, now */
    const char *policy;               /* NULL: it has no pool, and what follows is 0 */
    uint64_t limit_pages, pool_pages; /* of its pool, which others may share */
    struct pool_stats pool;
    struct replace_report replace;
    struct pool_division division;
    struct pool_prefetch prefetch;
};
void space_stats(struct space *s, struct space_stats *out);
struct region_stats {
    vaddr_t start, end;
    unsigned prot, advice;
    uint64_t resident_pages, out_pages, faults, slow_faults;
    const char *policy; /* that its pages are replaced by; NULL: they do not leave */
    char name[REGION_NAME_MAX];
};
/* The first region that ends above from; false: there is none. */
bool space_next_region(struct space *s, vaddr_t from, struct region_stats *out);
/* The name of the first region that policies know by this number. False: there is none. */
bool space_region_name(struct space *s, unsigned tag, char name[REGION_NAME_MAX]);
uint64_t space_pages(const struct space *s); /* resident or out; any context; may be out of date */
void space_check(struct space *s);           /* panics on a broken invariant */

/* ---- Paging (swap.c, reclaim.c) -------------------------------------------------------------- */
/* main, in a thread, after the disks were found: pages may leave from now on. */
void paging_start(void);
/* Is memory divided among pools by their curves (mem.goal)? Any context. */
bool paging_divides(void);
/* Is there a swap disk? After paging_start the answer stays; any context. */
bool swap_present(void);
/* There is, and next to nothing is free on it. Any context. */
bool swap_full(void);
/* There is, and nothing more is written to it. Any context. */
bool swap_failed(void);
