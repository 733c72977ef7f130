/* See intel_kinds.h. */
#include "test/host/double/intel_kinds.h"

/* With three fixed counters. */
#define KIND(v, n, bits, m, caps)                                                \
    .version = v, .counters = n, .width = bits, .fixed = 3, .fixed_width = bits, \
    .enumerated = ARCH_EVENTS, .model = m, .capabilities = caps

/* Like a Core Duo; a Core 2; KVM's; Skylake and Ice Lake servers. */
const struct intel_kind intel_first = {
    .version = 1, .counters = 4, .width = 40, .enumerated = ARCH_EVENTS, .model = 0x0e};
const struct intel_kind intel_second = {KIND(2, 4, 40, 0x17, 0)};
const struct intel_kind intel_guest = {KIND(2, 4, 48, MODEL_SKYLAKE_SP, 0x40), .hypervisor = true};
const struct intel_kind intel_skylake = {KIND(4, 4, 48, MODEL_SKYLAKE_SP, FULL_WRITE | FORMAT(3)),
                                         .rtm = true};
const struct intel_kind intel_icelake = {.version = 5,
                                         .counters = 8,
                                         .width = 48,
                                         .fixed = 2,
                                         .fixed_mask = 0xc,
                                         .fixed_width = 48,
                                         .enumerated = 8,
                                         .model = MODEL_ICELAKE_SP,
                                         .capabilities =
                                             FULL_WRITE | BASELINE | METRICS | FORMAT(4),
                                         .no_any_thread = true};

const struct intel_kind intel_westmere_ep = {KIND(3, 4, 48, 0x2c, FORMAT(1))};
const struct intel_kind intel_haswell = {KIND(3, 4, 48, 0x3c, FORMAT(2) | FULL_WRITE)};
const struct intel_kind intel_broadwell_ep = {KIND(3, 4, 48, 0x4f, FORMAT(2) | FULL_WRITE)};
const struct intel_kind intel_skylake_client = {
    KIND(4, 4, 48, MODEL_SKYLAKE, FORMAT(3) | FULL_WRITE)};
const struct intel_kind intel_sapphire = {
    KIND(5, 8, 48, MODEL_SAPPHIRE, FORMAT(4) | FULL_WRITE | BASELINE)};
