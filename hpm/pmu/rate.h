/* How fast a CPU's cycle counter runs, for drivers of counters that know cycles only. */
#pragma once
#include "kernel/lib/base.h"

/* Of cycles to ticks of the clock, times PMU_RATE_ONE, measured for a millisecond; 0: no cycle is
 * counted. read: a counter of so many bits as mask has, which counts in all modes. Interrupts
 * off. */
uint64_t pmu_cycle_rate(uint64_t (*read)(void), uint64_t mask);
