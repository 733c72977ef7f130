/* The meaning of interrupts, for both versions of the controller. */
#include "gic.h"
#include "sysreg.h"
#include "kernel/arch/fault.h"
#include "kernel/core/cpu.h"
#include "kernel/core/panic.h"
#include "kernel/core/printf.h"

#define INTID(token)  ((token)&0xffffff)
#define SPECIAL_FIRST 1020 /* INTIDs such as "none is pending" */
#define SPECIAL_LAST  1023
#define RANGES_MAX    8

enum { GIC_ISENABLER = 0x100, GIC_ICENABLER = 0x180, GIC_ICPENDR = 0x280, GIC_ICACTIVER = 0x380 };
enum { GIC_IPRIORITYR = 0x400, GIC_ICFGR = 0xc00 };
/* the priority of four interrupts: within the mask with any number of priority bits */
#define PRIORITY_ALL 0xa0a0a0a0
#define EDGE         2

static const struct gic_ops *const gic_versions[] = {&gic_v3, &gic_v2, NULL};
static struct {
    const struct gic_ops *ops;
    uint32_t quick_first, quick_count; /* handled by gic_quick_interrupt() */
    unsigned ranges;
    struct range {
        uint32_t first, count;
        bool quiet;
        void (*handler)(uint32_t irq, struct arch_frame *frame);
    } range[RANGES_MAX];
} gic HOT;

/* ---- Banks of registers: one bit, byte or pair of bits for each interrupt -------------------- */

void gic_bank_reset(char *bank, uint32_t from, uint32_t to)
{
    for (uint32_t irq = from; irq < to; irq += 32) {
        arch_io_write32(bank + GIC_ICENABLER + irq / 8, UINT32_MAX);
        arch_io_write32(bank + GIC_ICPENDR + irq / 8, UINT32_MAX);
        arch_io_write32(bank + GIC_ICACTIVER + irq / 8, UINT32_MAX);
    }
    for (uint32_t irq = from; irq < to; irq += 4)
        arch_io_write32(bank + GIC_IPRIORITYR + irq, PRIORITY_ALL);
    for (uint32_t irq = MAX(from, (uint32_t)GIC_SGIS); irq < to; irq += 16)
        arch_io_write32(bank + GIC_ICFGR + irq / 4, 0);
}

static void bank_enable(char *bank, uint32_t irq)
{
    arch_io_write32(bank + GIC_ISENABLER + irq / 32 * 4, (uint32_t)1 << irq % 32);
}

void gic_bank_enable_sgis(char *bank)
{
    arch_io_write32(bank + GIC_ISENABLER, ((uint32_t)1 << GIC_SGIS) - 1);
}

uint32_t gic_reset_shared(char *distributor)
{
    uint32_t lines = (arch_io_read32(distributor + GICD_TYPER) % 32 + 1) * 32;

    lines = MIN(lines, (uint32_t)GIC_SHARED_MAX);
    gic_bank_reset(distributor, GIC_PRIVATE, lines);
    return lines;
}

void gic_bank_set_priority(char *bank, uint32_t irq, uint8_t priority)
{
    char *reg = bank + GIC_IPRIORITYR + ALIGN_DOWN(irq, 4);
    unsigned shift = irq % 4 * 8;

    arch_io_write32(reg, (arch_io_read32(reg) & ~((uint32_t)0xff << shift)) | (uint32_t)priority
                                                                                  << shift);
}

static void bank_set_edge(char *bank, uint32_t irq)
{
    char *reg = bank + GIC_ICFGR + irq / 16 * 4;

    arch_io_write32(reg, arch_io_read32(reg) | (uint32_t)EDGE << irq % 16 * 2);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void attach(const struct range *r)
{
    ASSERT(gic.ranges < RANGES_MAX);
    gic.range[gic.ranges++] = *r;
}

void gic_attach(uint32_t first, uint32_t count,
                void (*handler)(uint32_t irq, struct arch_frame *frame))
{
    attach(&(struct range){.first = first, .count = count, .handler = handler});
}

HOT_CODE static void handle_counters(UNUSED uint32_t irq, struct arch_frame *frame)
{
    arch_handlers.pmu(frame);
}

void gic_attach_counters(uint32_t first, uint32_t count)
{
    attach(
        &(struct range){.first = first, .count = count, .quiet = true, .handler = handle_counters});
    gic.quick_first = first;
    gic.quick_count = count;
}

HOT_CODE static bool serve(uint32_t irq, struct arch_frame *frame)
{
    for (const struct range *r = gic.range; r < gic.range + gic.ranges; r++) {
        if (irq - r->first >= r->count)
            continue;
        if (r->quiet) { /* its handler does the accounting */
            r->handler(irq, frame);
            return false;
        }
        unsigned begin = arch_handlers.interrupt_begin();
        r->handler(irq, frame);
        arch_handlers.interrupt_end(begin);
        return true;
    }
    kprintf("irq: interrupt %u has no handler\n", irq);
    return true;
}

#define ACKNOWLEDGED (UINT64_C(1) << 32) /* makes every result differ from 0 */

/* Handles an interrupt of the counters. Does not check for another one, which costs more than it
 * usually saves. */
HOT_CODE uint64_t gic_quick_interrupt(struct arch_frame *frame)
{
    uint32_t token = gic.ops->acknowledge();

    if (INTID(token) - gic.quick_first >= gic.quick_count)
        return ACKNOWLEDGED | token;
    arch_handlers.pmu(frame);
    gic.ops->end(token);
    return 0;
}

HOT_CODE bool gic_interrupt(struct arch_frame *frame, uint64_t acknowledged)
{
    uint32_t token = (uint32_t)acknowledged, irq = INTID(token);

    if (irq >= SPECIAL_FIRST && irq <= SPECIAL_LAST)
        return true;
    bool matters = serve(irq, frame);
    gic.ops->end(token);
    return matters;
}

void gic_fast_interrupt(const struct arch_frame *frame)
{
    if (gic.ops->fiq_is_stop()) {
        arch_handlers.ipi(IPI_STOP);
        return; /* it was already stopping */
    }
    panic_frame(frame, "FIQ without a sender");
}

static void handle_sgi(uint32_t irq, UNUSED struct arch_frame *frame)
{
    arch_handlers.ipi((enum arch_ipi)irq);
}

void arch_ipi_send(struct cpu *target, enum arch_ipi kind)
{
    bool on = arch_irq_save();

    gic.ops->send(target, kind);
    arch_irq_restore(on);
}

/* ---- Start ----------------------------------------------------------------------------------- */

int gic_init(const struct platform_gic *description)
{
    int err = -ENODEV;

    for (size_t i = 0; err == -ENODEV && gic_versions[i]; i++) {
        gic.ops = gic_versions[i];
        err = gic.ops->probe(description);
    }
    if (err) {
        kprintf(err == -ENOMEM ? "irq: the interrupt controller cannot be mapped\n"
                               : "irq: firmware describes no GICv2 or GICv3\n");
        return -ENODEV;
    }
    gic_attach(0, IPI_KINDS, handle_sgi);
    kprintf("irq: controller=%s\n", gic.ops->name);
    return 0;
}

bool gic_has_cpu(uint64_t hwid)
{
    return gic.ops->has_cpu(hwid);
}

void gic_init_cpu(void)
{
    gic.ops->init_cpu(this_cpu()->hwid, this_cpu()->index);
}

void gic_enable_private(uint32_t irq)
{
    bank_enable(gic.ops->private_bank(), irq);
}

void gic_enable_message(uint32_t irq, const struct cpu *target)
{
    gic.ops->route(irq, target);
    bank_set_edge(gic.ops->shared_bank(), irq);
    bank_enable(gic.ops->shared_bank(), irq);
}

void gic_move_message(uint32_t irq, const struct cpu *target)
{
    gic.ops->route(irq, target);
}

void gic_disable_message(uint32_t irq)
{
    char *bank = gic.ops->shared_bank();

    arch_io_write32(bank + GIC_ICENABLER + irq / 32 * 4, (uint32_t)1 << irq % 32);
    arch_io_write32(bank + GIC_ICPENDR + irq / 32 * 4, (uint32_t)1 << irq % 32);
}

bool gic_private_message(const struct cpu *target, uint32_t irq, paddr_t *address, uint32_t *data)
{
    return gic.ops->private_message(target, irq, address, data);
}
