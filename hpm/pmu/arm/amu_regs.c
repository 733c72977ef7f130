/* See amu_regs.h. */
#include "hpm/pmu/arm/amu_regs.h"
#include "sysreg.h"

/* By encoding, which older assemblers accept. */
#define AMCNTENSET0_EL0 S3_3_C13_C2_5
#define AMEVCNTR00_EL0  S3_3_C13_C4_0
#define AMEVCNTR01_EL0  S3_3_C13_C4_1

uint64_t amu_features(void)
{
    return sysreg_read(id_aa64pfr0_el1);
}

uint64_t amu_enabled(void)
{
    return sysreg_read(AMCNTENSET0_EL0);
}

void amu_read_both(uint64_t *core, uint64_t *constant)
{
    isb(); /* not before what came before */
    *core = sysreg_read(AMEVCNTR00_EL0);
    *constant = sysreg_read(AMEVCNTR01_EL0);
}
