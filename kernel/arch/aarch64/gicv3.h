/* The parts of GICv3 that LPIs need. */
#pragma once
#include "kernel/lib/base.h"

struct redist {
    uint64_t hwid;
    char *regs;
    paddr_t base;
};

/* Returns the redistributor of a CPU, by index, after gic_init_cpu() on that CPU. */
const struct redist *gicv3_redist(unsigned index);
/* Returns GICD_TYPER. */
uint32_t gicv3_typer(void);
