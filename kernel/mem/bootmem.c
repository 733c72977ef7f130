/* See bootmem.h. Steps from boundary to boundary; quadratic in the number of entries, of which
 * there are few. */
#include "kernel/mem/bootmem.h"

#define PHYS_END ((paddr_t)1 << 52)
/* Never used: firmware data and the start code of other CPUs are below. */
#define LOW_END ((paddr_t)MIB)

struct claim {
    paddr_t base, end;
    enum boot_mem_type type;
};

/* Returns entry `i`. The image and the first megabyte are entries of every table. */
static bool claim_at(const struct boot_info *info, size_t i, struct claim *out)
{
    if (i == info->mem_count)
        *out = (struct claim){info->kernel_base, info->kernel_base + info->kernel_size,
                              BOOT_MEM_KERNEL};
    else if (i == info->mem_count + 1)
        *out = (struct claim){0, LOW_END, BOOT_MEM_RESERVED};
    else if (i > info->mem_count)
        return false;
    else
        *out = (struct claim){info->mem[i].base, info->mem[i].base + info->mem[i].size,
                              info->mem[i].type};
    if (out->end < out->base || out->end > PHYS_END)
        out->end = PHYS_END;
    return true;
}

/* Returns whether the byte at `pa` is usable; the answer holds up to *until. */
static bool usable_at(const struct boot_info *info, paddr_t pa, paddr_t *until)
{
    bool usable = false, taken = false;
    struct claim c;

    *until = PHYS_END;
    for (size_t i = 0; claim_at(info, i, &c); i++) {
        if (c.base > pa)
            *until = MIN(*until, c.base);
        else if (c.end > pa) {
            *until = MIN(*until, c.end);
            usable |= c.type == BOOT_MEM_USABLE;
            taken |= c.type != BOOT_MEM_USABLE;
        }
    }
    return usable && !taken;
}

bool bootmem_next(const struct boot_info *info, paddr_t *cursor, struct bootmem_range *out)
{
    paddr_t pa = *cursor, until;

    while (pa < PHYS_END) {
        if (!usable_at(info, pa, &until)) {
            pa = until;
            continue;
        }
        paddr_t start = pa;
        while (pa < PHYS_END && usable_at(info, pa, &until))
            pa = until;
        out->base = ALIGN_UP(start, PAGE_SIZE);
        out->end = ALIGN_DOWN(pa, PAGE_SIZE);
        if (out->base < out->end) {
            *cursor = pa;
            return true;
        }
    }
    *cursor = PHYS_END;
    return false;
}

uint64_t bootmem_bytes(const struct boot_info *info, paddr_t limit)
{
    struct bootmem_range r;
    paddr_t cursor = 0;
    uint64_t bytes = 0;

    while (bootmem_next(info, &cursor, &r))
        bytes += MIN(r.end, limit) - MIN(r.base, limit);
    return bytes;
}

paddr_t bootmem_first(const struct boot_info *info)
{
    struct bootmem_range r = {PHYS_END, PHYS_END};
    paddr_t cursor = 0;

    bootmem_next(info, &cursor, &r);
    return r.base;
}
