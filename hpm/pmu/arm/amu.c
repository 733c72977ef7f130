/*
 * Frequency of Arm processors, by the activity monitors (FEAT_AMUv1; Arm ARM DDI 0487, D13): cycles
 * of the core, and cycles at the frequency of the system counter; both stand still in WFI and WFE.
 * Only the highest exception level can switch them on, so firmware must have. Firmware chooses the
 * P-states, too.
 */
#include "hpm/pmu/arm/amu_regs.h"
#include "hpm/pmu/frequency.h"
#include "kernel/arch/arch.h"

static int amu_probe(struct frequency_caps *caps)
{
    if (!PFR0_AMU(amu_features()) || (amu_enabled() & AMU_BOTH) != AMU_BOTH)
        return -ENODEV;
    *caps = (struct frequency_caps){
        .counts = true, .reference_hz = arch_ticks_hz(), .lacks = "firmware-chooses"};
    return 0;
}

static void amu_counts(struct frequency_count *out)
{
    amu_read_both(&out->core, &out->reference);
}

static void amu_set(unsigned pstate)
{
    panic("frequency: P-state %u of a CPU that has none", pstate);
}

const struct frequency_ops frequency_amu = {
    .name = "amu", .probe = amu_probe, .read = amu_counts, .set = amu_set};
