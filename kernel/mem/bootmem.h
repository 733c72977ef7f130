/*
 * The memory that the loader left to the kernel. The loader's table may be unsorted, overlap and
 * have unaligned addresses: where entries overlap the strictest type wins, what no entry covers is
 * not memory, and only whole pages count. Pure.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/boot/boot_info.h"

struct bootmem_range {
    paddr_t base, end; /* whole pages, end exclusive */
};

/* Returns the address of the first usable page below 2^52; 2^52 if there is none. */
paddr_t bootmem_first(const struct boot_info *info);
/* Finds the next run of usable pages below 2^52 that starts at or after *cursor, which is 0 at
 * first. Returns false if there is none. */
bool bootmem_next(const struct boot_info *info, paddr_t *cursor, struct bootmem_range *out);
/* Returns the number of bytes in usable pages below `limit`. */
uint64_t bootmem_bytes(const struct boot_info *info, paddr_t limit);
