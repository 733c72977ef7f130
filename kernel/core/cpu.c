#include "kernel/core/cpu.h"

struct cpu cpus[CPU_MAX];
static unsigned running = 1;

unsigned cpu_count(void)
{
    return running;
}

void cpu_count_set(unsigned n)
{
    ASSERT(n >= 1 && n <= CPU_MAX);
    running = n;
}
