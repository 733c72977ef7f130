/*
 * Which CPUs there are and where they sit: the MADT lists them, CPUID tells how to read their ids, and a
 * simulated machine says by itself what it simulates.
 */
#include "lapic.h"
#include "smp.h"
#include "topology.h"
#include "x86.h"
#include "kernel/cpu.h"
#include "kernel/printf.h"
#include "kernel/dev/acpi.h"
#include "kernel/dev/machine_find.h"

#define LEAVES_MAX 32

/* Leaf and its last subleaf that topology_decode may look at. */
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

static bool known(const struct cpu *cpus, unsigned n, uint64_t hwid)
{
    for (unsigned i = 0; i < n; i++) {
        if (cpus[i].hwid == hwid)
            return true;
    }
    return false;
}

/* cpus[0] is the boot CPU; the others stay in the order of their ids. */
static void insert(struct cpu *cpus, unsigned n, uint64_t hwid)
{
    unsigned at = n;

    for (; at > 1 && cpus[at - 1].hwid > hwid; at--)
        cpus[at].hwid = cpus[at - 1].hwid;
    cpus[at].hwid = hwid;
}

static unsigned read_madt(struct cpu *cpus, unsigned max)
{
    struct acpi_table madt;
    struct acpi_cpu found;
    unsigned n = 1, ignored = 0;

    int err = acpi_table_get("APIC", &madt);
    if (err) {
        kprintf("cpus: no usable ACPI MADT (error %d): only the boot CPU is used\n", -err);
        return n;
    }
    for (uint32_t pos = 0; acpi_madt_next_cpu(&madt, &pos, &found);) {
        if (!found.enabled || known(cpus, n, found.hwid))
            continue;
        if (n == max)
            ignored++;
        else
            insert(cpus, n++, found.hwid);
    }
    if (ignored)
        kprintf("cpus: %u CPUs beyond the first %u are left alone\n", ignored, max);
    return n;
}

/* A simulated machine knows better than CPUID what it simulates.  Its CPUs are in the order of cpus[]. */
static bool place_by_machine(struct cpu *cpus, unsigned n)
{
    const volatile struct machine_id *id = machine_id();

    if (!id)
        return false;
    if (n > id->cpus) {
        kprintf("cpus: %u CPUs, but the simulated machine has %u: places are CPUID's\n", n, id->cpus);
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        cpus[i].place.chip = cpus[i].place.node = id->place[i].chip;
        cpus[i].place.core = id->place[i].core;
        cpus[i].place.thread = id->place[i].thread;
    }
    return true;
}

static void place_by_cpuid(struct cpu *cpus, unsigned n)
{
    struct cpuid_leaf leaves[LEAVES_MAX];
    uint64_t ids[CPU_MAX];
    struct topology_place places[CPU_MAX];

    for (unsigned i = 0; i < n; i++)
        ids[i] = cpus[i].hwid;
    topology_place_all(topology_decode(leaves, read_leaves(leaves)), ids, n, places);
    for (unsigned i = 0; i < n; i++)
        cpus[i].place =
            (struct cpu_place){.chip = places[i].chip, .core = places[i].core, .thread = places[i].thread};
}

unsigned arch_cpus_find(const struct boot_info *info, struct cpu *cpus, unsigned max)
{
    smp_keep(info);
    cpus[0].hwid = lapic_id();
    unsigned n = read_madt(cpus, max);
    for (unsigned i = 0; i < n; i++)
        cpus[i].index = i;
    if (!place_by_machine(cpus, n))
        place_by_cpuid(cpus, n);
    return n;
}
