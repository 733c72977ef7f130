/* How fast a CPU's cycle counter runs. */
#include "hpm/pmu/pmu.h"
#include "kernel/arch/arch.h"

#define CALIBRATE_PER_S 5000 /* part of a second for which the clocks are compared */
#define CALIBRATIONS    5    /* comparisons */

static uint64_t rate_once(uint64_t (*counter)(void), uint64_t mask, uint64_t wait)
{
    uint64_t from_cycles = counter(), from = arch_ticks(), cycles, ticks;

    do {
        cycles = (counter() - from_cycles) & mask;
        ticks = arch_ticks() - from;
    } while (ticks < wait);
    return fixed_muldiv(PMU_RATE_ONE, cycles, ticks);
}

/* Returns the median, as a hypervisor may stop this CPU between the two clocks' readings. */
uint64_t pmu_cycle_rate(uint64_t (*counter)(void), uint64_t mask)
{
    uint64_t rate[CALIBRATIONS];

    for (unsigned n = 0; n < CALIBRATIONS; n++) {
        uint64_t r = rate_once(counter, mask, arch_ticks_hz() / CALIBRATE_PER_S);
        unsigned at = n;
        for (; at && rate[at - 1] > r; at--)
            rate[at] = rate[at - 1];
        rate[at] = r;
    }
    return rate[CALIBRATIONS / 2];
}
