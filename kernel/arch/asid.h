/*
 * Address-space identifiers: they tag entries of a TLB, so that a change of the address space
 * flushes nothing (AArch64's ASIDs; x86-64's PCIDs are similar). There are fewer identifiers than
 * spaces, so they are allocated in generations: when none is free a new generation begins, which
 * keeps only the identifiers in use by a CPU at that moment, and each CPU flushes its TLB before it
 * next uses another one.
 *
 * A space's tag consists of its identifier and its generation; 0: none yet. Identifier 0 belongs to
 * no space. Invariants: no two tags of a generation have the same identifier, and a space keeps its
 * identifier while a CPU uses it. Pure: no lock, allocation or register. The common case is
 * lock-free and inline.
 */
#pragma once
#include "kernel/lib/base.h"

#define ASID_BITS_MAX 16
#define ASID_CPUS_MAX 64
/* With this number, 0 included, a new generation has a free identifier even if every CPU keeps
 * one. */
#define ASID_COUNT_MIN (ASID_CPUS_MAX + 2)
#define ASID_COUNT_MAX (1u << ASID_BITS_MAX)

struct asids {
    uint32_t count, next; /* [L] identifiers are 0 to count - 1; none below next is free */
    unsigned cpus;
    uint64_t generation;                 /* atomic, written under [L]; shifted as in tags */
    uint64_t taken[ASID_COUNT_MAX / 64]; /* [L] bit per identifier */
    struct asid_cpu {
        uint64_t active;   /* atomic: tag in use; 0: none, or a generation has begun since */
        uint64_t reserved; /* [L] tag in use when the generation began */
        bool stale;        /* [L] must flush its whole TLB */
    } ALIGNED(CACHE_LINE) cpu[ASID_CPUS_MAX];
};

/* Initialises `count` identifiers, ASID_COUNT_MIN to ASID_COUNT_MAX, for up to ASID_CPUS_MAX
 * CPUs. */
void asid_init(struct asids *a, uint32_t count, unsigned cpus);

static inline uint32_t asid_of(uint64_t tag)
{
    return tag & (ASID_COUNT_MAX - 1);
}

/* Returns whether the tag is of this generation. Without [L] the answer may be out of date. */
static inline bool asid_current(const struct asids *a, uint64_t tag)
{
    return tag >> ASID_BITS_MAX ==
           __atomic_load_n(&a->generation, __ATOMIC_ACQUIRE) >> ASID_BITS_MAX;
}

/*
 * Marks this CPU as using the space with this tag, and returns the tag; 0: asid_assign() is needed.
 * A new generation clears every active tag, so a CPU that has read the old generation's number
 * fails here. On the CPU that is about to use the space, interrupts off, no lock.
 */
static inline uint64_t asid_enter(struct asids *a, unsigned cpu, const uint64_t *tag)
{
    uint64_t *active = &a->cpu[cpu].active;
    uint64_t was = __atomic_load_n(active, __ATOMIC_RELAXED);
    uint64_t t = __atomic_load_n(tag, __ATOMIC_RELAXED);

    if (!was || !asid_current(a, t))
        return 0;
    if (was == t)
        return t;
    return __atomic_compare_exchange_n(active, &was, t, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
               ? t
               : 0;
}

/* Does the same under [L], and gives the space an identifier if it has none of this generation.
 * Returns whether the CPU must flush its TLB, but for the kernel's entries, before it uses the
 * tag. */
bool asid_assign(struct asids *a, unsigned cpu, uint64_t *tag);

/* Returns NULL, or the invariant that is broken. [L], and no CPU in asid_enter(). */
const char *asid_check(const struct asids *a);
