/*
 * The TLB of one hardware thread, which is also the simulator's own translation cache: the emulator
 * is asked only for pages that are not in it. Entries cover 4 KB; larger pages are split. Each
 * entry is tagged with its address space (PCID, ASID) unless it is global. Replacement is exact
 * LRU: the ways of a set are in order of recency.
 */
#pragma once
#include "test/machine/topology.h"

#define TLB_IO 1u /* the page is a device's, not memory */

struct tlb_entry {
    uint64_t key;   /* virtual page, global bit and address space, or TLB_INVALID */
    uint64_t frame; /* physical address of the page, flags in the low bits */
};
#define TLB_INVALID UINT64_MAX

struct tlb {
    struct tlb_entry *entries;
    uint32_t sets; /* a power of two */
    uint32_t ways;
};

/* Returns 0 or -ENOMEM. */
int tlb_init(struct tlb *t, struct geometry g);
void tlb_free(struct tlb *t);

static inline paddr_t tlb_frame(const struct tlb_entry *e)
{
    return e->frame & ~(paddr_t)PAGE_MASK;
}

static inline bool tlb_is_io(const struct tlb_entry *e)
{
    return e->frame & TLB_IO;
}

/* A key is virtual address bits 12 to 56, which tell all pages of both halves apart, then the
 * global bit, then the space. */
#define TLB_KEY_GLOBAL ((uint64_t)1 << 16)
#define TLB_KEY_SHIFT  17
#define TLB_KEY_PAGES  (((uint64_t)1 << 45) - 1)
static inline uint64_t tlb_key(vaddr_t va, uint16_t space)
{
    return (va >> PAGE_SHIFT & TLB_KEY_PAGES) << TLB_KEY_SHIFT | space;
}

static inline uint64_t tlb_key_global(vaddr_t va)
{
    return (va >> PAGE_SHIFT & TLB_KEY_PAGES) << TLB_KEY_SHIFT | TLB_KEY_GLOBAL;
}

static inline struct tlb_entry *tlb_set(const struct tlb *t, vaddr_t va)
{
    return t->entries + (size_t)(va >> PAGE_SHIFT & (t->sets - 1)) * t->ways;
}

const struct tlb_entry *tlb_lookup_slow(struct tlb *t, vaddr_t va, uint16_t space);

/* Returns the entry, or NULL on a miss. Valid until the next call on this TLB. */
static inline const struct tlb_entry *tlb_lookup(struct tlb *t, vaddr_t va, uint16_t space)
{
    const struct tlb_entry *front = tlb_set(t, va);
    if (__builtin_expect(front->key == tlb_key(va, space) || front->key == tlb_key_global(va), 1))
        return front;
    return tlb_lookup_slow(t, va, space);
}

/* Returns whether there is an entry. Leaves recency alone. */
bool tlb_holds(const struct tlb *t, vaddr_t va, uint16_t space);

/* Enters the translation after a miss, in place of the set's least recent one, or of the page's
 * former one. */
const struct tlb_entry *tlb_insert(struct tlb *t, vaddr_t va, uint16_t space, bool global,
                                   paddr_t pa, bool io);

void tlb_flush_all(struct tlb *t);                   /* global ones, too: CR4.PGE, TLBI VMALLE1 */
void tlb_flush_nonglobal(struct tlb *t);             /* in all spaces: INVPCID type 3 */
void tlb_flush_space(struct tlb *t, uint16_t space); /* except global ones: MOV CR3, TLBI ASIDE1 */
/* In the space, or global: INVLPG, TLBI VAE1. */
void tlb_flush_page(struct tlb *t, vaddr_t va, uint16_t space);
void tlb_flush_page_all(struct tlb *t, vaddr_t va); /* in every space: TLBI VAAE1 */

/* Returns the invariant that is broken, or NULL. */
const char *tlb_check(const struct tlb *t);
