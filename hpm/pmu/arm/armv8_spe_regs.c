/* Access to the registers; see armv8_spe_regs.h. */
#include "hpm/pmu/arm/armv8_spe_regs.h"
#include "sysreg.h"

uint64_t spe_read(enum spe_reg reg)
{
    switch (reg) {
    case SPE_IDR:
        return sysreg_read(PMSIDR_EL1);
    case SPE_PTR:
        return sysreg_read(PMBPTR_EL1);
    case SPE_SR:
        return sysreg_read(PMBSR_EL1);
    case SPE_BIDR:
        return sysreg_read(PMBIDR_EL1);
    case SPE_CR:
    case SPE_ICR:
    case SPE_IRR:
    case SPE_FCR:
    case SPE_EVFR:
    case SPE_LATFR:
    case SPE_LIMITR:
        break;
    }
    panic("hpm: register %d of the profiling extension is not read", (int)reg);
}

void spe_write(enum spe_reg reg, uint64_t v)
{
    switch (reg) {
    case SPE_CR:
        sysreg_write(PMSCR_EL1, v);
        return;
    case SPE_ICR:
        sysreg_write(PMSICR_EL1, v);
        return;
    case SPE_IRR:
        sysreg_write(PMSIRR_EL1, v);
        return;
    case SPE_FCR:
        sysreg_write(PMSFCR_EL1, v);
        return;
    case SPE_EVFR:
        sysreg_write(PMSEVFR_EL1, v);
        return;
    case SPE_LATFR:
        sysreg_write(PMSLATFR_EL1, v);
        return;
    case SPE_LIMITR:
        sysreg_write(PMBLIMITR_EL1, v);
        return;
    case SPE_PTR:
        sysreg_write(PMBPTR_EL1, v);
        return;
    case SPE_SR:
        sysreg_write(PMBSR_EL1, v);
        return;
    case SPE_IDR:
    case SPE_BIDR:
        break;
    }
    panic("hpm: register %d of the profiling extension cannot be written", (int)reg);
}

void spe_sync(void)
{
    isb();
}

/* PSB CSYNC, a hint, sends what has been sampled to the buffer; DSB waits until it has arrived.
 * Only this CPU reads it. */
void spe_drain_sync(void)
{
    __asm__ volatile("hint #17\n\tdsb nsh" : : : "memory");
}
