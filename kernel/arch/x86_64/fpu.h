/* Floating-point and vector state of user mode; the kernel itself uses none. */
#pragma once
#include "kernel/lib/base.h"

void fpu_init(void);   /* each CPU, after CR4 */
#define FPU_LEGACY 512 /* bytes of what FXSAVE saves */
/* Returns the bytes in use of an area. */
size_t fpu_bytes(void);
/* Returns the features in XCR0; 0: there is no XSAVE. */
uint64_t fpu_features(void);
void fpu_save(void *area);
void fpu_restore(const void *area);
void fpu_reset(void *area); /* the state of a new program; area: aligned, FPU_AREA_SIZE bytes */
/* Returns the aligned part of a context's area. */
static inline void *fpu_align(uint8_t *area)
{
    return (void *)ALIGN_UP((uintptr_t)area, 64);
}
