/*
 * The clock is the TSC; its frequency comes from CPUID or is measured against a counter of known frequency.
 * The timer is the local APIC's: by TSC deadline where there is one, else counting down, its frequency
 * measured against the TSC.
 */
#include "clock.h"
#include "lapic.h"
#include "reference.h"
#include "x86.h"
#include "kernel/cpu.h"
#include "kernel/printf.h"

#define TSC_HZ_MIN        ((uint64_t)10000000)
#define WINDOW_MS         20
#define BRACKETS          8
#define TO_NS_SHIFT       32
#define FROM_NS_SHIFT     30 /* frequencies up to 17 GHz */
#define STUCK_READS       10000000
#define WAIT_MAX_NS       (3600 * NS_PER_S) /* what is later is waited for in parts; its ticks fit a word */
#define HYPERVISOR_LEAVES 0x40000000
#define HYPERVISOR_TSC    0x40000010

static uint64_t tsc_hz, tsc_base;
static uint64_t tsc_to_ns, ns_to_tsc, ns_to_lapic; /* factors, fixed point */
static uint64_t deadline_ns[CPU_MAX];              /* each written by its own CPU */

static uint64_t scale(uint64_t v, uint64_t factor, unsigned shift)
{
    return (uint64_t)((unsigned __int128)v * factor >> shift);
}

/* Time Stamp Counter and Nominal Core Crystal Clock leaf (SDM vol. 2A, CPUID). */
static uint64_t hz_from_cpuid(const char **source)
{
    if (x86_features.max_leaf >= 0x15) {
        struct x86_cpuid r = cpuid(0x15, 0);
        *source = "CPUID 15h";
        if (r.eax && r.ebx && r.ecx)
            return (uint64_t)r.ecx * r.ebx / r.eax;
    }
    if (x86_features.hypervisor && cpuid(HYPERVISOR_LEAVES, 0).eax >= HYPERVISOR_TSC) {
        *source = "CPUID 40000010h";
        return (uint64_t)cpuid(HYPERVISOR_TSC, 0).eax * 1000;
    }
    return 0;
}

/* One reading of both counters: of several, the one that took least time. */
static void read_both(const struct reference *ref, uint32_t *count, uint64_t *tsc)
{
    uint64_t best = UINT64_MAX;

    for (unsigned i = 0; i < BRACKETS; i++) {
        uint64_t before = arch_ticks();
        uint32_t c = ref->read();
        uint64_t took = arch_ticks() - before;
        if (took < best) {
            best = took;
            *count = c;
            *tsc = before + took / 2;
        }
    }
}

/* 0 when the reference does not count. */
static uint64_t hz_measured(const struct reference *ref, uint64_t ref_hz)
{
    uint32_t from, to, window = (uint32_t)(ref_hz * WINDOW_MS / 1000);
    uint64_t tsc_from, tsc_to;
    unsigned reads = 0;

    read_both(ref, &from, &tsc_from);
    while (((ref->read() - from) & ref->mask) < window) {
        if (++reads == STUCK_READS)
            return 0;
    }
    read_both(ref, &to, &tsc_to);
    return (tsc_to - tsc_from) * ref_hz / ((to - from) & ref->mask);
}

static uint64_t find_tsc_hz(const char **source)
{
    uint64_t hz = hz_from_cpuid(source);

    for (size_t i = 0; hz < TSC_HZ_MIN && references[i]; i++) {
        uint64_t ref_hz;
        if (!references[i]->probe(&ref_hz))
            continue;
        *source = references[i]->name;
        hz = hz_measured(references[i], ref_hz);
    }
    return hz;
}

static uint64_t measure_lapic_hz(void)
{
    lapic_timer_mode(false);
    uint64_t from = arch_ticks();
    lapic_timer_start(UINT32_MAX);
    clock_wait_ns(WINDOW_MS * NS_PER_MS);
    uint32_t counted = UINT32_MAX - lapic_timer_left();
    uint64_t took = arch_ticks() - from;
    lapic_timer_start(0);
    return counted * (tsc_hz / 1000) / MAX(took / 1000, 1ul);
}

int clock_init(void)
{
    const char *source = "";

    tsc_hz = find_tsc_hz(&source);
    if (tsc_hz < TSC_HZ_MIN) {
        kprintf("clock: nothing to measure the TSC against: no HPET, ACPI timer or PIT counts\n");
        return -ENODEV;
    }
    tsc_to_ns = (NS_PER_S << TO_NS_SHIFT) / tsc_hz;
    ns_to_tsc = (tsc_hz << FROM_NS_SHIFT) / NS_PER_S;
    tsc_base = arch_ticks();
    if (!x86_features.tsc_invariant && !x86_features.hypervisor)
        kprintf("clock: this processor's TSC changes speed with its frequency; times are not exact\n");
    if (!x86_features.tsc_deadline) {
        uint64_t lapic_hz = measure_lapic_hz();
        if (!lapic_hz) {
            kprintf("clock: the local APIC's timer does not count\n");
            return -ENODEV;
        }
        ns_to_lapic = (lapic_hz << FROM_NS_SHIFT) / NS_PER_S;
    }
    kprintf("clock: TSC %llu kHz (%s), timer by %s, %s\n", (unsigned long long)tsc_hz / 1000, source,
            lapic_mode(), x86_features.tsc_deadline ? "TSC deadline" : "countdown");
    return 0;
}

void clock_init_cpu(void)
{
    lapic_timer_mode(x86_features.tsc_deadline);
    arch_timer_arm(UINT64_MAX);
}

uint64_t arch_clock_ns(void)
{
    return scale(arch_ticks() - tsc_base, tsc_to_ns, TO_NS_SHIFT);
}

uint64_t arch_ticks_hz(void)
{
    return tsc_hz;
}

bool arch_ticks_user(void)
{
    return true;
}

void clock_wait_ns(uint64_t ns)
{
    uint64_t from = arch_clock_ns();

    while (arch_clock_ns() - from < ns)
        arch_cpu_relax();
}

/* Rounded up, so that the interrupt is not early; what is too short for the deadline is continued. */
static void start_timer(uint64_t until_ns)
{
    uint64_t now_ns = arch_clock_ns();
    uint64_t wait_ns = until_ns > now_ns ? MIN(until_ns - now_ns, WAIT_MAX_NS) : 0;

    if (x86_features.tsc_deadline)
        wrmsr(MSR_TSC_DEADLINE, arch_ticks() + scale(wait_ns, ns_to_tsc, FROM_NS_SHIFT) + 1);
    else
        lapic_timer_start(
            (uint32_t)MIN(scale(wait_ns, ns_to_lapic, FROM_NS_SHIFT) + 1, (uint64_t)UINT32_MAX));
}

void arch_timer_arm(uint64_t until_ns)
{
    deadline_ns[this_cpu()->index] = until_ns;
    if (until_ns != UINT64_MAX)
        start_timer(until_ns);
    else if (x86_features.tsc_deadline)
        wrmsr(MSR_TSC_DEADLINE, 0);
    else
        lapic_timer_start(0);
}

bool clock_timer_fired(void)
{
    uint64_t until_ns = deadline_ns[this_cpu()->index];

    if (until_ns == UINT64_MAX)
        return false;
    if (arch_clock_ns() < until_ns) {
        start_timer(until_ns);
        return false;
    }
    deadline_ns[this_cpu()->index] = UINT64_MAX;
    return true;
}
