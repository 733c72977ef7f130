/* Peculiarities of an x86-64 machine: CPUID (SDM vol. 2A; APM vol. 3, appendix E) and the FADT
 * (ACPI 6.4, 5.2.9). */
#include "internal.h"
#include "reference.h"
#include "x86.h"
#include "kernel/arch/cpus.h"
#include "kernel/firmware/acpi.h"
#include "kernel/core/printf.h"

#define HYPERVISOR_LEAF 0x40000000
#define RATE_PPM_MAX    1000
#define MILLION         1000000

static bool runs_on_a_hypervisor(char *text, size_t size)
{
    if (!x86_features.hypervisor)
        return false;
    struct x86_cpuid r = cpuid(HYPERVISOR_LEAF, 0);
    uint32_t name[4] = {r.ebx, r.ecx, r.edx, 0};
    for (char *c = (char *)name; *c; c++)
        *c = *c > ' ' && *c <= '~' ? *c : '?';
    ksnprintf(text, size, " by=%s: its time is shared with others", (const char *)name);
    return true;
}

static bool tsc_follows_the_frequency(char *text, size_t size)
{
    ksnprintf(
        text, size,
        ": not invariant: it may stop or change speed with the processor; times are not exact");
    return !x86_features.tsc_invariant && !x86_features.hypervisor;
}

static bool tsc_is_not_what_cpuid_says(char *text, size_t size)
{
    const char *name;
    uint64_t hz;

    if (clock_measured_by() || x86_features.hypervisor || arch_clock_check(&name, &hz))
        return false;
    uint64_t believed = arch_ticks_hz(), off = hz > believed ? hz - believed : believed - hz;
    ksnprintf(text, size, " khz=%llu by=%s measured_khz=%llu: CPUID says another frequency",
              (unsigned long long)believed / 1000, name, (unsigned long long)hz / 1000);
    return off / (believed / MILLION) > RATE_PPM_MAX;
}

/* The HPET is only used to measure the TSC if CPUID does not give its frequency. */
static bool hpet_is_missing(char *text, size_t size)
{
    struct acpi_table table;
    const char *by = clock_measured_by();

    ksnprintf(text, size, ": there is none; the TSC's frequency is %s%s",
              by ? "measured by the " : "what CPUID says", by ? by : "");
    return acpi_table_get("HPET", &table);
}

static bool frequency_varies(char *text, size_t size)
{
    enum { EAX, EBX, ECX, EDX };
    static const struct {
        const char *name;
        uint32_t leaf, reg, bit;
    } ways[] = {{"EIST", 1, ECX, 7},         {"Turbo", 6, EAX, 1},
                {"HWP", 6, EAX, 7},          {"HwPstate", 0x80000007, EDX, 7},
                {"CPB", 0x80000007, EDX, 9}, {"CPPC", 0x80000008, EBX, 27}};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        uint32_t leaf = ways[i].leaf;
        if (leaf > (leaf & 0x80000000 ? x86_features.max_extended : x86_features.max_leaf))
            continue;
        struct x86_cpuid r = cpuid(leaf, 0);
        const uint32_t regs[] = {r.eax, r.ebx, r.ecx, r.edx};
        if (n < size && regs[ways[i].reg] & BIT(ways[i].bit))
            n += ksnprintf(text + n, size - n, "%s%s", n ? "," : " by=", ways[i].name);
    }
    if (n && n < size)
        ksnprintf(text + n, size - n, ": it may vary, so cycles are not time");
    return n;
}

/* ---- FADT ------------------------------------------------------------------------------------ */

enum { FADT_BOOT_FLAGS = 109, FADT_FLAGS = 112 };
#define BOOT_LEGACY_DEVICES BIT(0)
#define BOOT_NO_MSI         BIT(3)
#define FLAG_REDUCED        BIT(20)

static uint64_t fadt_field(uint32_t at, unsigned bytes)
{
    struct acpi_table fadt;

    return acpi_table_get("FACP", &fadt) ? 0 : acpi_field(&fadt, at, bytes);
}

static bool acpi_is_reduced(char *text, size_t size)
{
    ksnprintf(text, size,
              " missing=timer,power-off: hardware-reduced: no ACPI timer, and no way known to "
              "switch the machine off");
    return fadt_field(FADT_FLAGS, 4) & FLAG_REDUCED;
}

#define LOOKS 10000 /* far more than until a counter's next step */

static bool counts(const struct reference *r)
{
    uint64_t hz;

    if (!r->probe(&hz))
        return false;
    uint32_t first = r->read();
    for (unsigned i = 0; i < LOOKS; i++)
        if (r->read() != first)
            return true;
    return false;
}

/* Most firmware without the flag has the devices nevertheless. */
static bool legacy_is_missing(char *text, size_t size)
{
    struct acpi_table fadt;

    if (acpi_table_get("FACP", &fadt) ||
        acpi_field(&fadt, FADT_BOOT_FLAGS, 2) & BOOT_LEGACY_DEVICES)
        return false;
    bool com1 = console_found(), pit = counts(&pit_reference);
    ksnprintf(text, size, " missing=%s%s%s: no legacy devices", com1 ? "" : "COM1",
              com1 || pit ? "" : ",", pit ? "" : "PIT");
    return !com1 || !pit;
}

static bool messages_are_forbidden(char *text, size_t size)
{
    ksnprintf(text, size, " forbidden=messages: message interrupts are not to be used");
    return fadt_field(FADT_BOOT_FLAGS, 2) & BOOT_NO_MSI;
}

const struct arch_quirk arch_quirks[] = {
    {"hypervisor", runs_on_a_hypervisor},
    {"clocks", cpus_clocks_quirk},
    {"tsc", tsc_follows_the_frequency},
    {"tsc", tsc_is_not_what_cpuid_says},
    {"hpet", hpet_is_missing},
    {"frequency", frequency_varies},
    {"acpi", acpi_is_reduced},
    {"acpi", legacy_is_missing},
    {"acpi", messages_are_forbidden},
    {0},
};
