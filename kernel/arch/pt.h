/*
 * Portable page tables: the walker handles trees of 512-entry tables. Data describes their levels;
 * the format of an entry is an ISA's table of small functions. Tables are allocated through the
 * caller's frames and accessed through the direct map. Does no TLB work and takes no lock: the
 * owner of a tree serialises changes.
 */
#pragma once
#include "kernel/lib/base.h"

struct arch_frames; /* kernel/arch/arch.h */
struct arch_page;

#define PT_LEVELS_MAX 5
#define PT_ENTRIES    512

struct pt_level {
    uint8_t shift; /* an entry of this level covers 1 << shift bytes */
    bool leaf;     /* whether an entry may map memory directly */
};

/* The entry format of an ISA. All functions but store and replace are pure. */
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
    /* Stores `entry` if *slot still holds `old`, atomically with respect to the page walker.
     * Returns whether it did. */
    bool (*replace)(uint64_t *slot, uint64_t old, uint64_t entry);
    /* Of a user's 4 KB page: its marks, ARCH_USED and ARCH_WRITTEN; the entry with these marks; and
     * the entry with other rights and the same marks. */
    unsigned (*marks)(uint64_t entry);
    uint64_t (*mark)(uint64_t entry, unsigned marks);
    uint64_t (*protect)(uint64_t entry, unsigned prot);
    /* Makes an entry that is not present and carries a number of the kernel; returns whether an
     * entry is one, and the number. */
    uint64_t (*number)(uint32_t number);
    bool (*is_number)(uint64_t entry, uint32_t *number);
};

struct pt {
    const struct pt_format *format;
    const struct arch_frames *frames;
    paddr_t root;
};

/* Maps [va, va + size) to [pa, pa + size), all multiples of 4 KB, by the largest pages that fit.
 * Returns 0; -ERANGE: the physical addresses have too many bits; -ENOMEM or -EEXIST: the part
 * before the failure stays mapped. */
int pt_map(struct pt *pt, vaddr_t va, paddr_t pa, uint64_t size, unsigned prot);
/* Act on one 4 KB page. Return 0 (pt_unmap() returns the page, too); -ENOENT; -EINVAL: a larger
 * leaf. */
int pt_unmap(struct pt *pt, vaddr_t va, paddr_t *pa);
int pt_protect(struct pt *pt, vaddr_t va, unsigned prot);
/* Replaces a page by a number; returns the page and its marks (struct pt_format). */
int pt_evict(struct pt *pt, vaddr_t va, uint32_t number, paddr_t *pa, unsigned *marks);
/* Clears and sets marks of a page; returns the previous marks. */
int pt_mark(struct pt *pt, vaddr_t va, unsigned clear, unsigned set, unsigned *were);
/* Removes the number at `va`. Returns 0 or -ENOENT. */
int pt_forget(struct pt *pt, vaddr_t va);
/* Makes the tables for the user's page at `va`, so that mapping it cannot fail for want of
 * memory. Returns 0, -ENOMEM or an error of the frames' owner. */
int pt_reserve(struct pt *pt, vaddr_t va);
/* Puts a number where nothing is, and tables are. Returns 0; -ENOENT: there is no table; or
 * -EEXIST. */
int pt_put_number(struct pt *pt, vaddr_t va, uint32_t number);
/* Returns the first address from va on, at most `end`, whose page has a table of the last
 * level. */
vaddr_t pt_skip(const struct pt *pt, vaddr_t va, vaddr_t end);
/* Returns the contents of `n` pages from `va` on, all below one entry of the level above the last,
 * and how many are not ARCH_PAGE_NONE. Parts of a larger leaf count as ARCH_PAGE_NONE. */
unsigned pt_look(const struct pt *pt, vaddr_t va, unsigned n, struct arch_page *out);
/* Finds a leaf of any size; `pa` is that of the 4 KB page of `va`. */
int pt_query(const struct pt *pt, vaddr_t va, paddr_t *pa, unsigned *prot);
/* Makes the root's entry for `va` refer to a table, so that copies of the root share what is
 * below. */
int pt_prepare(struct pt *pt, vaddr_t va, unsigned prot);
/* Frees the tables below entries [first, end) of the root, but not the pages they map. */
void pt_free_tables(struct pt *pt, unsigned first, unsigned end);
