/* First call of kernel_main: the boot CPU gets its tables and stacks before anything can go
 * wrong. */
#include "cpu_init.h"
#include "kernel/core/cpu.h"

static uint8_t boot_ist[IST_COUNT][IST_STACK_SIZE] ALIGNED(16);

void arch_init_early(struct cpu *boot_cpu)
{
    vaddr_t tops[IST_COUNT];

    for (unsigned i = 0; i < IST_COUNT; i++)
        tops[i] = (vaddr_t)boot_ist[i] + IST_STACK_SIZE;
    cpu_features_find();
    cpu_load_tables(boot_cpu, tops);
    cpu_load_control();
}
