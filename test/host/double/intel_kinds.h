/* Kinds of Intel's processors in tests. */
#pragma once
#include "test/host/double/intel_double.h"

/* IA32_PERF_CAPABILITIES */
#define FULL_WRITE ((uint64_t)1 << 13)
#define BASELINE   ((uint64_t)1 << 14)
#define METRICS    ((uint64_t)1 << 15)
#define FORMAT(n)  ((uint64_t)(n) << 8)

enum { ARCH_EVENTS = 7 };

/* Like a Core Duo; a Core 2; KVM's; Skylake and Ice Lake servers. */
extern const struct intel_kind intel_first, intel_second, intel_guest, intel_skylake, intel_icelake;
/* Other kinds with records of accesses. */
extern const struct intel_kind intel_westmere_ep, intel_haswell, intel_broadwell_ep,
    intel_skylake_client, intel_sapphire;
