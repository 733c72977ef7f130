/*
 * What mm stands on, for host tests that run it complete: frames that are filled with something
 * else whenever they change hands, page tables and TLBs that keep what nobody told them to forget,
 * and disks that answer late, in any order, or with an error. Threads are
 * test/host/double/fibers.h's.
 *
 * A frame that is given back while some TLB still knows it fails the test, and one that could be
 * executed before caches were told of it.
 */
#pragma once
#include "test/host/double/fibers.h"
#include "kernel/dev/block/block.h"
#include "mm/mm.h"

enum {
    MM_FRAMES = 4096,
    MM_TABLE_PAGES = 4096, /* of a space, from MM_BASE on: nothing else can be mapped */
    MM_SWAP_PAGES = 4096,
    MM_SOURCE_PAGES = 512,
};
#define MM_BASE ((vaddr_t)0x200000000000) /* where mm begins to map what may be anywhere */

#define INSIST(cond)                                                                    \
    do {                                                                                \
        if (!(cond)) {                                                                  \
            fprintf(stderr, "%s:%d: must not be: not %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                                    \
        }                                                                               \
    } while (0)

/* A disk: what is on it, and how often it fails: one page in so many, 0: none. */
struct disk_double {
    struct block_device device;
    uint8_t (*page)[PAGE_SIZE];
    uint64_t bad_page; /* ... and this one whenever it is read; 0: none */
    uint64_t takes_ns; /* at the least, for a request */
    unsigned read_fails, write_fails;
    uint64_t failed_reads, failed_writes; /* requests */
};
extern struct disk_double swap_double, source_double;
/* The test's, where it has one: reading these frames from the swap disk has failed. */
void mm_double_read_failed(paddr_t frame) __attribute__((weak));
/* A user access has missed a CPU's TLB, and found the page. */
void mm_double_walked(struct space *s, vaddr_t va, bool write) __attribute__((weak));

extern unsigned mm_frames_used, mm_heap_used; /* that are out */
extern unsigned mm_areas_made;                /* ever */
extern unsigned mm_frames_max;                /* that there are */
extern unsigned
    mm_frame_fails; /* a frame is refused although there are some, one time in so many; 0: never */
extern uint64_t mm_frames_refused; /* ... so often */
extern bool mm_tlb_keeps;          /* TLBs forget only what they are told to */
/* mapping where nothing was finds no memory, one time in so many; 0: never */
extern unsigned mm_map_fails;

/* Disks there are, and memory; before anything of mm is called, once in a process. */
void mm_double_boot(uint64_t seed);
/* The CPU accesses the page, in user mode: use gets what is there, at once. 0, or what the page
 * fault said. */
int mm_access(struct space *s, vaddr_t va, enum fault_access access,
              void (*use)(void *frame, void *arg), void *arg);
/* What the tables say of it, as arch_space_look. */
struct arch_page mm_look(struct space *s, vaddr_t va);

/* A PMU that records accesses which miss a TLB, one in so many as it was asked; false: there is
 * none. Set before track_init. */
extern bool mm_double_samples;
/* The test's, where it has one: an access was recorded, the latest of all. */
void mm_double_sampled(const struct space *s, vaddr_t va) __attribute__((weak));
/* Somebody else has its session. */
extern bool mm_double_sampling_busy;
/* A boot argument of mm's or of trackers, by its name. */
void mm_argument(const char *name, uint64_t value);
