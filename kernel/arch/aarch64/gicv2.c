/*
 * GICv2 (Arm IHI 0048B): a distributor, and each CPU's interface, all at one address. If the
 * controller has two security states, secure software has put the kernel's interrupts in group 1,
 * the kernel cannot choose groups, and bit 0 enables its interrupts (4.3.1, 4.4.1). With one
 * security state the kernel chooses groups: all are group 1, delivered as IRQs, but for IPI_STOP,
 * which is group 0 and an FIQ, and so reaches a CPU that spins with interrupts off.
 */
#include "gic.h"
#include "kernel/core/cpu.h"

enum { GICD_IGROUPR = 0x80, GICD_ITARGETSR = 0x800, GICD_SGIR = 0xf00 };
enum { GICC_CTLR = 0x00, GICC_PMR = 0x04, GICC_BPR = 0x08, GICC_IAR = 0x0c, GICC_EOIR = 0x10 };

#define BIT32(n)      ((uint32_t)1 << (n))
#define ENABLE        1
#define ENABLE_GROUPS 0x3  /* distributor: both groups */
#define ENABLE_FIQ    0xf  /* interface: both groups, acknowledged by GICC_IAR, group 0 as FIQ */
#define PRIORITY_STOP 0x20 /* above the others, because it may interrupt one */
#define SGIR_GROUP1   BIT32(15)
#define SGIR_TARGET   16
#define IAR_INTID     0x3ff
#define IAR_SENDER    10
#define TOKEN_SENDER  24

static char *distributor, *interface;
static bool groups; /* the kernel chooses groups */
/* By index: the bit of the CPU's interface. Written by the CPU, read after it has arrived. */
static uint8_t target_of[CPU_MAX];

static int probe(const struct platform_gic *gic)
{
    if (gic->version != 2)
        return -ENODEV;
    distributor = arch_map_device(gic->distributor.base, gic->distributor.size);
    interface = arch_map_device(gic->cpu_interface.base, gic->cpu_interface.size);
    if (!distributor || !interface)
        return -ENOMEM;
    arch_io_write32(distributor + GICD_CTLR, 0);
    uint32_t lines = gic_reset_shared(distributor);
    /* If the kernel cannot choose groups these registers read as zeros (4.3.4). */
    for (uint32_t irq = 0; irq < lines; irq += 32)
        arch_io_write32(distributor + GICD_IGROUPR + irq / 8, UINT32_MAX);
    groups = arch_io_read32(distributor + GICD_IGROUPR);
    arch_io_write32(distributor + GICD_CTLR, groups ? ENABLE_GROUPS : ENABLE);
    return 0;
}

/* Returns this CPU's target bit: for interrupts 0 to 31 the first eight registers contain the
 * reader's own bit (4.3.12). */
static uint8_t own_target(void)
{
    for (unsigned irq = 0; irq < GIC_PRIVATE; irq += 4) {
        uint32_t targets = arch_io_read32(distributor + GICD_ITARGETSR + irq);
        targets |= targets >> 16;
        targets |= targets >> 8;
        if (targets & 0xff)
            return (uint8_t)targets;
    }
    return 1; /* a single CPU has no target registers */
}

static bool has_cpu(UNUSED uint64_t hwid)
{
    return true;
}

static void init_cpu(UNUSED uint64_t hwid, unsigned index)
{
    target_of[index] = own_target();
    gic_bank_reset(distributor, 0, GIC_PRIVATE);
    gic_bank_enable_sgis(distributor);
    if (groups)
        arch_io_write32(distributor + GICD_IGROUPR, ~BIT32(IPI_STOP));
    gic_bank_set_priority(distributor, IPI_STOP, PRIORITY_STOP);
    arch_io_write32(interface + GICC_PMR, GIC_PRIORITY_LOWEST);
    arch_io_write32(interface + GICC_BPR, 0);
    arch_io_write32(interface + GICC_CTLR, groups ? ENABLE_FIQ : ENABLE);
}

/* Acknowledges an interrupt. The end of an SGI must name its sender again, so the token keeps it
 * above the INTID (4.4.5). */
HOT_CODE static uint32_t acknowledge(void)
{
    uint32_t v = arch_io_read32(interface + GICC_IAR);

    return (v & IAR_INTID) | v >> IAR_SENDER << TOKEN_SENDER;
}

HOT_CODE static void end(uint32_t token)
{
    arch_io_write32(interface + GICC_EOIR,
                    (token & IAR_INTID) | token >> TOKEN_SENDER << IAR_SENDER);
}

static void send(const struct cpu *target, unsigned sgi)
{
    uint32_t group = groups && sgi != IPI_STOP ? SGIR_GROUP1 : 0;

    arch_io_write32(distributor + GICD_SGIR,
                    (uint32_t)target_of[target->index] << SGIR_TARGET | group | sgi);
}

static bool fiq_is_stop(void)
{
    return groups && (arch_io_read32(interface + GICC_IAR) & IAR_INTID) == IPI_STOP;
}

static char *bank(void)
{
    return distributor;
}

static void route(uint32_t spi, const struct cpu *target)
{
    char *reg = distributor + GICD_ITARGETSR + ALIGN_DOWN(spi, 4);
    unsigned shift = spi % 4 * 8;

    arch_io_write32(reg, (arch_io_read32(reg) & ~((uint32_t)0xff << shift)) |
                             (uint32_t)target_of[target->index] << shift);
}

/* Registers of private interrupts are banked for each CPU: a device cannot reach them. */
static bool private_message(UNUSED const struct cpu *target, UNUSED uint32_t irq,
                            UNUSED paddr_t *address, UNUSED uint32_t *data)
{
    return false;
}

const struct gic_ops gic_v2 = {
    .name = "GICv2",
    .probe = probe,
    .has_cpu = has_cpu,
    .init_cpu = init_cpu,
    .acknowledge = acknowledge,
    .end = end,
    .send = send,
    .fiq_is_stop = fiq_is_stop,
    .private_bank = bank,
    .shared_bank = bank,
    .route = route,
    .private_message = private_message,
};
