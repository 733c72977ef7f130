/*
 * The machines that can be simulated: number of chips, cores and hardware threads, geometry of
 * their caches and TLBs, and the costs in processor cycles. A machine is one constant table entry;
 * the rest of the simulator knows no machine by name.
 *
 * CPU numbers run through the threads of a core, then the cores of a chip, then the chips. Core
 * numbers run through the cores of a chip, then the chips.
 */
#pragma once
#include "kernel/lib/base.h"

/* Limits on which the models' data layout relies; topology_check() enforces them. */
#define TOPOLOGY_MAX_CHIPS   8
#define TOPOLOGY_MAX_CORES   16 /* per chip */
#define TOPOLOGY_MAX_THREADS 4  /* per core */

/* Sources of accesses, in the order of the tables of costs and counts. */
enum cache_source {
    CACHE_L1,
    CACHE_LOCAL_L2,
    CACHE_LOCAL_L3,
    CACHE_REMOTE_L2,
    CACHE_REMOTE_L3,
    CACHE_LOCAL_MEMORY,
    CACHE_REMOTE_MEMORY,
    CACHE_SOURCES
};

/* A set-associative array. ways == 0: the machine has none. */
struct geometry {
    uint32_t sets;
    uint32_t ways;
};

struct topology {
    const char *name;
    const char *what; /* description in one line */
    unsigned chips;
    unsigned cores_per_chip;
    unsigned threads_per_core;
    unsigned clock_mhz;

    unsigned line_bytes;
    struct geometry l1d; /* per core */
    struct geometry l1i; /* per core */
    struct geometry l2;  /* per chip; includes the chip's L1s */
    struct geometry l3;  /* per chip; takes the L2's victims */
    struct geometry tlb; /* per hardware thread, 4 KB entries */
    /* Memory is distributed over the chips in blocks of this size, chip 0 first. */
    uint64_t home_block_bytes;
    unsigned storebuf_entries;       /* per hardware thread */
    unsigned storebuf_drain;         /* cycles a store that hits the L1 takes to leave the buffer */
    uint16_t latency[CACHE_SOURCES]; /* stall cycles; the L1's are in the completion CPI */

    /* In 1/256 of a cycle per instruction, and in 1/256 of the time an instruction takes alone. */
    unsigned completion_cpi_256;
    unsigned smt_factor_256; /* completion time while another thread of the core runs */

    /* Fixed costs in cycles. */
    unsigned mispredict_cycles;
    unsigned walk_cycles; /* a TLB miss */
    /* interrupt, fault or system call, up to the first instruction */
    unsigned exception_entry_cycles;
    unsigned exception_return_cycles;
    unsigned register_cycles;       /* one access to a counter or page-log register */
    unsigned ipi_cycles;            /* of sending one; arrival takes as long again */
    unsigned tlb_invalidate_cycles; /* one invalidation instruction */
    /* An instruction that waits for all before it (isync, ISB, CPUID). */
    unsigned context_sync_cycles;
};

/* Returns the machine of that name, or NULL. */
const struct topology *topology_find(const char *name);

/* Returns the machine at that index of the table, NULL after the last; for messages that list the
 * names. */
const struct topology *topology_at(unsigned index);

/* Returns 0, or -EINVAL with *what set to the name of the inconsistent field. */
int topology_check(const struct topology *t, const char **what);

static inline unsigned topology_cores(const struct topology *t)
{
    return t->chips * t->cores_per_chip;
}

static inline unsigned topology_cpus(const struct topology *t)
{
    return topology_cores(t) * t->threads_per_core;
}

static inline unsigned topology_core_of_cpu(const struct topology *t, unsigned cpu)
{
    return cpu / t->threads_per_core;
}

static inline unsigned topology_chip_of_cpu(const struct topology *t, unsigned cpu)
{
    return cpu / (t->threads_per_core * t->cores_per_chip);
}

/* Returns the chip with the memory of this address. */
static inline unsigned topology_home(const struct topology *t, paddr_t pa)
{
    return (unsigned)((pa >> log2_floor(t->home_block_bytes)) % t->chips);
}
