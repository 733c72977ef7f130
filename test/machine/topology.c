/*
 * The table of machines, and the check of an entry's consistency.
 *
 * Sources:
 *   openpower720      Sizes, ways and latencies by source as published for the IBM OpenPower 720
 *                     (two POWER5 chips, 1.5 GHz). The L2 is 1,536 sets of 10 ways, 1,920 KB, as
 *                     POWER5 has three slices of 512 sets.
 *   openpower-8chip   The same chip eight times.
 *   epyc-like         Cache sizes, ways and L2/L3 latencies from AMD, "Software Optimization Guide
 *                     for AMD Family 17h Models 30h and Greater", 2.6-2.12, for complexes of four
 *                     cores. Latencies beyond the complex are round figures in the range published
 *                     for such parts. The four private L2s of a complex are modelled as one of
 *                     their joint size.
 * Fixed costs (exceptions, interrupts, invalidations) are round figures of a plausible size: an
 * overhead that hinges on one of them must be shown for others, too.
 */
#include <errno.h>
#include <string.h>
#include "test/machine/topology.h"
#include "test/machine/storebuf.h"

/* Common to the machines built from POWER5 chips. */
#define POWER5_CHIP                                                                                \
    .clock_mhz = 1500, .line_bytes = 128, .l1d = {128, 4}, .l1i = {128, 4}, .l2 = {1536, 10},      \
    .l3 = {24576, 12}, .tlb = {8, 16}, .home_block_bytes = 16 * MIB, .storebuf_entries = 16,       \
    .storebuf_drain = 2,                                                                           \
    .latency = {[CACHE_LOCAL_L2] = 14,   [CACHE_LOCAL_L3] = 91,      [CACHE_REMOTE_L2] = 120,      \
                [CACHE_REMOTE_L3] = 205, [CACHE_LOCAL_MEMORY] = 280, [CACHE_REMOTE_MEMORY] = 307}, \
    .completion_cpi_256 = 102, .smt_factor_256 = 384, .mispredict_cycles = 16, .walk_cycles = 60,  \
    .exception_entry_cycles = 150, .exception_return_cycles = 100, .register_cycles = 50,          \
    .ipi_cycles = 300, .tlb_invalidate_cycles = 120, .context_sync_cycles = 30

static const struct topology machines[] = {
    {
        .name = "openpower720",
        .what = "2 chips x 2 cores x 2 threads of POWER5, 128-byte lines",
        .chips = 2,
        .cores_per_chip = 2,
        .threads_per_core = 2,
        POWER5_CHIP,
    },
    {
        .name = "openpower-8chip",
        .what = "8 chips x 2 cores x 2 threads of POWER5, 128-byte lines",
        .chips = 8,
        .cores_per_chip = 2,
        .threads_per_core = 2,
        POWER5_CHIP,
    },
    {
        .name = "epyc-like",
        .what = "4 core complexes x 4 cores, 64-byte lines, present-day sizes and latencies",
        .chips = 4,
        .cores_per_chip = 4,
        .threads_per_core = 1,
        .clock_mhz = 3000,
        .line_bytes = 64,
        .l1d = {64, 8},
        .l1i = {64, 8},
        .l2 = {4096, 8},
        .l3 = {16384, 16},
        .tlb = {128, 16},
        .home_block_bytes = 16 * MIB,
        .storebuf_entries = 48,
        .storebuf_drain = 1,
        .latency = {[CACHE_LOCAL_L2] = 12,
                    [CACHE_LOCAL_L3] = 39,
                    [CACHE_REMOTE_L2] = 330,
                    [CACHE_REMOTE_L3] = 330,
                    [CACHE_LOCAL_MEMORY] = 290,
                    [CACHE_REMOTE_MEMORY] = 350},
        .completion_cpi_256 = 77,
        .smt_factor_256 = 256,
        .mispredict_cycles = 18,
        .walk_cycles = 40,
        .exception_entry_cycles = 250,
        .exception_return_cycles = 150,
        .register_cycles = 100,
        .ipi_cycles = 500,
        .tlb_invalidate_cycles = 150,
        .context_sync_cycles = 60,
    },
    {
        .name = "onechip",
        .what = "1 chip x 4 cores of POWER5: nothing is remote",
        .chips = 1,
        .cores_per_chip = 4,
        .threads_per_core = 1,
        POWER5_CHIP,
    },
    {
        .name = "uniprocessor",
        .what = "1 chip x 1 core of POWER5",
        .chips = 1,
        .cores_per_chip = 1,
        .threads_per_core = 1,
        POWER5_CHIP,
    },
};

const struct topology *topology_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

const struct topology *topology_at(unsigned index)
{
    return index < ARRAY_SIZE(machines) ? &machines[index] : NULL;
}

static bool between(uint64_t x, uint64_t least, uint64_t most)
{
    return x >= least && x <= most;
}

static uint64_t lines_in(struct geometry g)
{
    return (uint64_t)g.sets * g.ways;
}

/* Returns whether more distant storage is slower. The interconnect may be slower than memory, as on
 * core complexes. */
static bool latencies_make_sense(const uint16_t *l)
{
    return l[CACHE_L1] == 0 && l[CACHE_LOCAL_L2] > 0 && l[CACHE_LOCAL_L3] > l[CACHE_LOCAL_L2] &&
           l[CACHE_REMOTE_L2] > l[CACHE_LOCAL_L3] && l[CACHE_REMOTE_L3] >= l[CACHE_REMOTE_L2] &&
           l[CACHE_LOCAL_MEMORY] > l[CACHE_LOCAL_L3] &&
           l[CACHE_REMOTE_MEMORY] >= l[CACHE_LOCAL_MEMORY];
}

int topology_check(const struct topology *t, const char **what)
{
    const struct {
        const char *field;
        bool good;
    } rules[] = {
        {"name", t->name && t->name[0] && t->what && t->what[0]},
        {"chips", between(t->chips, 1, TOPOLOGY_MAX_CHIPS)},
        {"cores_per_chip", between(t->cores_per_chip, 1, TOPOLOGY_MAX_CORES)},
        {"threads_per_core", between(t->threads_per_core, 1, TOPOLOGY_MAX_THREADS)},
        {"clock_mhz", t->clock_mhz > 0},
        {"line_bytes", is_pow2(t->line_bytes) && between(t->line_bytes, 16, PAGE_SIZE)},
        {"l1d", is_pow2(t->l1d.sets) && between(t->l1d.ways, 1, 16)},
        {"l1i", is_pow2(t->l1i.sets) && between(t->l1i.ways, 1, 16)},
        {"l2", t->l2.sets > 0 && between(t->l2.ways, 1, 32) &&
                   lines_in(t->l2) >= (lines_in(t->l1d) + lines_in(t->l1i)) * t->cores_per_chip},
        {"l3", t->l3.ways == 0 || (t->l3.sets > 0 && t->l3.ways <= 32)},
        {"tlb", is_pow2(t->tlb.sets) && between(t->tlb.ways, 1, 64)},
        {"home_block_bytes", is_pow2(t->home_block_bytes) && t->home_block_bytes >= PAGE_SIZE},
        {"storebuf_entries", between(t->storebuf_entries, 1, STOREBUF_MAX)},
        {"storebuf_drain", t->storebuf_drain > 0},
        {"latency", latencies_make_sense(t->latency)},
        {"completion_cpi_256", t->completion_cpi_256 > 0},
        {"smt_factor_256", between(t->smt_factor_256, 256, 256 * TOPOLOGY_MAX_THREADS)},
        {"mispredict_cycles", t->mispredict_cycles > 0},
        {"walk_cycles", t->walk_cycles > 0},
        {"exception_entry_cycles", t->exception_entry_cycles > 0},
        {"exception_return_cycles", t->exception_return_cycles > 0},
        {"register_cycles", t->register_cycles > 0},
        {"ipi_cycles", t->ipi_cycles > 0},
        {"tlb_invalidate_cycles", t->tlb_invalidate_cycles > 0},
        {"context_sync_cycles", t->context_sync_cycles > 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        if (rules[i].good)
            continue;
        *what = rules[i].field;
        return -EINVAL;
    }
    return 0;
}
