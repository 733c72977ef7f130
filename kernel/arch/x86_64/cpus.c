/*
 * Finds the CPUs and their positions: the MADT lists them, CPUID tells the fields of their ids; a
 * simulated machine describes itself.
 */
#include "lapic.h"
#include "internal.h"
#include "topology.h"
#include "x86.h"
#include "kernel/arch/cpus.h"
#include "kernel/core/printf.h"
#include "kernel/firmware/acpi_numa.h"

#define LEAVES_MAX 32

/* A leaf that topology_decode() may read, and its last subleaf. */
static const struct {
    uint32_t leaf, last_sub;
} wanted[] = {{0, 0}, {1, 0}, {4, 0}, {0x0b, 7}, {0x1f, 7}, {0x80000008, 0}, {0x8000001e, 0}};

static size_t read_leaves(struct cpuid_leaf *leaves)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        uint32_t leaf = wanted[i].leaf;
        if (leaf > cpuid(leaf & 0x80000000, 0).eax)
            continue;
        for (uint32_t sub = 0; sub <= wanted[i].last_sub; sub++) {
            struct x86_cpuid r = cpuid(leaf, sub);
            ASSERT(n < LEAVES_MAX);
            leaves[n++] = (struct cpuid_leaf){leaf, sub, r.eax, r.ebx, r.ecx, r.edx};
        }
    }
    return n;
}

static void read_madt(struct cpus_list *list)
{
    struct acpi_table madt;
    struct acpi_cpu found;
    unsigned unreached = 0;

    int err = acpi_table_get("APIC", &madt);
    if (err) {
        kprintf("cpus: no usable ACPI MADT (error %d): only the boot CPU is used\n", -err);
        return;
    }
    for (uint32_t pos = 0; acpi_madt_next_cpu(&madt, &pos, &found);) {
        if (!found.enabled)
            continue;
        if (lapic_reaches(found.hwid))
            cpus_add(list, found.hwid);
        else
            unreached++;
    }
    if (unreached)
        kprintf("cpus: %u CPUs have APIC ids that only x2APIC reaches: they are left alone\n",
                unreached);
}

static void place_by_cpuid(struct cpus_list *list)
{
    static struct cpuid_leaf leaves[LEAVES_MAX]; /* too large for a stack; used once, at boot */
    uint64_t ids[CPU_MAX];

    for (unsigned i = 0; i < list->count; i++)
        ids[i] = list->cpus[i].hwid;
    cpus_place_by_ids(list, topology_decode(leaves, read_leaves(leaves)), ids);
}

unsigned arch_cpus_find(const struct boot_info *info, const struct arch_shape *shape,
                        struct cpu *cpus, unsigned max)
{
    struct cpus_list list;

    smp_keep(info);
    cpus_begin(&list, cpus, max, lapic_id());
    read_madt(&list);
    unsigned n = cpus_end(&list);
    if (!cpus_place_by_shape(&list, shape)) {
        place_by_cpuid(&list);
        cpus_place_by_nodes(&list, acpi_numa(acpi_table_get, cpus_numa()));
    }
    cpu_label(&cpus[0]); /* the others are not started yet */
    return n;
}
