/* Floating-point and vector state of user mode; the kernel itself uses none. */
#pragma once
#include "kernel/lib/base.h"

void fpu_init(void); /* each CPU, after CR4 */
void fpu_save(void *area);
void fpu_restore(const void *area);
void fpu_reset(void *area); /* the state of a new program; area: aligned, FPU_AREA_SIZE bytes */
/* Returns the aligned part of a context's area. */
static inline void *fpu_align(uint8_t *area)
{
    return (void *)ALIGN_UP((uintptr_t)area, 64);
}
