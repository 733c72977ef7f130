/*
 * What mm stands on, for host tests that run it complete: frames filled with other contents
 * whenever they change hands; page tables and TLBs that keep all they were not told to forget; and
 * disks that answer late, in any order, or with an error. Threads are those of
 * test/host/double/fibers.h.
 *
 * A test fails if a frame is freed while a TLB still maps it, or could be executed before caches
 * were told of it.
 */
#pragma once
#include "test/host/double/fibers.h"
#include "kernel/dev/block/block.h"
#include "mm/mm.h"

enum {
    MM_FRAMES = 4096,
    MM_TABLE_PAGES = 4096, /* of a space, from MM_BASE on; nothing else can be mapped */
    MM_SWAP_PAGES = 16384,
    MM_SOURCE_PAGES = 512,
};
/* mm maps memory that may be anywhere as high as possible below the table's end */
#define MM_BASE (MMAP_TOP - MM_TABLE_PAGES * PAGE_SIZE)

#define INSIST(cond)                                                                    \
    do {                                                                                \
        if (!(cond)) {                                                                  \
            fprintf(stderr, "%s:%d: must not be: not %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                                    \
        }                                                                               \
    } while (0)

/* A disk, its contents, and how often it fails: one page in `read_fails` or `write_fails`; 0:
 * none. */
struct disk_double {
    struct block_device device;
    uint8_t (*page)[PAGE_SIZE];
    uint64_t bad_page; /* also fails whenever it is read; 0: none */
    uint64_t takes_ns; /* of a request, at least */
    unsigned read_fails, write_fails;
    uint64_t failed_reads, failed_writes; /* requests */
};
extern struct disk_double swap_double, source_double;
/* Defined by a test that wants it: a read into this frame from the swap disk has failed. */
void mm_double_read_failed(paddr_t frame) __attribute__((weak));
/* Defined by a test that wants it: a user access has missed a CPU's TLB and found the page. */
void mm_double_walked(struct space *s, vaddr_t va, bool write) __attribute__((weak));

extern unsigned mm_frames_used, mm_heap_used; /* in use */
extern unsigned mm_areas_made;                /* since the start */
extern unsigned mm_frames_max;                /* there are */
extern unsigned
    /* one allocation of a frame in this many is refused although frames are free; 0: none */
    mm_frame_fails;
extern uint64_t mm_frames_refused; /* how many were refused so */
extern bool mm_tlb_keeps;          /* TLBs forget only when told to */
/* one mapping of a new page in this many finds no memory; 0: none */
extern unsigned mm_map_fails;

/* Makes the disks and memory. Called once in a process, before anything of mm. */
void mm_double_boot(uint64_t seed);
/* Accesses the page in user mode on the current CPU; `use` gets its frame at once. Returns 0 or the
 * page fault's error. */
int mm_access(struct space *s, vaddr_t va, enum fault_access access,
              void (*use)(void *frame, void *arg), void *arg);
/* Returns the page table's entry, as arch_space_look. */
struct arch_page mm_look(struct space *s, vaddr_t va);

/* There is a PMU that records one TLB miss in each sampling period. Set before track_init. */
extern bool mm_double_samples;
/* Defined by a test that wants it: an access was recorded, the latest of all. */
void mm_double_sampled(const struct space *s, vaddr_t va) __attribute__((weak));
/* another user has the PMU's sampling session */
extern bool mm_double_sampling_busy;
/* Sets a boot argument of mm or of trackers, by name. */
void mm_argument(const char *name, uint64_t value);
