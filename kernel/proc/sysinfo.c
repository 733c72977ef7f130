/* Describes the machine for programs. */
#include "kernel/proc/figures.h"
#include "kernel/core/cpu.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"

/* Converts ns to ticks at hz, without an overflow. */
static uint64_t ticks_of(uint64_t ns, uint64_t hz)
{
    return ns / NS_PER_S * hz + ns % NS_PER_S * hz / NS_PER_S;
}

/* Takes the shortest of three readings of both clocks, as an interrupt in between makes a reading
 * longer. */
static uint64_t ticks_base(uint64_t hz)
{
    uint64_t best = UINT64_MAX, base = 0;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t before = arch_ticks(), ns = arch_clock_ns(), after = arch_ticks();
        if (after - before < best) {
            best = after - before;
            base = before + best / 2 - ticks_of(ns, hz);
        }
    }
    return base;
}

void sysinfo_read(struct sys_info *out)
{
    const struct hpm_caps *caps = hpm_caps();
    const struct sched_topology *topology = sched_topology();
    struct frame_stats frames;

    frame_stats(&frames);
    *out = (struct sys_info){
        .cpus = cpu_count(),
        .chips = topology->chips,
        .cores_per_chip = topology->cores_per_chip,
        .threads_per_core = topology->threads_per_core,
        .line_bytes = caps->present ? caps->line_bytes : CACHE_LINE,
        .pmu = caps->present,
        .memory_bytes = frames.total_pages * PAGE_SIZE,
        .free_bytes = frames.free_pages * PAGE_SIZE,
        .hwcap = arch_user_hwcap(),
    };
    if (arch_ticks_user()) {
        out->ticks_hz = arch_ticks_hz();
        out->ticks_base = ticks_base(out->ticks_hz);
    }
}

/* Shifts the mask of an array so that bit n stands for the array's word n in the structure. */
#define WORDS(array, mask) \
    ((uint64_t)(mask) << offsetof(struct sys_breakdown, array) / sizeof(uint64_t))

static uint64_t words_counted(const struct hpm_caps *caps)
{
    if (!caps->present)
        return 0;
    return WORDS(cycles, 1) | WORDS(instructions, caps->instructions) | WORDS(idle_cycles, 1) |
           WORDS(stall, caps->stall) | WORDS(dcache, caps->dcache) | WORDS(served, caps->served) |
           WORDS(missed, caps->missed) | WORDS(seen_cycles, 1);
}

void sysinfo_breakdown(const struct hpm_breakdown *from, struct sys_breakdown *to)
{
    _Static_assert(sizeof(to->stall) == sizeof(from->stall), "causes as in abi.h");
    _Static_assert(sizeof(to->dcache) == sizeof(from->dcache), "sources as in abi.h");
    _Static_assert(sizeof(to->missed) == sizeof(from->missed), "misses as in abi.h");
    to->cycles = from->cycles;
    to->instructions = from->instructions;
    to->idle_cycles = from->idle_cycles;
    memcpy(to->stall, from->stall, sizeof(to->stall));
    memcpy(to->dcache, from->dcache, sizeof(to->dcache));
    memcpy(to->served, from->served, sizeof(to->served));
    memcpy(to->missed, from->missed, sizeof(to->missed));
    _Static_assert(sizeof(to->figure_seen) == sizeof(from->figure_seen), "figures as in abi.h");
    memcpy(to->figure_counted, from->figure_counted, sizeof(to->figure_counted));
    memcpy(to->figure_seen, from->figure_seen, sizeof(to->figure_seen));
    to->fitted = from->fitted;
    to->seen_cycles = from->seen_cycles;
    to->counted = words_counted(hpm_caps());
    for (unsigned i = 0; i < SOURCE_COUNT; i++)
        to->latency[i] = hpm_caps()->latency[i];
}
