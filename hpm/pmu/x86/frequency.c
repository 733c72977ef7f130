/*
 * Frequency of x86 processors. APERF and MPERF count the core's and constant cycles while it is not
 * halted (SDM volume 3B, "Hardware Feedback", CPUID.06H:ECX[0]; AMD APM volume 2, 17.2). P-states
 * are asked for in one of three ways, the first that the processor has:
 * - Intel, where firmware has enabled hardware control (HWP): by levels of performance (SDM volume
 *   3B, "Hardware-Controlled Performance States")
 * - Intel, SpeedStep: by ratios, of the processors that intel_models.c knows, which have
 *   MSR_PLATFORM_INFO (SDM volume 4)
 * - AMD, hardware P-states (APM volume 2, 17.1; definitions: the PPRs of families 17h and 19h),
 *   where CPPC is not enabled
 * A hypervisor keeps P-states to itself.
 */
#include "hpm/pmu/frequency.h"
#include "hpm/pmu/x86/amd_regs.h"
#include "hpm/pmu/x86/intel_models.h"
#include "hpm/pmu/x86/x86_regs.h"
#include "kernel/arch/arch.h"

#define INTEL           0x756e6547 /* leaf 0, EBX: "Genu" */
#define LEAF_ONE        1
#define ECX_SPEEDSTEP   (1u << 7)
#define ECX_HYPERVISOR  (1u << 31)
#define LEAF_POWER      6
#define EAX_HWP         (1u << 7)
#define ECX_APERF_MPERF (1u << 0)
#define LEAF_BASE_MHZ   0x16 /* EAX */
#define BASE_MHZ(eax)   ((eax)&0xffff)
#define LEAF_AMD_POWER  0x80000007
#define EDX_HW_PSTATE   (1u << 7)
#define LEAF_AMD_SIZES  0x80000008
#define EBX_CPPC        (1u << 27)
#define FAMILY_ZEN      0x17
#define FAMILY_ZEN3     0x19
#define AMD_PSTATES_MAX 8
#define AMD_UNIT_KHZ    200000 /* CoreCOF = CpuFid / CpuDfsId x 200 MHz */
#define WITHIN_PER_CENT 2

#define MSR_MPERF            0xe7
#define MSR_APERF            0xe8
#define MSR_PLATFORM_INFO    0xce
#define RATIO_MAX(v)         ((unsigned)((v) >> 8 & 0xff))  /* without turbo */
#define RATIO_MIN(v)         ((unsigned)((v) >> 40 & 0xff)) /* of most efficiency */
#define MSR_PERF_CTL         0x199
#define PERF_CTL_TARGET      UINT64_C(0xffff)
#define MSR_PM_ENABLE        0x770
#define MSR_HWP_CAPABILITIES 0x771
#define HWP_GUARANTEED(v)    ((unsigned)((v) >> 8 & 0xff))
#define HWP_LOWEST(v)        ((unsigned)((v) >> 24 & 0xff))
#define MSR_HWP_REQUEST      0x774
#define HWP_LEVELS           UINT64_C(0xffffff) /* least, most, desired: a byte each */
#define MSR_AMD_LIMIT        0xc0010061
#define AMD_LAST(v)          ((unsigned)((v) >> 4 & 7))
#define MSR_AMD_CONTROL      0xc0010062
#define MSR_AMD_STATE(n)     (0xc0010064 + (n))
#define AMD_STATE_ON         BIT_OF(63)
#define AMD_STATE_FID(v)     ((uint32_t)((v)&0xff))
#define AMD_STATE_DIVIDER(v) ((uint32_t)((v) >> 8 & 0x3f))
#define MSR_AMD_CPPC_ENABLE  0xc00102b1

static unsigned fastest, slowest; /* ratio or level of the first and the last P-state */

/* A way to choose P-states. */
struct control {
    /* Fills in caps->pstates and khz. Returns false if the processor has not this way. */
    bool (*probe)(struct frequency_caps *caps);
    void (*set)(unsigned pstate);
};
static const struct control *control;

static struct x86_leaf leaf(uint32_t number)
{
    uint32_t last = x86_leaf(number & 0x80000000, 0).eax;

    return last >= number ? x86_leaf(number, 0) : (struct x86_leaf){0};
}

static bool is(uint32_t vendor)
{
    return leaf(0).ebx == vendor;
}

/* Numbers P-states from `from` down to `to`. */
static bool number(struct frequency_caps *caps, unsigned from, unsigned to)
{
    if (!to || from <= to)
        return false;
    fastest = from;
    slowest = MAX(to, from - MIN(from, (unsigned)FREQUENCY_PSTATES_MAX - 1));
    caps->pstates = fastest - slowest + 1;
    return true;
}

static bool hwp_probe(struct frequency_caps *caps)
{
    if (!is(INTEL) || !(leaf(LEAF_POWER).eax & EAX_HWP) || !(x86_read(MSR_PM_ENABLE) & 1))
        return false;
    uint64_t can = x86_read(MSR_HWP_CAPABILITIES);
    return number(caps, HWP_GUARANTEED(can), HWP_LOWEST(can));
}

/* A core of another kind has other levels. */
static void hwp_set(unsigned pstate)
{
    uint64_t can = x86_read(MSR_HWP_CAPABILITIES), old = x86_read(MSR_HWP_REQUEST);
    uint64_t lowest = HWP_LOWEST(can), most = HWP_GUARANTEED(can);
    uint64_t level = MAX(lowest, most - MIN(most, (uint64_t)pstate));

    x86_write(MSR_HWP_REQUEST, (old & ~HWP_LEVELS) | level << 16 | level << 8 | level);
}

static bool ratio_probe(struct frequency_caps *caps)
{
    struct event_identity id = event_identity_x86(leaf(0).ebx, leaf(LEAF_ONE).eax);

    if (!is(INTEL) || !(leaf(LEAF_ONE).ecx & ECX_SPEEDSTEP) || !intel_model(&id))
        return false;
    uint64_t info = x86_read(MSR_PLATFORM_INFO);
    if (!number(caps, RATIO_MAX(info), RATIO_MIN(info)))
        return false;
    /* The TSC runs as fast as the core does at the largest ratio. */
    for (unsigned p = 0; p < caps->pstates; p++)
        caps->khz[p] = (uint32_t)(arch_ticks_hz() / 1000 * (fastest - p) / fastest);
    return true;
}

static void ratio_set(unsigned pstate)
{
    uint64_t old = x86_read(MSR_PERF_CTL);

    x86_write(MSR_PERF_CTL, (old & ~PERF_CTL_TARGET) | (uint64_t)(fastest - pstate) << 8);
}

static bool amd_probe(struct frequency_caps *caps)
{
    struct event_identity id = event_identity_x86(leaf(0).ebx, leaf(LEAF_ONE).eax);

    if (!is(AMD_VENDOR) || !(leaf(LEAF_AMD_POWER).edx & EDX_HW_PSTATE) ||
        (leaf(LEAF_AMD_SIZES).ebx & EBX_CPPC && x86_read(MSR_AMD_CPPC_ENABLE) & 1))
        return false;
    unsigned states = MIN(AMD_LAST(x86_read(MSR_AMD_LIMIT)) + 1, (unsigned)AMD_PSTATES_MAX);
    for (unsigned p = 0; p < states; p++) {
        uint64_t state = x86_read(MSR_AMD_STATE(p));
        if (!(state & AMD_STATE_ON))
            break;
        if ((id.family == FAMILY_ZEN || id.family == FAMILY_ZEN3) && AMD_STATE_DIVIDER(state))
            caps->khz[p] = AMD_UNIT_KHZ * AMD_STATE_FID(state) / AMD_STATE_DIVIDER(state);
        caps->pstates = p + 1;
    }
    return caps->pstates > 1;
}

static void amd_set(unsigned pstate)
{
    x86_write(MSR_AMD_CONTROL, pstate);
}

static const struct control controls[] = {
    {hwp_probe, hwp_set}, {ratio_probe, ratio_set}, {amd_probe, amd_set}};

/* Returns the frequency of MPERF: the base frequency. The TSC has it on most processors, and has
 * been measured, so it is taken if CPUID's round figure is near. */
static uint64_t mperf_hz(void)
{
    uint64_t base = BASE_MHZ(leaf(LEAF_BASE_MHZ).eax) * UINT64_C(1000000), tsc = arch_ticks_hz();
    uint64_t apart = base > tsc ? base - tsc : tsc - base;

    return base && apart * 100 > tsc * WITHIN_PER_CENT ? base : tsc;
}

static int x86_probe(struct frequency_caps *caps)
{
    bool guest = leaf(LEAF_ONE).ecx & ECX_HYPERVISOR;

    *caps = (struct frequency_caps){.lacks = guest ? "hypervisor" : "no-device"};
    caps->counts = leaf(LEAF_POWER).ecx & ECX_APERF_MPERF;
    if (caps->counts)
        caps->reference_hz = mperf_hz();
    control = NULL;
    for (unsigned i = 0; i < ARRAY_SIZE(controls) && !guest && !control; i++)
        if (controls[i].probe(caps))
            control = &controls[i];
    if (!control)
        caps->pstates = 0;
    return caps->counts || control ? 0 : -ENODEV;
}

static void x86_counts(struct frequency_count *out)
{
    out->core = x86_read(MSR_APERF);
    out->reference = x86_read(MSR_MPERF);
}

static void x86_set(unsigned pstate)
{
    control->set(pstate);
}

const struct frequency_ops frequency_x86 = {
    .name = "aperf-mperf", .probe = x86_probe, .read = x86_counts, .set = x86_set};
