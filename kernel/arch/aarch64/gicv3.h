/* GICv3's own parts, for those who drive LPIs. */
#pragma once
#include "kernel/lib/base.h"

struct redist {
    uint64_t hwid;
    char *regs;
    paddr_t base;
};

/* Of a CPU that has been through gic_init_cpu, by index. */
const struct redist *gicv3_redist(unsigned index);
/* GICD_TYPER. */
uint32_t gicv3_typer(void);
