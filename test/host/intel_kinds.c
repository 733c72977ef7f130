/* See intel_kinds.h. */
#include "test/host/intel_kinds.h"

/* In the manner of a Core Duo; of a Core 2; of KVM's; of Skylake and Ice Lake servers. */
const struct intel_kind intel_first = {
    .version = 1, .counters = 4, .width = 40, .enumerated = ARCH_EVENTS, .model = 0x0e};
const struct intel_kind intel_second = {.version = 2,
                                        .counters = 4,
                                        .width = 40,
                                        .fixed = 3,
                                        .fixed_width = 40,
                                        .enumerated = ARCH_EVENTS,
                                        .model = 0x17};
const struct intel_kind intel_guest = {.version = 2,
                                       .counters = 4,
                                       .width = 48,
                                       .fixed = 3,
                                       .fixed_width = 48,
                                       .enumerated = ARCH_EVENTS,
                                       .model = MODEL_SKYLAKE_SP,
                                       .capabilities = 0x40,
                                       .hypervisor = true};
const struct intel_kind intel_skylake = {.version = 4,
                                         .counters = 4,
                                         .width = 48,
                                         .fixed = 3,
                                         .fixed_width = 48,
                                         .enumerated = ARCH_EVENTS,
                                         .model = MODEL_SKYLAKE_SP,
                                         .capabilities = FULL_WRITE | FORMAT(3),
                                         .rtm = true};
const struct intel_kind intel_icelake = {.version = 5,
                                         .counters = 8,
                                         .width = 48,
                                         .fixed = 2,
                                         .fixed_mask = 0xc,
                                         .fixed_width = 48,
                                         .enumerated = 8,
                                         .model = MODEL_ICELAKE_SP,
                                         .capabilities = FULL_WRITE | BASELINE | FORMAT(4),
                                         .no_any_thread = true};

#define KIND(v, n, m, caps)                                                                       \
    {                                                                                             \
        .version = v, .counters = n, .width = 48, .fixed = 3, .fixed_width = 48, .enumerated = 7, \
        .model = m, .capabilities = caps                                                          \
    }
const struct intel_kind intel_westmere_ep = KIND(3, 4, 0x2c, FORMAT(1));
const struct intel_kind intel_haswell = KIND(3, 4, 0x3c, FORMAT(2) | FULL_WRITE);
const struct intel_kind intel_broadwell_ep = KIND(3, 4, 0x4f, FORMAT(2) | FULL_WRITE);
const struct intel_kind intel_skylake_client = KIND(4, 4, MODEL_SKYLAKE, FORMAT(3) | FULL_WRITE);
const struct intel_kind intel_sapphire = KIND(5, 8, MODEL_SAPPHIRE, FORMAT(4) | FULL_WRITE | BASELINE);
