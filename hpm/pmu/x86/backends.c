/* The PMUs this kernel knows, in probe order: a simulated machine's CPUs have their own PMU besides
 * the machine's. */
#include "hpm/pmu/pmu.h"

const struct pmu_ops *const pmu_backends[] = {&pmu_model, &pmu_intel, &pmu_amd, NULL};
