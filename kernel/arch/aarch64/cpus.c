/*
 * Finds the CPUs and their positions, from firmware. If firmware does not describe positions, MPIDR
 * distinguishes threads and cores; the meaning of its other fields is not defined (DDI 0487,
 * D17.2.101), so all cores are on one chip.
 */
#include "platform_find.h"
#include "sysreg.h"
#include "kernel/arch/cpus.h"
#include "kernel/core/printf.h"
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/acpi_numa.h"
#include "kernel/firmware/devtree.h"

#define MPIDR_THREADS ((uint64_t)1 << 24) /* Aff0 numbers the threads of a core */

#define AFF0_BITS 8
#define ONE_CHIP  63

/* Makes an id of three fields for dense numbering: firmware's numbers are below 2^20. */
#define FIELD_BITS 20

static uint64_t place_id(const struct platform *p, uint64_t hwid)
{
    for (unsigned i = 0; i < p->cpu_count; i++) {
        const struct platform_cpu *c = &p->cpu[i];
        if (c->hwid == hwid)
            return (uint64_t)c->chip << 2 * FIELD_BITS | (uint64_t)c->core << FIELD_BITS |
                   c->thread;
    }
    return 0;
}

static void place(struct cpus_list *list, const struct platform *p)
{
    bool threads = sysreg_read(mpidr_el1) & MPIDR_THREADS;
    struct topology_bits bits = {.thread = threads ? AFF0_BITS : 0, .chip = ONE_CHIP};
    uint64_t ids[CPU_MAX];

    if (p->has_places)
        bits = (struct topology_bits){.thread = FIELD_BITS, .chip = 2 * FIELD_BITS};
    for (unsigned i = 0; i < list->count; i++)
        ids[i] = p->has_places ? place_id(p, list->cpus[i].hwid) : list->cpus[i].hwid;
    cpus_place_by_ids(list, bits, ids);
}

unsigned arch_cpus_find(const struct boot_info *info, const struct arch_shape *shape,
                        struct cpu *cpus, unsigned max)
{
    const struct platform *p = platform_find(info);
    struct cpus_list list;

    cpus_begin(&list, cpus, max, cpus[0].hwid);
    for (unsigned i = 0; i < p->cpu_count; i++) {
        if (p->cpu[i].enabled)
            cpus_add(&list, p->cpu[i].hwid);
    }
    if (p->cpus_ignored)
        kprintf("cpus: event=ignored count=%u: more than the table holds are left alone\n",
                p->cpus_ignored);
    unsigned n = cpus_end(&list);
    if (cpus_place_by_shape(&list, shape))
        return n;
    place(&list, p);
    cpus_place_by_nodes(&list, info->dtb ? devtree_numa(phys_to_virt(info->dtb), cpus_numa())
                                         : acpi_numa(acpi_table_get, cpus_numa()));
    return n;
}
