/* See v2m.h. The first interrupts of the frame are those of the CPUs' PMUs, if devices cannot raise
 * these by other means. */
#include "v2m.h"
#include "gic.h"
#include "kernel/core/cpu.h"

enum { MSI_TYPER = 0x008, MSI_SETSPI_NS = 0x040 };
#define TYPER_FIRST(v) ((v) >> 16 & 0x3ff)
#define TYPER_COUNT(v) ((v)&0x3ff)

static char *regs;
static paddr_t base;
static uint32_t first, pmus; /* SPI of the first PMU; number of PMUs */

static void arrived(uint32_t spi, UNUSED struct arch_frame *frame)
{
    msi_arrived(spi - first - pmus);
}

int v2m_init(const struct platform *p, UNUSED arch_alloc_fn *alloc, unsigned *count)
{
    const struct platform_frame *frame = &p->gic.frame[0];
    uint32_t spis = frame->spis;

    if (!p->gic.frame_count)
        return -ENODEV;
    base = frame->region.base;
    regs = arch_map_device(base, frame->region.size);
    if (!regs)
        return -ENOMEM;
    first = frame->first_spi;
    if (!spis) {
        uint32_t typer = arch_io_read32(regs + MSI_TYPER);
        first = TYPER_FIRST(typer);
        spis = TYPER_COUNT(typer);
    }
    if (first < GIC_PRIVATE || first > GIC_SHARED_MAX || spis > GIC_SHARED_MAX - first)
        return -ENODEV;
    pmus = p->gic.version == 2 ? MIN(p->cpu_count, spis) : 0;
    *count = spis - pmus;
    gic_attach(first + pmus, *count, arrived);
    return 0;
}

bool v2m_pmu_message(const struct cpu *cpu, struct arch_msi *out)
{
    if (cpu->index >= pmus)
        return false;
    *out = (struct arch_msi){base + MSI_SETSPI_NS, first + cpu->index};
    gic_enable_message(out->data, cpu);
    return true;
}

uint32_t v2m_pmu_first(void)
{
    return first;
}

uint32_t v2m_pmu_count(void)
{
    return pmus;
}

static int bind(unsigned n, UNUSED uint32_t requester, const struct cpu *target,
                struct arch_msi *out)
{
    *out = (struct arch_msi){base + MSI_SETSPI_NS, first + pmus + n};
    gic_enable_message(out->data, target);
    return 0;
}

static int move(unsigned n, UNUSED const struct cpu *from, const struct cpu *to,
                UNUSED struct arch_msi *out)
{
    gic_move_message(first + pmus + n, to);
    return 0;
}

static void raise(unsigned n, UNUSED const struct cpu *target)
{
    arch_io_write32(regs + MSI_SETSPI_NS, first + pmus + n);
}

static void unbind(unsigned n, UNUSED const struct cpu *target)
{
    gic_disable_message(first + pmus + n);
}

const struct msi_ops v2m_messages = {
    .name = "GICv2m",
    .bind = bind,
    .move = move,
    .raise = raise,
    .unbind = unbind,
};
