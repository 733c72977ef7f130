/* Caches, for devices that read memory without them. */
#pragma once
#include "kernel/lib/base.h"

#define CACHE_LINE_MIN 16 /* no cache has shorter lines */

/* Writes the CPU's stores to memory (DC CVAC, which DSB waits for). */
static inline void cache_clean(const void *p, size_t size)
{
    uintptr_t end = (uintptr_t)p + size;

    for (uintptr_t at = ALIGN_DOWN((uintptr_t)p, CACHE_LINE_MIN); at < end; at += CACHE_LINE_MIN)
        __asm__ volatile("dc cvac, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb sy" : : : "memory");
}
