/* The PMUs this kernel knows, in probe order: a simulated machine's CPUs have their own PMU besides the machine's. */
#include "hpm/pmu/pmu.h"

const struct pmu_ops *const pmu_backends[] = {
    &pmu_model,
#ifdef __aarch64__
    &pmu_armv8,
#else
    &pmu_intel,
    &pmu_amd,
#endif
    NULL,
};
