/* The PMUs this kernel knows, and the drivers for the frequency of CPUs, in probe order. The model
 * is first: a simulated machine's CPUs have a PMU of their own besides the machine's. */
#include "hpm/pmu/frequency.h"
#include "hpm/pmu/pmu.h"

const struct pmu_ops *const pmu_backends[] = {&pmu_model, &pmu_armv8, NULL};
const struct frequency_ops *const frequency_backends[] = {&frequency_model, &frequency_amu, NULL};
