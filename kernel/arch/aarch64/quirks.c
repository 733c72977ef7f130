/* Peculiarities of an AArch64 machine: registers that should be the same on all CPUs, and static
 * tables. */
#include "internal.h"
#include "platform_find.h"
#include "sysreg.h"
#include "kernel/arch/arch.h"
#include "kernel/arch/cpus.h"
#include "kernel/firmware/acpi.h"
#include "kernel/core/printf.h"

#define HZ_MIN   1000000
#define REVISION 0x00f0000f /* variant and revision in MIDR_EL1 */

/* Not atomic: CPUs start one after the other. */
static uint64_t boot_midr, boot_hz;
static unsigned noted, other_models, other_revisions, other_rates;

void quirks_note_cpu(void)
{
    uint64_t midr = sysreg_read(midr_el1), hz = sysreg_read(cntfrq_el0);

    if (!noted++) {
        boot_midr = midr;
        boot_hz = hz;
    }
    other_models += (midr & ~(uint64_t)REVISION) != (boot_midr & ~(uint64_t)REVISION);
    other_revisions += midr != boot_midr;
    other_rates += hz != boot_hz;
}

static bool cpus_are_of_several_kinds(char *text, size_t size)
{
    ksnprintf(text, size, " count=%u other_models=%u other_revisions=%u: than the boot CPU's",
              noted, other_models, other_revisions - other_models);
    return other_revisions;
}

static bool frequency_is_not_in_cntfrq(char *text, size_t size)
{
    uint32_t described = platform_find(NULL)->timer.hz;

    if (boot_hz < HZ_MIN)
        ksnprintf(text, size,
                  " cntfrq_hz=%llu tree_hz=%u believed=tree: CNTFRQ and the device tree differ",
                  (unsigned long long)boot_hz, described);
    else
        ksnprintf(text, size,
                  " cntfrq_hz=%llu tree_hz=%u believed=cntfrq: CNTFRQ and the device tree differ",
                  (unsigned long long)boot_hz, described);
    return boot_hz < HZ_MIN || (described && described != boot_hz);
}

static bool frequency_differs_between_cpus(char *text, size_t size)
{
    ksnprintf(text, size,
              " count=%u: CNTFRQ of these CPUs is not the boot CPU's: programs that read it are "
              "wrong there",
              other_rates);
    return other_rates;
}

/* ACPI's _CPC itself is in AML, which is not read. */
static bool firmware_sets_the_frequency(char *text, size_t size)
{
    struct acpi_table table;

    ksnprintf(text, size,
              ": firmware has a channel for it (ACPI PCCT): it may vary, so cycles are not time");
    return !acpi_table_get("PCCT", &table);
}

const struct arch_quirk arch_quirks[] = {
    {"clocks", cpus_clocks_quirk},
    {"cpus", cpus_are_of_several_kinds},
    {"timer", frequency_is_not_in_cntfrq},
    {"timer", frequency_differs_between_cpus},
    {"frequency", firmware_sets_the_frequency},
    {0},
};
