/* Interrupts for the rest of the kernel: initialisation of controller and clock, the PMU's
 * interrupt and its message. */
#include "cpu_init.h"
#include "gic.h"
#include "its.h"
#include "platform_find.h"
#include "internal.h"
#include "v2m.h"
#include "sysreg.h"
#include "kernel/arch/clock.h"
#include "kernel/arch/fault.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

/* The Base System Architecture's number (DEN 0094, 3.8), if firmware does not give one. */
#define PMU_IRQ 23

#define SPE_IRQ 21 /* the same for the profiling buffer */

/* The interrupt of the simulated multiprocessor's page-access trackers: the Base System
 * Architecture assigns it to cross triggers, which no kernel uses. */
#define PATH_IRQ 24

static uint32_t pmu_irq, spe_irq; /* spe_irq 0: none */

static void handle_path(UNUSED uint32_t irq, UNUSED struct arch_frame *f)
{
    arch_handlers.path();
}

static bool is_private(uint32_t irq)
{
    return irq >= GIC_SGIS && irq < GIC_PRIVATE;
}

/* Attaches the counters' interrupt. Older boards wire each CPU's counters to a shared interrupt of
 * its own, which is not supported. */
static void init_pmu(uint32_t described)
{
    pmu_irq = is_private(described) ? described : PMU_IRQ;
    if (described && !is_private(described))
        kprintf("irq: the counters interrupt by shared interrupt %u, which is not driven\n",
                described);
    gic_attach_counters(pmu_irq, 1);
}

/* Attaches the profiling buffer's interrupt, but only if the processor has profiling: a number that
 * firmware has not confirmed might be another device's. */
static void init_spe(uint32_t described)
{
    if (described && !is_private(described))
        kprintf("irq: profiling buffers interrupt by shared interrupt %u, which is not driven\n",
                described);
    if (!cpu_has_spe())
        return;
    spe_irq = is_private(described) ? described : SPE_IRQ;
    gic_attach_counters(spe_irq, 1);
}

/* The ways to deliver devices' messages, in order of preference. */
static const struct {
    int (*init)(const struct platform *p, arch_alloc_fn *alloc, unsigned *count);
    const struct msi_ops *ops;
} ways[] = {{its_init, &its_messages}, {v2m_init, &v2m_messages}};

static void init_messages(const struct platform *p, arch_alloc_fn *alloc)
{
    unsigned count = 0, i = 0;

    while (i < ARRAY_SIZE(ways) && ways[i].init(p, alloc, &count))
        i++;
    msi_init(i < ARRAY_SIZE(ways) ? ways[i].ops : NULL, count);
}

int arch_init_irq(const struct boot_info *info, arch_alloc_fn *alloc)
{
    const struct platform *p = platform_find(info);
    int err = gic_init(&p->gic);

    if (err)
        return err;
    this_cpu()->hwid = sysreg_read(mpidr_el1) & MPIDR_FIELDS;
    if (!gic_has_cpu(this_cpu()->hwid)) {
        kprintf("irq: the boot CPU, MPIDR %#llx, has no redistributor\n",
                (unsigned long long)this_cpu()->hwid);
        return -ENODEV;
    }
    init_spe(p->spe_irq);
    init_pmu(p->pmu_irq);
    gic_attach(PATH_IRQ, 1, handle_path);
    init_messages(p, alloc);
    if (v2m_pmu_count())
        gic_attach_counters(v2m_pmu_first(), v2m_pmu_count());
    err = clock_init();
    if (err)
        return err;
    irq_init_cpu();
    return 0;
}

void irq_init_cpu(void)
{
    gic_init_cpu();
    its_init_cpu(this_cpu());
    gic_enable_private(pmu_irq);
    gic_enable_private(PATH_IRQ);
    if (spe_irq && cpu_has_spe())
        gic_enable_private(spe_irq);
    clock_init_cpu();
}

/* If the CPU's private PMU interrupt cannot be raised by a message, shared interrupts of a message
 * frame replace it. */
void arch_pmu_msi(struct cpu *cpu, struct arch_msi *msi)
{
    if (!gic_private_message(cpu, pmu_irq, &msi->address, &msi->data) && !v2m_pmu_message(cpu, msi))
        panic("irq: no message raises an interrupt on CPU %u", cpu->index);
}

int arch_path_msi(struct cpu *cpu, struct arch_msi *msi)
{
    return gic_private_message(cpu, PATH_IRQ, &msi->address, &msi->data) ? 0 : -ENOTSUP;
}
