/* See intel_ability.h. */
#include "hpm/pmu/x86/intel_ability.h"

#define WIDTH_MIN 32
#define FIXED_MAX 16

const uint16_t intel_architectural[] = {
    0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5,
    0x01a4, 0x02a4, 0x0173, 0x019c, 0x02c2, 0x01e4,
};

/* Returns the fixed counters ("Fixed-Function Performance Counters"): the first PMU_FIXED, and from
 * version 5 on those of a mask as well. */
static uint32_t fixed_of(unsigned version, const struct x86_leaf *leaf)
{
    if (version < 2)
        return 0;
    uint32_t fixed = (uint32_t)(INTEL_BIT(PMU_FIXED(leaf->edx)) - 1);
    return (version >= 5 ? fixed | leaf->ecx : fixed) & ((1u << FIXED_MAX) - 1);
}

static uint64_t select_of(unsigned version, const struct x86_leaf *leaf, bool rtm)
{
    bool any = version >= 3 && !(version >= 5 && (leaf->edx & PMU_NO_ANY_THREAD));

    return EVTSEL_EVENT | EVTSEL_EDGE | EVTSEL_INV | EVTSEL_CMASK | (any ? EVTSEL_ANY : 0) |
           (rtm ? EVTSEL_TX : 0);
}

bool intel_ask(struct intel_ability *out)
{
    struct x86_leaf vendor = x86_leaf(0, 0);

    if (vendor.ebx != VENDOR_INTEL || vendor.eax < LEAF_PMU)
        return false;
    struct x86_leaf features = x86_leaf(LEAF_FEATURES, 0), leaf = x86_leaf(LEAF_PMU, 0);
    struct x86_leaf extended = x86_leaf(LEAF_EXTENDED, 0);
    unsigned version = PMU_VERSION(leaf.eax);
    if (!version || !PMU_COUNTERS(leaf.eax) || PMU_WIDTH(leaf.eax) < WIDTH_MIN ||
        PMU_WIDTH(leaf.eax) > 64)
        return false;
    *out = (struct intel_ability){
        .id = event_identity_x86(vendor.ebx, features.eax),
        .version = version,
        .counters = MIN(PMU_COUNTERS(leaf.eax), 32u),
        .width = PMU_WIDTH(leaf.eax),
        .fixed = fixed_of(version, &leaf),
        .fixed_width = PMU_FIXED_WIDTH(leaf.edx),
        .present = ~leaf.ebx,
        .enumerated = MIN(PMU_EVENTS(leaf.eax), (unsigned)ARRAY_SIZE(intel_architectural)),
        .select = select_of(version, &leaf, extended.ebx & EBX_RTM),
        .hypervisor = features.ecx & ECX_HYPERVISOR,
        .pdcm = features.ecx & ECX_PDCM,
        .force_abort = extended.edx & EDX_TSX_FORCE_ABORT,
    };
    if (out->fixed_width < WIDTH_MIN || out->fixed_width > 64)
        out->fixed = 0;
    if (out->pdcm)
        out->capabilities = x86_read(MSR_PERF_CAPABILITIES);
    return true;
}

bool intel_has_event(const struct intel_ability *has, unsigned event)
{
    return event < has->enumerated && (has->present >> event & 1);
}

/* Load latency counts nothing without records. Registers of a model may be missing under a
 * hypervisor. */
struct event_lacks intel_lacks(const struct intel_ability *has, uint32_t usable)
{
    uint32_t own = 1u << EVENT_OFFCORE_0 | 1u << EVENT_OFFCORE_1 | 1u << EVENT_FRONTEND;
    struct event_lacks lacks = {
        .counters = ~usable,
        .exclusions = 1u << EVENT_LATENCY | (intel_has_metrics(has) ? 0 : 1u << EVENT_TOPDOWN) |
                      (has->hypervisor ? own : 0),
        .bits = ~has->select,
    };

    for (unsigned n = 0; n < has->enumerated; n++)
        if (!intel_has_event(has, n))
            lacks.config[lacks.configs++] = intel_architectural[n];
    return lacks;
}
