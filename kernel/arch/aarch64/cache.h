/* Caches and those who read memory past them. */
#pragma once
#include "kernel/base.h"

/* What the CPU has stored there is in memory when this returns (DC CVAC; no cache has lines shorter than 16 bytes). */
static inline void cache_clean(const void *p, size_t size)
{
    uintptr_t end = (uintptr_t)p + size;

    for (uintptr_t at = ALIGN_DOWN((uintptr_t)p, 16); at < end; at += 16)
        __asm__ volatile("dc cvac, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb sy" : : : "memory");
}
