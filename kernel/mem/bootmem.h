/*
 * Which memory the starter left to us. Its table may be unsorted, overlap and start at odd
 * addresses: where entries overlap the strictest type wins, what no entry covers is not memory, and
 * only whole pages count. Pure.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/boot/boot_info.h"

struct bootmem_range {
    paddr_t base, end; /* whole pages, end exclusive */
};

/* Where the first usable page lies, below 2^52; 2^52: there is none. */
paddr_t bootmem_first(const struct boot_info *info);
/* The next run of usable pages that starts at or after *cursor (0 at first), below 2^52; false when
 * there is none. */
bool bootmem_next(const struct boot_info *info, paddr_t *cursor, struct bootmem_range *out);
/* Returns how many bytes of usable pages lie below limit. */
uint64_t bootmem_bytes(const struct boot_info *info, paddr_t limit);
