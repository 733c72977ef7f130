/*
 * The clock is the TSC; its frequency comes from CPUID or is measured against a counter of known
 * frequency. The timer is the local APIC's: with TSC deadlines if it has them, else counting down
 * at a frequency that is measured against the TSC.
 */
#include "lapic.h"
#include "internal.h"
#include "reference.h"
#include "x86.h"
#include "kernel/arch/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

#define TSC_HZ_MIN        ((uint64_t)10000000)
#define WINDOW_MS         20
#define BRACKETS          8
#define STUCK_READS       10000000
#define HYPERVISOR_LEAVES 0x40000000
#define HYPERVISOR_TSC    0x40000010

static uint64_t lapic_hz;                   /* unused with TSC deadlines */
static const struct reference *measured_by; /* NULL: CPUID gives the TSC's frequency */

/* Reads the frequency from the Time Stamp Counter and Nominal Core Crystal Clock leaf (SDM vol. 2A,
 * CPUID). */
static uint64_t hz_from_cpuid(const char **source)
{
    if (x86_features.max_leaf >= 0x15) {
        struct x86_cpuid r = cpuid(0x15, 0);
        *source = "CPUID-15h";
        if (r.eax && r.ebx && r.ecx)
            return (uint64_t)r.ecx * r.ebx / r.eax;
    }
    if (x86_features.hypervisor && cpuid(HYPERVISOR_LEAVES, 0).eax >= HYPERVISOR_TSC) {
        *source = "CPUID-40000010h";
        return (uint64_t)cpuid(HYPERVISOR_TSC, 0).eax * 1000;
    }
    return 0;
}

/* Reads both counters. Of several readings, returns the quickest. */
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

/* Measures the TSC. Returns 0 if the reference does not count. */
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
        measured_by = references[i];
        hz = hz_measured(references[i], ref_hz);
    }
    return hz;
}

/* Prefers a reference that the frequency was not measured by. */
int arch_clock_check(const char **name, uint64_t *hz)
{
    const struct reference *by = measured_by;
    uint64_t ref_hz;

    for (size_t i = 0; references[i]; i++) {
        if (references[i] == measured_by || !references[i]->probe(&ref_hz))
            continue;
        by = references[i];
        break;
    }
    if (!by || !by->probe(&ref_hz))
        return -ENODEV;
    *name = by->name;
    *hz = hz_measured(by, ref_hz);
    return *hz ? 0 : -ENODEV;
}

const char *clock_measured_by(void)
{
    return measured_by ? measured_by->name : NULL;
}

bool clock_correct(int64_t ticks)
{
    if (x86_features.tsc_adjust)
        wrmsr(MSR_TSC_ADJUST, rdmsr(MSR_TSC_ADJUST) + (uint64_t)ticks);
    else
        wrmsr(MSR_TSC, arch_ticks() + (uint64_t)ticks);
    return true;
}

static uint64_t measure_lapic_hz(uint64_t tsc_hz)
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

    uint64_t tsc_hz = find_tsc_hz(&source);

    if (tsc_hz < TSC_HZ_MIN) {
        kprintf("clock: nothing to measure the TSC against: no HPET, ACPI timer or PIT counts\n");
        return -ENODEV;
    }
    clock_start(tsc_hz);
    if (!x86_features.tsc_deadline) {
        lapic_hz = measure_lapic_hz(tsc_hz);
        if (!lapic_hz) {
            kprintf("clock: the local APIC's timer does not count\n");
            return -ENODEV;
        }
    }
    kprintf("clock: source=TSC khz=%llu by=%s timer=%s mode=%s\n",
            (unsigned long long)tsc_hz / 1000, source, lapic_mode(),
            x86_features.tsc_deadline ? "TSC-deadline" : "countdown");
    return 0;
}

void clock_init_cpu(void)
{
    lapic_timer_mode(x86_features.tsc_deadline);
    arch_timer_arm(UINT64_MAX);
}

bool arch_ticks_user(void)
{
    return true;
}

/* Rounds up, so that the interrupt is not early. If it comes before the deadline nevertheless, the
 * wait continues. */
void clock_timer_start(uint64_t wait_ns)
{
    if (x86_features.tsc_deadline)
        wrmsr(MSR_TSC_DEADLINE, arch_ticks() + clock_ticks_of(wait_ns, arch_ticks_hz()) + 1);
    else
        lapic_timer_start(
            (uint32_t)MIN(clock_ticks_of(wait_ns, lapic_hz) + 1, (uint64_t)UINT32_MAX));
}

void clock_timer_stop(void)
{
    if (x86_features.tsc_deadline)
        wrmsr(MSR_TSC_DEADLINE, 0);
    else
        lapic_timer_start(0);
}
