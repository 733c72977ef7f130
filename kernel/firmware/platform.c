/* Fills struct platform; shared by device trees and ACPI. */
#include "kernel/firmware/platform.h"

struct platform_cpu *platform_add_cpu(struct platform *p, uint64_t hwid)
{
    for (unsigned i = 0; i < p->cpu_count; i++) {
        if (p->cpu[i].hwid == hwid)
            return NULL;
    }
    if (p->cpu_count == PLATFORM_CPUS_MAX) {
        p->cpus_ignored++;
        return NULL;
    }
    p->cpu[p->cpu_count] = (struct platform_cpu){.hwid = hwid};
    return &p->cpu[p->cpu_count++];
}

void platform_add_msi_map(struct platform *p, struct platform_msi_map map)
{
    if (p->msi_map_count == PLATFORM_MSI_MAPS)
        p->msi_maps_ignored++;
    else
        p->msi_map[p->msi_map_count++] = map;
}

static const struct platform_msi_map *find_map(const struct platform *p, uint32_t requester)
{
    for (const struct platform_msi_map *m = p->msi_map; m < p->msi_map + p->msi_map_count; m++) {
        if (requester - m->first < m->count)
            return m;
    }
    return NULL;
}

int platform_msi_device(const struct platform *p, uint32_t requester, uint32_t *device,
                        unsigned *its)
{
    uint32_t masked = requester & p->msi_requester_mask;
    const struct platform_msi_map *m = find_map(p, masked);

    if (!p->msi_mapped) {
        *device = requester;
        *its = 0;
        return p->gic.its_count ? 0 : -ENODEV;
    }
    for (unsigned i = 0; m && i < p->gic.its_count; i++) {
        if (p->gic.its[i].id != m->its)
            continue;
        *device = m->device + (masked - m->first);
        *its = i;
        return 0;
    }
    return -ENODEV;
}
