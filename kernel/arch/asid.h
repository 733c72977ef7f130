/*
 * Address-space identifiers: what a TLB's entries are tagged with, so that a change of the address
 * space forgets nothing (AArch64's ASIDs; x86-64's PCIDs are of the same kind). There are fewer of
 * them than spaces, so they are given out in generations: when none is left a new generation
 * begins, in which only those that a CPU uses at that moment are kept, and each CPU forgets
 * everything before it next uses another one.
 *
 * A space's tag is its identifier and the generation it is of; 0: none yet. Identifier 0 belongs
 * to no space. Invariants: no two tags of a generation have the same identifier, and while a CPU
 * uses a space its identifier stays. Pure: no lock, allocation, or register. The way that nearly
 * always suffices is lock-free and inline.
 */
#pragma once
#include "kernel/lib/base.h"

#define ASID_BITS_MAX 16
#define ASID_CPUS_MAX 64
/* From so many on, counting 0, one is left in a new generation even if every CPU keeps one. */
#define ASID_COUNT_MIN (ASID_CPUS_MAX + 2)
#define ASID_COUNT_MAX (1u << ASID_BITS_MAX)

struct asids {
    uint32_t count, next; /* [L] identifiers 0 to count - 1; none below next is free */
    unsigned cpus;
    uint64_t generation;                 /* atomic, written under [L]; where tags have it */
    uint64_t taken[ASID_COUNT_MAX / 64]; /* [L] bit per identifier */
    struct asid_cpu {
        uint64_t active;   /* atomic: tag in use; 0: none, or a new generation has begun since */
        uint64_t reserved; /* [L] tag it used when the generation began */
        bool stale;        /* [L] must forget everything */
    } ALIGNED(CACHE_LINE) cpu[ASID_CPUS_MAX];
};

/* count from ASID_COUNT_MIN to ASID_COUNT_MAX, cpus up to ASID_CPUS_MAX. */
void asid_init(struct asids *a, uint32_t count, unsigned cpus);

static inline uint32_t asid_of(uint64_t tag)
{
    return tag & (ASID_COUNT_MAX - 1);
}

/* Has the tag an identifier of this generation? [L], or the answer may be out of date. */
static inline bool asid_current(const struct asids *a, uint64_t tag)
{
    return tag >> ASID_BITS_MAX ==
           __atomic_load_n(&a->generation, __ATOMIC_ACQUIRE) >> ASID_BITS_MAX;
}

/*
 * On the CPU concerned, which is about to use the space with this tag, interrupts off, no lock: 0
 * if it needs asid_assign; else the tag, and the CPU counts as using it. A new generation clears
 * every active tag, so whoever read the old generation's number fails here.
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

/* The same under the lock [L]: gives the space an identifier if it has none of this generation.
 * True: the CPU must forget everything, the kernel's own excepted, before it uses the tag. */
bool asid_assign(struct asids *a, unsigned cpu, uint64_t *tag);

/* NULL, or which invariant is broken. [L], nobody in asid_enter. */
const char *asid_check(const struct asids *a);
