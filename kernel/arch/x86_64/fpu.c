/*
 * Saves FP state eagerly by XSAVE in its standard layout, or FXSAVE (SDM vol. 1, 10.5 and 13). XCR0
 * enables x87, SSE and AVX, which fit FPU_AREA_SIZE. AVX-512 and AMX stay off; programs see that by
 * CPUID and XGETBV.
 */
#include "fpu.h"
#include "x86.h"
#include "kernel/arch/arch.h"

#define XCR0_X87 BIT(0)
#define XCR0_SSE BIT(1)
#define XCR0_AVX BIT(2)

#define FCW_DEFAULT   0x037f
#define MXCSR_DEFAULT 0x1f80
#define FCW_OFFSET    0
#define MXCSR_OFFSET  24

static uint64_t xcr0_wanted(void)
{
    return XCR0_X87 | XCR0_SSE | (x86_features.avx ? XCR0_AVX : 0);
}

size_t fpu_bytes(void)
{
    return x86_features.xsave ? cpuid(0xd, 0).ebx : FPU_LEGACY;
}

uint64_t fpu_features(void)
{
    return x86_features.xsave ? xcr0_wanted() : 0;
}

void fpu_init(void)
{
    if (!x86_features.xsave)
        return;
    uint64_t v = xcr0_wanted();
    __asm__ volatile("xsetbv" : : "c"(0), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)));
    ASSERT(cpuid(0xd, 0).ebx <= FPU_AREA_SIZE);
}

void fpu_save(void *area)
{
    if (x86_features.xsave)
        __asm__ volatile("xsave64 (%0)"
                         :
                         : "r"(area), "a"((uint32_t)-1), "d"((uint32_t)-1)
                         : "memory");
    else
        __asm__ volatile("fxsave64 (%0)" : : "r"(area) : "memory");
}

void fpu_restore(const void *area)
{
    if (x86_features.xsave)
        __asm__ volatile("xrstor64 (%0)"
                         :
                         : "r"(area), "a"((uint32_t)-1), "d"((uint32_t)-1)
                         : "memory");
    else
        __asm__ volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
}

/* A zero XSAVE header means initial values for all but MXCSR, which is always loaded. */
void fpu_reset(void *area)
{
    uint8_t *bytes = area;

    memset(area, 0, FPU_AREA_SIZE);
    *(uint16_t *)(bytes + FCW_OFFSET) = FCW_DEFAULT;
    *(uint32_t *)(bytes + MXCSR_OFFSET) = MXCSR_DEFAULT;
}
