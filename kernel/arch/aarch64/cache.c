/*
 * Instructions are fetched past the data caches (DDI 0487, B2.7.4.2): what was stored is first
 * cleaned to where both meet, then forgotten by the instruction caches. All of it, for they may
 * know the frame by user mode's address, which is another.
 */
#include "cache.h"
#include "kernel/arch/arch.h"

void arch_code_written(const void *frame)
{
    for (uintptr_t at = (uintptr_t)frame; at < (uintptr_t)frame + PAGE_SIZE; at += CACHE_LINE_MIN)
        __asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
    /* The first: no fetch misses before the clean is done. The second: on all CPUs, before this
     * returns; ERET discards what they have fetched. */
    __asm__ volatile("dsb ish\n\tic ialluis\n\tdsb ish" : : : "memory");
}
