/* Describes the machine, for the report. */
#include "kernel/selftest/check.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/report/report.h"
#include "kernel/firmware/acpi.h"
#include "kernel/firmware/smbios.h"
#include "kernel/mem/mem.h"
#include "sched/sched.h"

#define CALL_WAIT_NS (1 * NS_PER_S)
#define LINE_LENGTH  90

static struct arch_word boot_words[ARCH_WORDS_MAX], words[ARCH_WORDS_MAX];
static unsigned word_count;

/* ---- Names ----------------------------------------------------------------------------------- */

static void describe_firmware(const struct boot_info *info)
{
    struct smbios names;

    kprintf("selftest: about=start by=%s: %s\n", info->protocol,
            info->firmware[0] ? info->firmware : "no firmware is named");
    acpi_init(info);
    if (!info->smbios) {
        kprintf("selftest: about=machine by=%s: %s\n", arch_machine() ? "firmware" : "none",
                arch_machine() ? arch_machine() : "firmware does not name it");
        return;
    }
    if (smbios_read(&acpi_memory, info->smbios, &names)) {
        kprintf("selftest: about=machine by=none reason=broken: the firmware's SMBIOS table cannot "
                "be read\n");
        return;
    }
    kprintf("selftest: about=machine by=smbios: %s | %s | %s | board %s | %s\n", names.vendor,
            names.product, names.version, names.board_vendor, names.board);
    kprintf("selftest: about=firmware by=smbios date=%s: %s | %s\n", names.firmware_date,
            names.firmware_vendor, names.firmware_version);
}

static void describe_acpi(const struct boot_info *info)
{
    char line[512];
    size_t n = 0;
    int err = info->acpi_rsdp ? 0 : -ENOENT;

    for (unsigned i = 0; !err; i++) {
        struct acpi_name name;
        err = acpi_name(&acpi_memory, info->acpi_rsdp, i, &name);
        if (!err && !i)
            n = ksnprintf(line, sizeof(line), " by=%s table=%s: tables", name.oem, name.table);
        if (!err && n < sizeof(line))
            n += ksnprintf(line + n, sizeof(line) - n, " %s", name.signature);
    }
    if (n)
        kprintf("selftest: about=acpi%s\n", line);
    else
        kprintf("selftest: about=acpi by=none reason=%s\n", err == -ENOENT ? "missing" : "broken");
}

/* ---- Processors ------------------------------------------------------------------------------ */

static void print_words(const struct arch_word *w, unsigned n)
{
    char line[2 * LINE_LENGTH];
    size_t length = 0;

    for (unsigned i = 0; i < n; i++) {
        length += ksnprintf(line + length, sizeof(line) - length, " %s=%llx", w[i].name,
                            (unsigned long long)w[i].value);
        if (length < LINE_LENGTH && i + 1 < n)
            continue;
        kprintf("selftest: about=cpu%s\n", line);
        length = 0;
    }
}

static void read_words(void *arg)
{
    arch_identity(arg);
}

static void describe_difference(const struct cpu *cpu)
{
    for (unsigned i = 0; i < word_count; i++) {
        if (words[i].value != boot_words[i].value)
            kprintf("selftest: about=difference cpu=%u %s=%llx\n", cpu->index, words[i].name,
                    (unsigned long long)words[i].value);
    }
}

/* Describes this CPU, and where others differ from it. */
static void describe_cpus(void)
{
    char name[ARCH_CPU_NAME_MAX];
    struct cpu *me = this_cpu();

    arch_cpu_name(name);
    kprintf("selftest: about=cpu: %s\n", name);
    word_count = arch_identity(boot_words);
    print_words(boot_words, word_count);
    cpu_for_each (cpu) {
        if (cpu == me)
            continue;
        if (call_cpu(cpu, read_words, words, CALL_WAIT_NS))
            kprintf("selftest: about=difference cpu=%u reason=silent: it does not answer\n",
                    cpu->index);
        else
            describe_difference(cpu);
    }
}

static void describe_shape(void)
{
    const struct sched_topology *t = sched_topology();
    const struct hpm_caps *hpm = hpm_caps();

    kprintf("selftest: about=cpus count=%u chips=%u cores_per_chip=%u threads_per_core=%u\n",
            t->cpus, t->chips, t->cores_per_chip, t->threads_per_core);
    kprintf("selftest: about=clock khz=%llu differ_ticks=%llu: CPUs agree within these\n",
            (unsigned long long)arch_ticks_hz() / 1000, (unsigned long long)arch_clocks_differ());
    kprintf("selftest: about=pmu name=%s records=%s\n", hpm->present ? hpm->name : "none",
            hpm->present && hpm->can_sample ? "yes" : "no");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void describe_memory(const struct boot_info *info)
{
    static const char *const kinds[] = {"usable", "reserved", "ACPI", "kernel"};
    struct frame_stats frames;

    for (unsigned type = 0; type < ARRAY_SIZE(kinds); type++) {
        uint64_t bytes = 0;
        paddr_t first = 0, end = 0;
        unsigned ranges = 0;
        for (size_t i = 0; i < info->mem_count; i++) {
            const struct boot_mem *m = &info->mem[i];
            if (m->type != type)
                continue;
            first = ranges++ ? first : m->base;
            end = MAX(end, m->base + m->size);
            bytes += m->size;
        }
        kprintf("selftest: about=memory kind=%s kb=%llu ranges=%u from=%#llx to=%#llx\n",
                kinds[type], (unsigned long long)(bytes / KIB), ranges, (unsigned long long)first,
                (unsigned long long)end);
    }
    frame_stats(&frames);
    kprintf("selftest: about=memory kind=taken-over kb=%llu free_kb=%llu\n",
            (unsigned long long)(frames.total_pages * PAGE_SIZE / KIB),
            (unsigned long long)(frames.free_pages * PAGE_SIZE / KIB));
}

void describe_machine(const struct boot_info *info)
{
    describe_firmware(info);
    describe_acpi(info);
    describe_cpus();
    describe_shape();
    describe_memory(info);
    quirks_print("selftest: about=quirk");
}
