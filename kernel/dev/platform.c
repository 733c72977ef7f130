/* What both descriptions of a machine need. */
#include "kernel/dev/platform.h"

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
