/* Interrupts as the rest of the kernel sees them: controller and clock start, the PMU's interrupt and its message. */
#include "gic.h"
#include "platform_find.h"
#include "irq.h"
#include "sysreg.h"
#include "kernel/arch/clock.h"
#include "kernel/arch/fault.h"
#include "kernel/cpu.h"
#include "kernel/printf.h"

/* GICv2m message frame (Arm DEN 0029, appendix E). */
enum { MSI_TYPER = 0x008, MSI_SETSPI_NS = 0x040 };
#define TYPER_FIRST(v) ((v) >> 16 & 0x3ff)
#define TYPER_COUNT(v) ((v)&0x3ff)

#define PMU_IRQ \
    23 /* what the Base System Architecture gives to it (DEN 0094, 3.8), if firmware says nothing */

static uint32_t pmu_irq;
static struct platform_frame frame; /* the first message frame; spis 0: none */

static void handle_pmu(UNUSED uint32_t irq, struct arch_frame *f)
{
    arch_handlers->pmu(f);
}

static bool is_private(uint32_t irq)
{
    return irq >= GIC_SGIS && irq < GIC_PRIVATE;
}

/* Older boards wire each CPU's counters to a shared interrupt of its own. */
static void init_pmu(uint32_t described)
{
    pmu_irq = is_private(described) ? described : PMU_IRQ;
    if (described && !is_private(described))
        kprintf("irq: the counters interrupt by shared interrupt %u, which is not driven\n", described);
    gic_attach(pmu_irq, 1, handle_pmu);
}

static void init_frame(const struct platform_frame *described)
{
    frame = *described;
    if (!frame.spis) {
        const char *regs = arch_map_device(frame.region.base, frame.region.size);
        uint32_t typer = regs ? arch_io_read32(regs + MSI_TYPER) : 0;
        frame.first_spi = TYPER_FIRST(typer);
        frame.spis = TYPER_COUNT(typer);
    }
    if (frame.first_spi < GIC_PRIVATE || frame.first_spi + frame.spis > GIC_SHARED_MAX)
        frame.spis = 0;
    if (frame.spis)
        gic_attach(frame.first_spi, frame.spis, handle_pmu);
}

int arch_init_irq(const struct boot_info *info)
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
    init_pmu(p->pmu_irq);
    if (p->gic.frame_count)
        init_frame(&p->gic.frame[0]);
    err = clock_init();
    if (err)
        return err;
    irq_init_cpu();
    return 0;
}

void irq_init_cpu(void)
{
    gic_init_cpu();
    gic_enable_private(pmu_irq);
    clock_init_cpu();
}

/* A message frame's interrupts are shared ones, a CPU's is the one with its index.  Without a frame the message sets the
 * CPU's private PMU interrupt pending. */
void arch_pmu_msi(struct cpu *cpu, struct arch_msi *msi)
{
    if (cpu->index < frame.spis) {
        msi->address = frame.region.base + MSI_SETSPI_NS;
        msi->data = frame.first_spi + cpu->index;
        gic_enable_message(msi->data, cpu);
    } else if (!gic_private_message(cpu, pmu_irq, &msi->address, &msi->data)) {
        panic("irq: no message raises an interrupt on CPU %u", cpu->index);
    }
}
