/*
 * The memory of processes, as other folders see it: address spaces and paging. It stands above the
 * scheduler: a page fault may sleep.
 */
#pragma once
#include "kernel/arch/arch.h"
#include "kernel/core/cmdline.h"
#include "kernel/lib/base.h"
#include "mm/policy/region/region.h"
#include "mm/policy/replace/replace.h"

extern const struct arg mm_args[]; /* boot arguments mem.* and swap* */

/* ---- Address spaces (space.c, fault.c) ------------------------------------------------------- */
struct block_device;
struct memory_account;
struct space; /* the memory of a process: regions and page tables */
#define REGION_NAME_MAX REGION_NAME_SIZE
/* Mappings that may be anywhere are put as high as possible below this address. */
#define MMAP_TOP ((vaddr_t)0x00007ffff7a00000)
enum region_kind { REGION_ANON, REGION_IMAGE, REGION_STACK, REGION_FILE, REGION_HEAP };
/* NORMAL, SEQUENTIAL and RANDOM hold from then on, for readahead and eviction; WILLNEED and
 * DONTNEED act at once. */
enum region_advice {
    ADVICE_NORMAL,
    ADVICE_SEQUENTIAL,
    ADVICE_RANDOM,
    ADVICE_WILLNEED,
    ADVICE_DONTNEED
};

/* Makes an address space. Its memory is configured like that of `like`, the space of the process
 * that starts this one, or, if `like` is NULL, as the boot arguments say now. `account` is charged
 * for page tables and regions as long as the space exists; NULL: none is. Thread context, no lock
 * held. Returns 0, -ENOMEM or -EDQUOT. */
int space_create(const struct space *like, struct memory_account *account, struct space **out);
/* Returns the most kernel memory, in bytes, that the next page of s may be charged for: a page
 * table and the growth of its pool. Further page tables come on top. Thread context, no lock
 * held. */
uint64_t space_tables_wanted(const struct space *s);
/* Sets the process's number, for messages and trackers. Called once. */
void space_set_pid(struct space *s, uint32_t pid);
/* Makes a copy of a space: the same regions, and the same pages until one of the two writes to one.
 * `account`: as of space_create. Pages that the kernel shows are not in the copy, nor is its memory
 * locked. Thread context, no lock held. Returns 0, -ENOMEM or -EDQUOT. */
int space_fork(struct space *parent, struct memory_account *account, struct space **out);
/* Destroys a space that no thread runs in any more. */
void space_destroy(struct space *s);
/* Tells whether the program is one that is bundled with the kernel, for mem.wx. Called before
 * anything is mapped for it. */
void space_set_bundled(struct space *s, bool bundled);
struct arch_space *space_arch(struct space *s);
/* Returns the number by which page logs know s, or 0: they do not. */
uint16_t space_number(const struct space *s);
/* Return contents to map: `bytes` bytes at `data`, which stay where and what they are; a disk. A
 * mapping of them is a private copy. */
struct page_source page_source_memory(const void *data, uint64_t bytes);
struct page_source page_source_disk(struct block_device *d);
enum mapping_flag {
    MAPPING_FIXED = 1,      /* at va; replaces what is there, at one stroke */
    MAPPING_NOREPLACE = 2,  /* at va, or -EEXIST */
    MAPPING_APART = 4,      /* with an unmapped page on both sides; not joined to neighbours */
    MAPPING_GROWS = 8,      /* a stack: grows downward by faults, up to STACK_LIMIT in all */
    MAPPING_UNCOUNTED = 16, /* a reservation: does not count as mapped */
    /* space_fork makes no copy: what one of the two writes both have, and of an object all that map
     * it */
    MAPPING_SHARED = 32,
    MAPPING_READ_ONLY = 64, /* it never gets the right to write */
};
#define STACK_LIMIT (8 * MIB)
/* What to map. Without MAPPING_FIXED and NOREPLACE, va is a hint, page-aligned, or 0. */
struct mapping {
    vaddr_t va;
    uint64_t len; /* bytes; rounded up to pages */
    unsigned prot, flags;
    enum region_kind kind;
    const char *name;          /* for messages */
    struct page_source source; /* ops NULL: zeros */
    uint64_t source_page;      /* page of the source at the first address */
    vaddr_t below;             /* end of where it may be, unless it is at va; 0: anywhere */
};
/* Maps memory. Pages without rights do not count as mapped. Stores the address. Thread context, no
 * lock held, as all functions that change mappings. Returns 0; -EEXIST; -EINVAL: outside user
 * space, or not page-aligned; -EACCES: writable and executable where mem.wx denies it; -ENOMEM:
 * no room, too many regions, or the process may map no more. */
int space_mmap(struct space *s, const struct mapping *m, vaddr_t *out);
/* Maps demand-zero memory at va, or, if va is 0, anywhere, apart from other mappings. Returns as
 * space_mmap. */
int space_map(struct space *s, vaddr_t va, uint64_t len, unsigned prot, enum region_kind kind,
              const char *name, vaddr_t *out);
/* Maps `len` bytes of disk d, from its page `page` on, anywhere; len 0: up to the disk's end. A
 * page is read when it is first touched, and again after it has been evicted. A writable mapping is
 * a private copy. Stores the mapped bytes in *mapped. Returns 0; -EINVAL: beyond the disk, or not
 * whole pages; -EBUSY: the disk is the swap disk; -EACCES: writable and executable; -ENOMEM. */
int space_map_disk(struct space *s, struct block_device *d, uint64_t page, uint64_t len,
                   unsigned prot, vaddr_t *out, uint64_t *mapped);
/* Sets where the heap of brk begins: behind the program's image. Called once, before threads. */
void space_set_brk(struct space *s, vaddr_t start);
/* Moves the end of the heap to `end`, if that can be. Returns its end, as Linux's brk. */
vaddr_t space_brk(struct space *s, vaddr_t end);
/* Unmaps [va, va + len), which may have holes. Returns 0, -EINVAL or -ENOMEM. */
int space_unmap(struct space *s, vaddr_t va, uint64_t len);
/* Changes the protection of [va, va + len). Returns 0; -ENOMEM: a part is not mapped; -EACCES:
 * writable and executable, or MAPPING_READ_ONLY; -EINVAL. */
int space_protect(struct space *s, vaddr_t va, uint64_t len, unsigned prot);
enum remap_flag { REMAP_MAYMOVE = 1, REMAP_FIXED = 2, REMAP_DONTUNMAP = 4 };
/* Makes the mapping at va, `old_len` bytes of one region, `len` bytes long: where it is, or, with
 * REMAP_MAYMOVE, elsewhere; with REMAP_FIXED at `to`, in place of what is there. REMAP_DONTUNMAP:
 * the pages move, and the old mapping stays, empty. Stores the address. Returns 0; -EFAULT: not
 * mapped, or not by one region; -EINVAL; -ENOMEM. */
int space_remap(struct space *s, vaddr_t va, uint64_t old_len, uint64_t len, unsigned flags,
                vaddr_t to, vaddr_t *out);
/* Applies `advice` to what is mapped of [va, va + len). WILLNEED: starts reading pages that are
 * out, as far as there is room. DONTNEED: drops the pages, which have their first contents when
 * next used. Returns 0; -ENOMEM: a part is not mapped; -EINVAL, also for DONTNEED of what is
 * locked. */
int space_advise(struct space *s, vaddr_t va, uint64_t len, enum region_advice advice);
/* Names what is mapped of [va, va + len), for messages and policies, by up to REGION_NAME_MAX - 1
 * characters; equal neighbours become one. Returns 0; -ENOMEM: a part is not mapped; -EBADF: a part
 * has a source; -EINVAL. */
int space_set_name(struct space *s, vaddr_t va, uint64_t len, const char *name);
/* Writes n bytes to va, in a mapped region of any protection (ELF loading). Returns 0, -ENOMEM,
 * -EFAULT or another error of space_fault. */
int space_fill(struct space *s, vaddr_t va, const void *src, size_t n);
/* Handles a page fault. Thread context, no lock held. Returns 0: repaired; -EFAULT: not mapped or
 * not allowed; -ENXIO: behind the end of a mapped file; -ENOMEM; -EDQUOT: the process has all that
 * it may; -EIO: the page could not be read; -EINTR: the process is ending. */
int space_fault(struct space *s, vaddr_t va, enum fault_access access);
/* Brings all pages of [va, va + len), as accesses would. Thread context, no lock held. Returns 0,
 * -EINVAL, or the first error of space_fault. */
int space_populate(struct space *s, vaddr_t va, uint64_t len, enum fault_access access);
/* Writes what was stored to shared mappings in [va, end) of files to where they stay. Thread
 * context, no lock held. Returns 0 or the first error of object_sync. */
int space_sync(struct space *s, vaddr_t va, vaddr_t end);
#define SPACE_LOCKED_MAX (8 * MIB) /* locked memory of a space, as Linux's RLIMIT_MEMLOCK */
/* Locks what is mapped of [va, va + len): its pages, once they are there, are not evicted; or
 * unlocks it. A space in a pool may lock a quarter of the pool's limit, and SPACE_LOCKED_MAX at
 * most. Returns 0, -EINVAL, or -ENOMEM: too much, or a part is not mapped. */
int space_lock(struct space *s, vaddr_t va, uint64_t len, bool on);
/* Locks all that is mapped now and, if `future`, from now on; or unlocks all. Returns 0 or
 * -ENOMEM. */
int space_lock_all(struct space *s, bool now, bool future);
int space_unlock_all(struct space *s);
/* Tells whether what is mapped from now on is locked. */
bool space_locks_future(const struct space *s);
/* Stores for each page of [va, va + len), at most SPACE_RESIDENT_MAX pages, whether it is in
 * memory: 1 or 0. Returns 0, -EINVAL, or -ENOMEM: a part is not mapped. */
#define SPACE_RESIDENT_MAX 512
int space_resident(struct space *s, vaddr_t va, uint64_t len, uint8_t *out);
/* Tells whether all of [va, va + len) is mapped. */
bool space_is_mapped(struct space *s, vaddr_t va, uint64_t len);
/* Maps a page of the caller's at va, in SHOWN_BASE..SHOWN_MAX, for user mode: prot is PROT_R, maybe
 * with PROT_X, or, of registers, PROT_R | PROT_W | PROT_WRITTEN |
 * PROT_DEVICE. The page stays the caller's: one that is to be freed is hidden first, others the end
 * of the space hides. Thread context. Returns 0, -ENOMEM, -EDQUOT or -EEXIST. */
int space_show(struct space *s, vaddr_t va, paddr_t page, unsigned prot);
void space_hide(struct space *s, vaddr_t va);
/* Returns what a word at va is known by together with *place, to all processes that have it: s and
 * va; for memory that forked ones share what these have in common, and va; or an object that s maps
 * and the byte in it. Thread context, no lock held. */
const void *space_word_owner(struct space *s, vaddr_t va, uint64_t *place);
struct object;
/* Returns the object whose beginning is mapped, shared, at va, or NULL; only to be compared with
 * others. */
const struct object *space_object_at(struct space *s, vaddr_t va);
/* Describes in buf the region that va lies in, with the offset in it, for messages; "unmapped" if
 * there is none. Returns the kind of address as a word: "mapped", "unmapped", "null", "overflow"
 * (of a stack) or "kernel". */
const char *space_describe(struct space *s, vaddr_t va, char *buf, size_t n);
/* Where an address is. */
struct space_place {
    char region[REGION_NAME_MAX];
    uint64_t offset, bytes; /* in the region; of the region */
    /* Number of the memory that the region shows and other processes may show as well, and where in
     * it; 0: the space's own. */
    uint64_t shared, shared_offset;
};
/* Finds the region that va lies in, guard pages included. Returns false if there is none. */
bool space_locate(struct space *s, vaddr_t va, struct space_place *out);
/* Of a pool, since it was made. */
struct pool_stats {
    uint64_t first_faults;                    /* new pages */
    uint64_t minor_faults;                    /* pages mapped again without a read */
    uint64_t major_faults;                    /* faults that waited for a read */
    uint64_t waited_ns;                       /* sum of these waits, each from its fault on */
    uint64_t page_ins, page_outs, clean_outs; /* pages read; written; evicted without a write */
    /* pages read before a thread asked for them; of these used; and not used */
    uint64_t prefetched, prefetched_used, wasted;
    uint64_t rescued;        /* pages used while they were being written */
    uint64_t waits_for_room; /* times a thread waited for a frame */
    uint64_t read_errors, write_errors;
};
/* The outcome of the last division of memory for a pool (mem.goal). */
struct pool_division {
    const char *goal;         /* NULL: even parts; the following members are 0 */
    uint32_t target, planned; /* pages kept when memory is short; pages that target moves towards */
    uint32_t weight, step;    /* step: pages by which lost_more and lost_less differ from planned */
    uint32_t hot;             /* pages used all the time, which no curve counts */
    /* predicted loss of speed, in millionths, with planned pages, with step more, and with step
     * less */
    uint64_t lost, lost_more, lost_less;
};
struct pool_prefetch {
    const char *policy;
    unsigned level;  /* one number of the policy's state: a window, or a threshold */
    uint32_t unused; /* pages read before a thread asked for them, resident and not used yet */
    /* pages used while still being read; times that prefetching stopped because of too many unused
     * pages */
    uint64_t late, stopped;
};
struct space_stats {
    uint64_t mapped_pages, resident_pages, out_pages, locked_pages, faults;
    /* of this space, for pages to be read; those of the whole pool are in `pool` */
    uint64_t waits, waited_ns;
    uint64_t room_pages;      /* pages that the space can still fill: pool_room_pages */
    uint64_t elsewhere_pages; /* of files: resident ones whose contents are also where they stay */
    bool watched;             /* by a tracker, now */
    /* replacement policy; NULL: when the process began memory was not limited, and there was no
     * swap disk; the following members are 0 */
    const char *policy;
    uint64_t limit_pages, pool_pages; /* of its pool, which other spaces may share */
    struct pool_stats pool;
    struct replace_report replace;
    struct pool_division division;
    struct pool_prefetch prefetch;
};
void space_stats(struct space *s, struct space_stats *out);
/* Reads those of the pool of files (mm/object.h); members of a space are 0, but for resident_pages.
 * Returns false: no file has been written to. */
bool space_stats_of_files(struct space_stats *out);
struct region_stats {
    vaddr_t start, end;
    unsigned prot, advice;
    bool shared; /* MAPPING_SHARED */
    bool grows;  /* MAPPING_GROWS */
    enum region_kind kind;
    uint64_t offset; /* bytes, in the file or disk that it shows */
    uint64_t resident_pages, out_pages, faults, slow_faults;
    const char *policy; /* replacement policy of its pages; NULL: as of space_stats */
    char name[REGION_NAME_MAX];
};
/* Finds the first region that ends above `from`. Returns false if there is none. */
bool space_next_region(struct space *s, vaddr_t from, struct region_stats *out);
/* Finds the name of the first region that policies know by number `tag`. Returns false if there is
 * none. */
bool space_region_name(struct space *s, unsigned tag, char name[REGION_NAME_MAX]);
/* Returns the number of pages resident or out, which may be out of date. Any context. */
uint64_t space_pages(const struct space *s);
/* Panics on a broken invariant. */
void space_check(struct space *s);

/* ---- Paging (swap.c, reclaim.c) -------------------------------------------------------------- */
/* Starts paging: from now on pages can be evicted. Called by main, in a thread, when the disks are
 * known. */
void paging_start(void);
/* Tells whether memory is divided among pools by their curves (mem.goal). Any context. */
bool paging_divides(void);
/* Tells whether there is a swap disk; does not change after paging_start. Any context. */
bool swap_present(void);
/* Tells whether there is a swap disk with next to no free slot. Any context. */
bool swap_full(void);
/* Tells whether there is a swap disk that has failed, so that no page is written to it any more.
 * Any context. */
bool swap_failed(void);
