/* Stall breakdowns in the form that programs get. */
#include "kernel/proc/figures.h"

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
