/*
 * GICv3 and v4 (Arm IHI 0069H): a distributor for shared interrupts, a redistributor for each CPU's
 * private ones, and the CPU interface in system registers. Interrupts are group 1 of the kernel's
 * security state, delivered as IRQs. With a single security state the kernel also uses group 0,
 * which is delivered as FIQs: for IPI_STOP, which so reaches a CPU that spins with interrupts off.
 */
#include "gic.h"
#include "gicv3.h"
#include "sysreg.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

enum { GICD_IGROUPR = 0x80, GICD_IROUTER = 0x6000 };
enum { GICR_TYPER = 0x8, GICR_WAKER = 0x14, GICR_FRAME = 0x10000, GICR_IGROUPR0 = 0x80 };

/* Affinity routing and group 1: the bits of both security states (12.9.4). */
#define CTLR_ENABLE    0x13
#define CTLR_ONE_STATE BIT32(6) /* DS: a single security state */
#define CTLR_PENDING   BIT32(31)
#define TYPER_VIRTUAL  2  /* two more frames follow */
#define TYPER_LAST     16 /* of its region */
#define WAKER_SLEEP    2
#define WAKER_ASLEEP   4
#define SRE_ENABLE     1
#define PRIORITY_STOP  0x20 /* above the others, because it may interrupt one */
#define SGI_RANGE      16   /* CPUs that one SGI reaches by Aff0 */
#define SPINS_MAX      1000000
#define BIT32(n)       ((uint32_t)1 << (n))

/* System registers by their encoding (12.2), which older assemblers accept. */
#define ICC_PMR_EL1     s3_0_c4_c6_0
#define ICC_SGI1R_EL1   s3_0_c12_c11_5
#define ICC_SGI0R_EL1   s3_0_c12_c11_7
#define ICC_IAR0_EL1    s3_0_c12_c8_0
#define ICC_IAR1_EL1    s3_0_c12_c12_0
#define ICC_EOIR1_EL1   s3_0_c12_c12_1
#define ICC_BPR1_EL1    s3_0_c12_c12_3
#define ICC_CTLR_EL1    s3_0_c12_c12_4
#define ICC_SRE_EL1     s3_0_c12_c12_5
#define ICC_IGRPEN0_EL1 s3_0_c12_c12_6
#define ICC_IGRPEN1_EL1 s3_0_c12_c12_7

/* The redistributors, mapped. */
static struct redist redists[PLATFORM_CPUS_MAX];
static unsigned redist_count;
static struct redist *redist_of[CPU_MAX]; /* by index; written by each CPU */
static char *distributor;
static bool one_state;

/* Returns the affinity as GICR_TYPER has it, Aff3 to Aff0 packed, from the MPIDR's fields. */
static uint32_t packed(uint64_t hwid)
{
    return (uint32_t)(hwid >> 32 & 0xff) << 24 | (uint32_t)(hwid & 0xffffff);
}

static void wait_for_writes(void)
{
    for (unsigned spins = 0;
         (arch_io_read32(distributor + GICD_CTLR) & CTLR_PENDING) && spins < SPINS_MAX; spins++)
        arch_cpu_relax();
}

static int map_region(const struct platform_region *region, uint64_t stride)
{
    char *regs = arch_map_device(region->base, region->size);

    if (!regs)
        return -ENOMEM;
    for (uint64_t at = 0;
         at + 2 * GICR_FRAME <= region->size && redist_count < PLATFORM_CPUS_MAX;) {
        uint64_t typer = arch_io_read64(regs + at + GICR_TYPER);
        redists[redist_count++] =
            (struct redist){.hwid = typer >> 32, .regs = regs + at, .base = region->base + at};
        if (typer & TYPER_LAST)
            break;
        at += stride ? stride : (typer & TYPER_VIRTUAL ? 4 : 2) * (uint64_t)GICR_FRAME;
    }
    return 0;
}

static int probe(const struct platform_gic *gic)
{
    if (gic->version < 3)
        return -ENODEV;
    distributor = arch_map_device(gic->distributor.base, gic->distributor.size);
    int err = distributor ? 0 : -ENOMEM;
    for (unsigned i = 0; !err && i < gic->redist_count; i++)
        err = map_region(&gic->redist[i], gic->redist_stride);
    if (err)
        return err;
    arch_io_write32(distributor + GICD_CTLR, 0);
    wait_for_writes();
    uint32_t lines = gic_reset_shared(distributor);
    for (uint32_t irq = GIC_PRIVATE; irq < lines; irq += 32)
        arch_io_write32(distributor + GICD_IGROUPR + irq / 8, UINT32_MAX);
    one_state = arch_io_read32(distributor + GICD_CTLR) & CTLR_ONE_STATE;
    arch_io_write32(distributor + GICD_CTLR, CTLR_ENABLE);
    wait_for_writes();
    return 0;
}

static struct redist *find_redist(uint64_t hwid)
{
    for (unsigned i = 0; i < redist_count; i++) {
        if (redists[i].hwid == packed(hwid))
            return &redists[i];
    }
    return NULL;
}

const struct redist *gicv3_redist(unsigned index)
{
    return redist_of[index];
}

uint32_t gicv3_typer(void)
{
    return arch_io_read32(distributor + GICD_TYPER);
}

static bool has_cpu(uint64_t hwid)
{
    return find_redist(hwid);
}

static void wake(char *regs)
{
    unsigned spins = 0;

    arch_io_write32(regs + GICR_WAKER, arch_io_read32(regs + GICR_WAKER) & ~(uint32_t)WAKER_SLEEP);
    while ((arch_io_read32(regs + GICR_WAKER) & WAKER_ASLEEP) && ++spins < SPINS_MAX)
        arch_cpu_relax();
    if (spins == SPINS_MAX)
        kprintf("irq: the redistributor of a CPU does not wake up\n");
}

static void init_cpu(uint64_t hwid, unsigned index)
{
    struct redist *redist = find_redist(hwid);

    ASSERT(redist);
    redist_of[index] = redist;
    wake(redist->regs);
    char *bank = redist->regs + GICR_FRAME;
    gic_bank_reset(bank, 0, GIC_PRIVATE);
    arch_io_write32(bank + GICR_IGROUPR0, one_state ? ~BIT32(IPI_STOP) : UINT32_MAX);
    gic_bank_set_priority(bank, IPI_STOP, PRIORITY_STOP);
    gic_bank_enable_sgis(bank);
    sysreg_write(ICC_SRE_EL1, SRE_ENABLE);
    isb(); /* the other registers exist only then */
    sysreg_write(ICC_PMR_EL1, GIC_PRIORITY_LOWEST);
    sysreg_write(ICC_BPR1_EL1, 0);
    sysreg_write(ICC_CTLR_EL1, 0); /* one write ends an interrupt */
    sysreg_write(ICC_IGRPEN0_EL1, one_state);
    sysreg_write(ICC_IGRPEN1_EL1, 1);
    isb(); /* interrupts may come from here on */
}

/* Acknowledges an interrupt. DSB: what the interrupt announces has reached this CPU before its
 * handler looks (IHI 0069, 4.1.1). */
HOT_CODE static uint32_t acknowledge(void)
{
    uint32_t irq = (uint32_t)sysreg_read(ICC_IAR1_EL1);

    __asm__ volatile("dsb sy" : : : "memory");
    return irq;
}

/* Ends an interrupt. The next acknowledgement must see the dropped priority; it is in another
 * exception, and entering that synchronises. */
HOT_CODE static void end(uint32_t token)
{
    sysreg_write(ICC_EOIR1_EL1, token);
}

static void send(const struct cpu *target, unsigned sgi)
{
    uint64_t hwid = target->hwid, aff0 = hwid & 0xff;
    uint64_t request = (hwid >> 32 & 0xff) << 48 | aff0 / SGI_RANGE << 44 |
                       (hwid >> 16 & 0xff) << 32 | (uint64_t)sgi << 24 | (hwid >> 8 & 0xff) << 16 |
                       UINT64_C(1) << aff0 % SGI_RANGE;

    /* System registers do not wait for stores, so DSB makes earlier stores visible to the target.
     * ISB sends the interrupt now. */
    __asm__ volatile("dsb ishst" : : : "memory");
    if (one_state && sgi == IPI_STOP)
        sysreg_write(ICC_SGI0R_EL1, request);
    else
        sysreg_write(ICC_SGI1R_EL1, request);
    isb();
}

static bool fiq_is_stop(void)
{
    return one_state && sysreg_read(ICC_IAR0_EL1) == IPI_STOP;
}

static char *private_bank(void)
{
    return redist_of[this_cpu()->index]->regs + GICR_FRAME;
}

static char *shared_bank(void)
{
    return distributor;
}

static void route(uint32_t spi, const struct cpu *target)
{
    arch_io_write64(distributor + GICD_IROUTER + spi * 8, target->hwid);
}

static bool private_message(const struct cpu *target, uint32_t irq, paddr_t *address,
                            uint32_t *data)
{
    const struct redist *redist = find_redist(target->hwid);

    if (!redist)
        return false;
    *address = redist->base + GICR_FRAME + GIC_ISPENDR;
    *data = BIT32(irq);
    return true;
}

const struct gic_ops gic_v3 = {
    .name = "GICv3",
    .probe = probe,
    .has_cpu = has_cpu,
    .init_cpu = init_cpu,
    .acknowledge = acknowledge,
    .end = end,
    .send = send,
    .fiq_is_stop = fiq_is_stop,
    .private_bank = private_bank,
    .shared_bank = shared_bank,
    .route = route,
    .private_message = private_message,
};
