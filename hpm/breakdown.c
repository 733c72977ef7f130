/* Sums and differences of stall breakdowns.  Pure arithmetic. */
#include "hpm/hpm.h"
#include "hpm/context.h"

static uint32_t permille(uint64_t part, uint64_t all)
{
    return all ? (uint32_t)fixed_muldiv(part, 1000, all) : 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

void hpm_breakdown_add(struct hpm_breakdown *sum, const struct hpm_breakdown *part)
{
    sum->cycles += part->cycles;
    sum->instructions += part->instructions;
    sum->idle_cycles += part->idle_cycles;
    for (unsigned i = 0; i < STALL_COUNT; i++)
        sum->stall[i] += part->stall[i];
    for (unsigned i = 0; i < SOURCE_COUNT; i++) {
        sum->dcache[i] += part->dcache[i];
        sum->served[i] += part->served[i];
    }
    for (unsigned i = 0; i < MISS_COUNT; i++)
        sum->missed[i] += part->missed[i];
    sum->seen_cycles += part->seen_cycles;
    sum->seen_permille = permille(sum->seen_cycles, sum->cycles);
}

void hpm_breakdown_sub(struct hpm_breakdown *from, const struct hpm_breakdown *earlier)
{
    from->cycles = minus(from->cycles, earlier->cycles);
    from->instructions = minus(from->instructions, earlier->instructions);
    from->idle_cycles = minus(from->idle_cycles, earlier->idle_cycles);
    for (unsigned i = 0; i < STALL_COUNT; i++)
        from->stall[i] = minus(from->stall[i], earlier->stall[i]);
    for (unsigned i = 0; i < SOURCE_COUNT; i++) {
        from->dcache[i] = minus(from->dcache[i], earlier->dcache[i]);
        from->served[i] = minus(from->served[i], earlier->served[i]);
    }
    for (unsigned i = 0; i < MISS_COUNT; i++)
        from->missed[i] = minus(from->missed[i], earlier->missed[i]);
    from->seen_cycles = minus(from->seen_cycles, earlier->seen_cycles);
    from->seen_permille = permille(from->seen_cycles, from->cycles);
}
