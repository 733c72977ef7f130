/*
 * Page tables, portably: the walker knows trees of 512-entry tables whose levels are described by
 * data; the format of an entry is an ISA's table of small functions. It allocates tables through
 * the caller's frames, does no TLB work and takes no lock: the owner of a tree serialises changes.
 * Tables are reached through the direct map.
 */
#pragma once
#include "kernel/lib/base.h"

struct arch_frames; /* kernel/arch/arch.h */
struct arch_page;

#define PT_LEVELS_MAX 5
#define PT_ENTRIES    512

struct pt_level {
    uint8_t shift; /* an entry of this level covers 1 << shift bytes */
    bool leaf;     /* may an entry map memory directly? */
};

/* Entry format of one ISA. All functions are pure but for store. */
struct pt_format {
    unsigned levels;        /* depth; level 0 is the root, the last one maps pages */
    unsigned physical_bits; /* of the addresses that can be mapped, at most 52 */
    struct pt_level level[PT_LEVELS_MAX];
    uint64_t (*leaf)(paddr_t pa, unsigned prot, unsigned level); /* maps memory */
    uint64_t (*table)(paddr_t table, unsigned prot);             /* refers to a lower table */
    bool (*present)(uint64_t entry);
    bool (*is_leaf)(uint64_t entry, unsigned level);
    paddr_t (*address)(uint64_t entry, unsigned level); /* of the table or the page */
    unsigned (*prot)(uint64_t entry);                   /* of a leaf, as PROT_ bits */
    void (*store)(uint64_t *slot, uint64_t entry);      /* makes it visible to the page walker */
    /* The same if *slot still holds old, atomically against the page walker's own changes; was it
     * so? */
    bool (*replace)(uint64_t *slot, uint64_t old, uint64_t entry);
    /* Of a user's 4 KB page: what has been done to it, as ARCH_USED and ARCH_WRITTEN; the entry
     * with these marks, and with other rights and the same marks. */
    unsigned (*marks)(uint64_t entry);
    uint64_t (*mark)(uint64_t entry, unsigned marks);
    uint64_t (*protect)(uint64_t entry, unsigned prot);
    /* An entry that is not present and carries a number of the kernel's; is it one, and which? */
    uint64_t (*number)(uint32_t number);
    bool (*is_number)(uint64_t entry, uint32_t *number);
};

struct pt {
    const struct pt_format *format;
    const struct arch_frames *frames;
    paddr_t root;
};

/* Maps [va, va + size) to pa on, all multiples of 4 KB, by the largest pages that fit. 0; -ERANGE:
 * [pa, pa + size) has more bits than can be mapped; -ENOMEM or -EEXIST, and then the part before
 * the failure stays mapped. */
int pt_map(struct pt *pt, vaddr_t va, paddr_t pa, uint64_t size, unsigned prot);
/* One 4 KB page; larger leaves are refused with -EINVAL. 0 and the page that was there, or
 * -ENOENT. */
int pt_unmap(struct pt *pt, vaddr_t va, paddr_t *pa);
int pt_protect(struct pt *pt, vaddr_t va, unsigned prot);
/* The number takes the page's place; with which marks, see struct pt_format, the page went. */
int pt_evict(struct pt *pt, vaddr_t va, uint32_t number, paddr_t *pa, unsigned *marks);
/* Clears and sets marks of the page; what they were. */
int pt_mark(struct pt *pt, vaddr_t va, unsigned clear, unsigned set, unsigned *were);
/* The number at va goes. 0 or -ENOENT. */
int pt_forget(struct pt *pt, vaddr_t va);
/* What is at the n pages from va on, all below one entry of the last level but one; a part of a
 * larger leaf: nothing. How many of them are something. */
unsigned pt_look(const struct pt *pt, vaddr_t va, unsigned n, struct arch_page *out);
/* Any leaf: pa is that of va's own 4 KB page. */
int pt_query(const struct pt *pt, vaddr_t va, paddr_t *pa, unsigned *prot);
/* Makes sure that the root's entry for va refers to a table, so that copies of the root share what
 * is below.
 */
int pt_prepare(struct pt *pt, vaddr_t va, unsigned prot);
/* Frees the tables below the root's entries [first, end), not the pages they map. */
void pt_free_tables(struct pt *pt, unsigned first, unsigned end);
