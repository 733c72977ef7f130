/* The driver of frequencies of x86 processors, against a double of their registers: a register that
 * the processor has not, and a reserved bit, fail the test. */
#include "test/host/double/expect_panic.h"
#include "hpm/pmu/frequency.h"
#include "hpm/pmu/x86/x86_regs.h"

#define BIT_AT(n) (UINT64_C(1) << (n))

struct kind {
    char vendor;    /* 'i', 'a' or another */
    uint32_t leaf1; /* EAX: family, model */
    uint32_t leaf1_ecx;
    uint32_t last;                 /* leaf */
    uint32_t power_eax, power_ecx; /* leaf 6 */
    uint32_t base_mhz;             /* leaf 16H */
    uint32_t amd_edx, amd_ebx;     /* leaves 8000_0007, 8000_0008 */
};

enum { SPEEDSTEP = 1 << 7, HWP = 1 << 7, COUNTS = 1 << 0, HW_PSTATE = 1 << 7, CPPC = 1 << 27 };
#define GUEST (1u << 31)

static const struct kind skylake_sp = {'i', 0x50654, SPEEDSTEP, 0x16, HWP, COUNTS, 2100, 0, 0},
                         zen2 = {'a', 0x830f10, 0, 0xd, 0, COUNTS, 0, HW_PSTATE, 0},
                         old = {'v', 0x600, 0, 1, 0, 0, 0, 0, 0};
static struct kind kind;
static uint64_t tsc_hz, aperf, mperf, pm_enable, hwp_request, perf_ctl, cppc_enable;
static uint64_t amd_state[8], amd_limit, amd_control;
static unsigned written;

uint64_t arch_ticks_hz(void)
{
    return tsc_hz;
}

struct x86_leaf x86_leaf(uint32_t leaf, uint32_t sub)
{
    uint32_t vendor = kind.vendor == 'i' ? 0x756e6547 : kind.vendor == 'a' ? 0x68747541 : 1;

    (void)sub;
    switch (leaf) {
    case 0:
        return (struct x86_leaf){kind.last, vendor, 0, 0};
    case 1:
        return (struct x86_leaf){kind.leaf1, 0, kind.leaf1_ecx, 0};
    case 6:
        assert_true(kind.last >= 6);
        return (struct x86_leaf){kind.power_eax, 0, kind.power_ecx, 0};
    case 0x16:
        assert_true(kind.last >= 0x16);
        return (struct x86_leaf){0xabcd0000 | kind.base_mhz, 0, 0, 0};
    case 0x80000000:
        return (struct x86_leaf){kind.vendor == 'v' ? 0 : 0x80000008, 0, 0, 0};
    case 0x80000007:
        return (struct x86_leaf){0, 0, 0, kind.amd_edx};
    case 0x80000008:
        return (struct x86_leaf){0, kind.amd_ebx, 0, 0};
    }
    fail_msg("leaf %x", leaf);
    return (struct x86_leaf){0};
}

/* Returns where the register is; fails if the processor has none of this number. */
static uint64_t *reg(uint32_t msr)
{
    static uint64_t constant;
    bool intel = kind.vendor == 'i', amd = kind.vendor == 'a';

    switch (msr) {
    case 0xe7:
        assert_true(kind.power_ecx & COUNTS);
        return &mperf;
    case 0xe8:
        assert_true(kind.power_ecx & COUNTS);
        return &aperf;
    case 0xce:
        assert_true(intel && !(kind.leaf1_ecx & GUEST));
        constant = UINT64_C(8) << 40 | 21 << 8;
        return &constant;
    case 0x199:
        assert_true(intel && kind.leaf1_ecx & SPEEDSTEP && !(kind.leaf1_ecx & GUEST));
        return &perf_ctl;
    case 0x770:
        assert_true(intel && kind.power_eax & HWP);
        return &pm_enable;
    case 0x771:
        assert_true(intel && kind.power_eax & HWP && pm_enable & 1);
        constant = UINT64_C(7) << 24 | 12 << 16 | 21 << 8 | 37;
        return &constant;
    case 0x774:
        assert_true(intel && kind.power_eax & HWP && pm_enable & 1);
        return &hwp_request;
    case 0xc0010061:
        assert_true(amd && kind.amd_edx & HW_PSTATE);
        return &amd_limit;
    case 0xc0010062:
        assert_true(amd && kind.amd_edx & HW_PSTATE);
        return &amd_control;
    case 0xc00102b1:
        assert_true(amd && kind.amd_ebx & CPPC);
        return &cppc_enable;
    }
    assert_true(amd && kind.amd_edx & HW_PSTATE && msr >= 0xc0010064 && msr < 0xc001006c);
    return &amd_state[msr - 0xc0010064];
}

uint64_t x86_read(uint32_t msr)
{
    return *reg(msr);
}

void x86_write(uint32_t msr, uint64_t v)
{
    assert_true(msr == 0x199 || msr == 0x774 || msr == 0xc0010062); /* what is asked for, alone */
    assert_true(msr != 0xc0010062 || v < 8);
    assert_true(msr != 0x199 || !(v & ~(BIT_AT(32) | 0xffff)));
    *reg(msr) = v;
    written++;
}

static int probe(const struct kind *k, struct frequency_caps *caps)
{
    kind = *k;
    return frequency_x86.probe(caps);
}

static int set_up(void **state)
{
    (void)state;
    tsc_hz = 2095078000;
    pm_enable = cppc_enable = perf_ctl = hwp_request = 0;
    written = 0;
    memset(amd_state, 0, sizeof amd_state);
    return 0;
}

static void a_processor_without_any_is_left_alone(void **state)
{
    struct frequency_caps caps;
    (void)state;

    assert_int_equal(probe(&old, &caps), -ENODEV);
    struct kind counters_off = skylake_sp;
    counters_off.power_ecx = counters_off.leaf1_ecx = 0;
    assert_int_equal(probe(&counters_off, &caps), -ENODEV);
    assert_int_equal(written, 0);
}

static void aperf_against_mperf_is_the_frequency(void **state)
{
    struct frequency_count a, b;
    struct frequency_caps caps;
    (void)state;

    assert_int_equal(probe(&skylake_sp, &caps), 0);
    assert_true(caps.counts && !caps.by_pmu);
    /* The measured TSC is within 2 % of CPUID's 2,100 MHz, so it is believed; otherwise CPUID. */
    assert_int_equal(caps.reference_hz, 2095078000);
    tsc_hz = 2500000000;
    probe(&skylake_sp, &caps);
    assert_int_equal(caps.reference_hz, 2100000000);
    probe(&zen2, &caps); /* has no leaf 16H */
    assert_int_equal(caps.reference_hz, 2500000000);
    aperf = UINT64_MAX - 5;
    mperf = 7;
    frequency_x86.read(&a);
    aperf += 3000;
    mperf += 2500;
    frequency_x86.read(&b);
    assert_int_equal((b.core - a.core) * caps.reference_hz / (b.reference - a.reference),
                     3000000000);
}

static void speedstep_is_asked_by_ratio(void **state)
{
    struct frequency_caps caps;
    (void)state;

    tsc_hz = 2100000000;
    perf_ctl = BIT_AT(32) | 0x2500; /* turbo is off, which stays */
    probe(&skylake_sp, &caps);
    assert_int_equal(caps.pstates, 21 - 8 + 1);
    assert_int_equal(caps.khz[0], 2100000);
    assert_int_equal(caps.khz[13], 800000);
    frequency_x86.set(13);
    assert_int_equal(perf_ctl, BIT_AT(32) | 8 << 8);
    frequency_x86.set(0);
    assert_int_equal(perf_ctl, BIT_AT(32) | 21 << 8);
}

static void hardware_control_is_asked_by_level(void **state)
{
    struct frequency_caps caps;
    (void)state;

    pm_enable = 1;
    hwp_request = UINT64_C(0x80) << 24 | 0x002507; /* preference: balanced */
    probe(&skylake_sp, &caps);
    assert_int_equal(caps.pstates, 21 - 7 + 1);
    assert_int_equal(caps.khz[0], 0);
    frequency_x86.set(4);
    assert_int_equal(hwp_request, UINT64_C(0x80) << 24 | 0x111111);
    frequency_x86.set(60); /* below the least of a core of another kind */
    assert_int_equal(hwp_request, UINT64_C(0x80) << 24 | 0x070707);
    assert_int_equal(perf_ctl, 0);
}

static void unknown_models_have_no_ratios(void **state)
{
    struct kind unknown = skylake_sp;
    struct frequency_caps caps;
    (void)state;

    unknown.leaf1 = 0x006f6; /* Core 2 has SpeedStep, but not this register */
    assert_int_equal(probe(&unknown, &caps), 0);
    assert_int_equal(caps.pstates, 0);
    assert_string_equal(caps.lacks, "no-device");
}

static void amds_states_are_asked_by_number(void **state)
{
    struct frequency_caps caps;
    (void)state;

    amd_limit = 2 << 4;
    amd_state[0] = BIT_AT(63) | 8 << 8 | 0x88; /* 136 / 8 x 200 MHz */
    amd_state[1] = BIT_AT(63) | 8 << 8 | 0x78;
    amd_state[2] = BIT_AT(63) | 12 << 8 | 0x5a;
    assert_int_equal(probe(&zen2, &caps), 0);
    assert_int_equal(caps.pstates, 3);
    assert_int_equal(caps.khz[0], 3400000);
    assert_int_equal(caps.khz[1], 3000000);
    assert_int_equal(caps.khz[2], 1500000);
    frequency_x86.set(2);
    assert_int_equal(amd_control, 2);
    amd_state[1] = 0; /* a hole ends them */
    probe(&zen2, &caps);
    assert_int_equal(caps.pstates, 0);
    /* With CPPC these are not asked. */
    amd_state[1] = amd_state[0];
    struct kind cppc = zen2;
    cppc.amd_ebx = CPPC;
    cppc_enable = 1;
    probe(&cppc, &caps);
    assert_int_equal(caps.pstates, 0);
    cppc_enable = 0;
    probe(&cppc, &caps);
    assert_int_equal(caps.pstates, 3);
}

static void a_hypervisor_keeps_p_states(void **state)
{
    struct kind guest = skylake_sp;
    struct frequency_caps caps;
    (void)state;

    guest.leaf1_ecx |= GUEST;
    assert_int_equal(probe(&guest, &caps), 0);
    assert_true(caps.counts);
    assert_int_equal(caps.pstates, 0);
    assert_string_equal(caps.lacks, "hypervisor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_processor_without_any_is_left_alone, set_up),
        cmocka_unit_test_setup(aperf_against_mperf_is_the_frequency, set_up),
        cmocka_unit_test_setup(speedstep_is_asked_by_ratio, set_up),
        cmocka_unit_test_setup(hardware_control_is_asked_by_level, set_up),
        cmocka_unit_test_setup(unknown_models_have_no_ratios, set_up),
        cmocka_unit_test_setup(amds_states_are_asked_by_number, set_up),
        cmocka_unit_test_setup(a_hypervisor_keeps_p_states, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
