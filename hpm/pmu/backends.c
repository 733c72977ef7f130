/* The PMUs this kernel knows, in probe order. */
#include "hpm/pmu/pmu.h"

const struct pmu_ops *const pmu_backends[] = {&pmu_model, NULL};
