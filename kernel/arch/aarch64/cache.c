/*
 * Makes stored code visible to instruction fetches, which bypass the data caches (DDI 0487,
 * B2.7.4.2): cleans the data caches to the point where both meet, then invalidates the instruction
 * caches completely, because they may hold the frame under user mode's address.
 */
#include "cache.h"
#include "kernel/arch/arch.h"

void arch_code_written(const void *frame)
{
    for (uintptr_t at = (uintptr_t)frame; at < (uintptr_t)frame + PAGE_SIZE; at += CACHE_LINE_MIN)
        __asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
    /* The first DSB: no fetch misses before the clean has completed. The second: complete on all
     * CPUs before this returns; ERET discards fetched instructions. */
    __asm__ volatile("dsb ish\n\tic ialluis\n\tdsb ish" : : : "memory");
}
