/* See lpi.h. */
#include "lpi.h"
#include "cache.h"
#include "gicv3.h"
#include "its_layout.h"
#include "kernel/core/printf.h"

enum { GICR_CTLR = 0x0, GICR_TYPER = 0x8, GICR_PROPBASER = 0x70, GICR_PENDBASER = 0x78 };
#define CTLR_ENABLE_LPIS 1
#define CTLR_PENDING     8
#define TYPER_LPIS       1
#define PENDBASER_ZERO   (UINT64_C(1) << 62) /* the table is zeroed */

#define GICD_TYPER_LPIS       (1u << 17)
#define GICD_TYPER_ID_BITS(v) (((v) >> 19 & 31) + 1)
/* 0: limited by the INTIDs only; else 2 << this. */
#define GICD_TYPER_NUMBER(v) ((v) >> 11 & 31)

#define ID_BITS       14 /* of the INTIDs in the tables */
#define CONFIG_ORDER  1
#define PENDING_ORDER 4    /* 2 KB are used; 64 KB is the alignment of the register's address */
#define CONFIG_ON     0xa3 /* priority, a bit that is 1, enabled */
#define CONFIG_OFF    0xa2
#define SPINS_MAX     1000000

_Static_assert(1 << ID_BITS == LPI_FIRST + LPI_COUNT, "tables as large as what they are for");
_Static_assert(LPI_COUNT <= (PAGE_SIZE << CONFIG_ORDER), "a byte for each");

static arch_alloc_fn *alloc_frames;
static paddr_t config_pa;
static uint8_t *config;
static bool config_past_caches; /* a redistributor does not snoop the CPUs' caches */

int lpi_init(arch_alloc_fn *alloc, unsigned *count)
{
    uint32_t typer = gicv3_typer(), number = GICD_TYPER_NUMBER(typer);

    if (!(typer & GICD_TYPER_LPIS) || GICD_TYPER_ID_BITS(typer) < ID_BITS)
        return -ENODEV;
    if (alloc(CONFIG_ORDER, &config_pa))
        return -ENOMEM;
    alloc_frames = alloc;
    *count = (unsigned)MIN(number ? UINT64_C(2) << number : UINT64_MAX, (uint64_t)LPI_COUNT);
    config = phys_to_virt(config_pa);
    memset(config, CONFIG_OFF, LPI_COUNT);
    cache_clean(config, LPI_COUNT);
    return 0;
}

/* Switches LPIs off before the tables change. If the redistributor does not support that they stay
 * on (12.11.2, GICR_CTLR). Returns whether they are off. */
static bool switch_off(char *regs)
{
    unsigned spins = 0;

    arch_io_write32(regs + GICR_CTLR,
                    arch_io_read32(regs + GICR_CTLR) & ~(uint32_t)CTLR_ENABLE_LPIS);
    while ((arch_io_read32(regs + GICR_CTLR) & CTLR_PENDING) && ++spins < SPINS_MAX)
        arch_cpu_relax();
    return !(arch_io_read32(regs + GICR_CTLR) & (CTLR_ENABLE_LPIS | CTLR_PENDING));
}

/* Writes a table's address, shareable with the CPUs' caches if the register accepts that; returns
 * whether it does. */
static bool set_base(char *reg, uint64_t value)
{
    arch_io_write64(reg, value | GICR_BASE_SHARED);
    if (arch_io_read64(reg) & GICR_BASE_SHARE_MASK)
        return true;
    arch_io_write64(reg, value | GICR_BASE_UNCACHED);
    return false;
}

bool lpi_init_cpu(const struct redist *redist)
{
    char *regs = redist->regs;
    paddr_t pending;

    if (!(arch_io_read64(regs + GICR_TYPER) & TYPER_LPIS) || !switch_off(regs)) {
        kprintf(
            "lpi: a redistributor's LPIs cannot be used: no device's message reaches that CPU\n");
        return false;
    }
    if (alloc_frames(PENDING_ORDER, &pending)) {
        kprintf("lpi: no memory for a CPU's pending table\n");
        return false;
    }
    memset(phys_to_virt(pending), 0, PAGE_SIZE << PENDING_ORDER);
    cache_clean(phys_to_virt(pending), PAGE_SIZE << PENDING_ORDER);
    if (!set_base(regs + GICR_PROPBASER, config_pa | (ID_BITS - 1)))
        config_past_caches = true;
    set_base(regs + GICR_PENDBASER, pending | PENDBASER_ZERO);
    arch_io_write32(regs + GICR_CTLR, arch_io_read32(regs + GICR_CTLR) | CTLR_ENABLE_LPIS);
    return true;
}

void lpi_enable(unsigned n, bool on)
{
    ASSERT(n < LPI_COUNT);
    __atomic_store_n(&config[n], on ? CONFIG_ON : CONFIG_OFF, __ATOMIC_RELEASE);
    if (config_past_caches)
        cache_clean(&config[n], 1);
    /* Before the command that makes redistributors read it again. */
    __asm__ volatile("dsb ishst" : : : "memory");
}
