/* Starts the other CPUs by PSCI CPU_ON (Arm DEN 0022, 5.1.4). */
#include "smp.h"
#include "cache.h"
#include "cpu_init.h"
#include "gic.h"
#include "internal.h"
#include "psci.h"
#include "sysreg.h"
#include "kernel/arch/cpus.h"
#include "kernel/arch/memory.h"
#include "kernel/core/printf.h"

#define ANSWER_WAIT_NS (5 * NS_PER_S) /* an emulator of many CPUs on a busy host is slow */

_Static_assert(offsetof(struct secondary_start, ttbr0) == SECONDARY_TTBR0, "SECONDARY_TTBR0");
_Static_assert(offsetof(struct secondary_start, ttbr1) == SECONDARY_TTBR1, "SECONDARY_TTBR1");
_Static_assert(offsetof(struct secondary_start, tcr) == SECONDARY_TCR, "SECONDARY_TCR");
_Static_assert(offsetof(struct secondary_start, mair) == SECONDARY_MAIR, "SECONDARY_MAIR");
_Static_assert(offsetof(struct secondary_start, sctlr) == SECONDARY_SCTLR, "SECONDARY_SCTLR");
_Static_assert(offsetof(struct secondary_start, stack) == SECONDARY_STACK, "SECONDARY_STACK");
_Static_assert(offsetof(struct secondary_start, cpu) == SECONDARY_CPU, "SECONDARY_CPU");
_Static_assert(offsetof(struct secondary_start, main) == SECONDARY_MAIN, "SECONDARY_MAIN");

extern char secondary_entry[];

/* Read with caches off, so it does not share cache lines. */
static struct secondary_start start ALIGNED(CACHE_LINE);

void smp_secondary_start(struct cpu *cpu)
{
    cpu_init(cpu);
    if (!memory_init_cpu()) {
        kprintf("cpus: MPIDR %#llx has shorter address-space identifiers than the boot CPU\n",
                (unsigned long long)cpu->hwid);
        for (;;)
            arch_halt();
    }
    irq_init_cpu();
    cpus_arrive(cpu);
}

bool smp_prepare(UNUSED struct cpu *cpus, UNUSED unsigned n)
{
    start = (struct secondary_start){
        .ttbr0 = start_identity_root(),
        .ttbr1 = memory_kernel_root(),
        .tcr = sysreg_read(tcr_el1),
        .mair = sysreg_read(mair_el1),
        .sctlr = sysreg_read(sctlr_el1),
        .main = (uint64_t)smp_secondary_start,
    };
    if (psci_version())
        return true;
    kprintf("cpus: no PSCI of version 0.2 or later to start the other CPUs with\n");
    return false;
}

bool smp_start_one(struct cpu *cpu)
{
    unsigned long long hwid = cpu->hwid;

    if (!gic_has_cpu(hwid)) {
        kprintf("cpus: MPIDR %#llx has no interface of the interrupt controller\n", hwid);
        return false;
    }
    start.stack = (uint64_t)cpu->boot_stack_top;
    start.cpu = (uint64_t)cpu;
    cache_clean(&start, sizeof(start));
    int err = psci_cpu_on(hwid, start_image_pa(secondary_entry), start_image_pa(&start));
    if (err) {
        kprintf("cpus: MPIDR %#llx: PSCI CPU_ON: %s\n", hwid, psci_error(err));
        return false;
    }
    if (!cpus_wait_for(cpu, ANSWER_WAIT_NS)) {
        kprintf("cpus: event=silent id=%#llx: this MPIDR does not answer\n", hwid);
        cpus_lost();
        return false;
    }
    return true;
}
