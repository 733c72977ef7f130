/* Access to the registers; see armv8_regs.h. */
#include "hpm/pmu/arm/armv8_regs.h"
#include "hpm/pmu/pmu.h"
#include "sysreg.h"

struct event_identity pmu_identity(void)
{
    return event_identity_arm((uint32_t)sysreg_read(midr_el1));
}

uint64_t armv8_read(enum armv8_reg reg)
{
    switch (reg) {
    case ARMV8_MIDR:
        return sysreg_read(midr_el1);
    case ARMV8_DFR0:
        return sysreg_read(id_aa64dfr0_el1);
    case ARMV8_CTR:
        return sysreg_read(ctr_el0);
    case ARMV8_CR:
        return sysreg_read(pmcr_el0);
    case ARMV8_CEID0:
        return sysreg_read(pmceid0_el0);
    case ARMV8_CEID1:
        return sysreg_read(pmceid1_el0);
    case ARMV8_CNTENSET:
    case ARMV8_CNTENCLR:
        return sysreg_read(pmcntenset_el0);
    case ARMV8_INTENSET:
    case ARMV8_INTENCLR:
        return sysreg_read(pmintenset_el1);
    case ARMV8_OVSCLR:
        return sysreg_read(pmovsclr_el0);
    case ARMV8_CCNTR:
        return sysreg_read(pmccntr_el0);
    case ARMV8_CCFILTR:
        return sysreg_read(pmccfiltr_el0);
    case ARMV8_USERENR:
        return sysreg_read(pmuserenr_el0);
    }
    panic("hpm: no register %d", (int)reg);
}

void armv8_write(enum armv8_reg reg, uint64_t v)
{
    switch (reg) {
    case ARMV8_CR:
        sysreg_write(pmcr_el0, v);
        return;
    case ARMV8_CNTENSET:
        sysreg_write(pmcntenset_el0, v);
        return;
    case ARMV8_CNTENCLR:
        sysreg_write(pmcntenclr_el0, v);
        return;
    case ARMV8_INTENSET:
        sysreg_write(pmintenset_el1, v);
        return;
    case ARMV8_INTENCLR:
        sysreg_write(pmintenclr_el1, v);
        return;
    case ARMV8_OVSCLR:
        sysreg_write(pmovsclr_el0, v);
        return;
    case ARMV8_CCNTR:
        sysreg_write(pmccntr_el0, v);
        return;
    case ARMV8_CCFILTR:
        sysreg_write(pmccfiltr_el0, v);
        return;
    case ARMV8_USERENR:
        sysreg_write(pmuserenr_el0, v);
        return;
    case ARMV8_MIDR:
    case ARMV8_DFR0:
    case ARMV8_CTR:
    case ARMV8_CEID0:
    case ARMV8_CEID1:
        break;
    }
    panic("hpm: register %d cannot be written", (int)reg);
}

/* The number of a counter is part of the instruction. */
#define EACH_COUNTER(do_) do_(0) do_(1) do_(2) do_(3) do_(4) do_(5) do_(6) do_(7) do_(8)
_Static_assert(ARMV8_EVENT_COUNTERS == 9, "EACH_COUNTER");

uint64_t armv8_read_counter(unsigned n)
{
#define READ(i) \
    case i:     \
        return sysreg_read(pmevcntr##i##_el0);
    switch (n) {
        EACH_COUNTER(READ)
    }
    panic("hpm: no counter %u", n);
}

void armv8_write_counter(unsigned n, uint64_t v)
{
#define WRITE(i)                            \
    case i:                                 \
        sysreg_write(pmevcntr##i##_el0, v); \
        return;
    switch (n) {
        EACH_COUNTER(WRITE)
    }
    panic("hpm: no counter %u", n);
}

void armv8_write_type(unsigned n, uint64_t v)
{
#define WRITE_TYPE(i)                        \
    case i:                                  \
        sysreg_write(pmevtyper##i##_el0, v); \
        return;
    switch (n) {
        EACH_COUNTER(WRITE_TYPE)
    }
    panic("hpm: no counter %u", n);
}

void armv8_sync(void)
{
    isb();
}
