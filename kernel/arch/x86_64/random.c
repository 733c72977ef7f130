/* The processor's random numbers (SDM vol. 1, 7.3.17). */
#include "x86.h"
#include "kernel/arch/arch.h"

#define RDRAND_BIT BIT(30) /* leaf 1, ECX */
#define RDSEED_BIT BIT(18) /* leaf 7, EBX */
#define TRIES      100     /* RDSEED may have none for a moment, RDRAND hardly ever */

static bool rdseed(uint64_t *out)
{
    bool ok;

    __asm__ volatile("rdseed %0" : "=r"(*out), "=@ccc"(ok));
    return ok;
}

static bool rdrand(uint64_t *out)
{
    bool ok;

    __asm__ volatile("rdrand %0" : "=r"(*out), "=@ccc"(ok));
    return ok;
}

/* Some processors answer with all ones after a suspension, so this value is refused. */
static bool try_often(bool (*draw)(uint64_t *), uint64_t *out)
{
    for (unsigned i = 0; i < TRIES; i++) {
        if (draw(out) && *out != UINT64_MAX)
            return true;
        arch_cpu_relax();
    }
    return false;
}

bool arch_random(uint64_t *out)
{
    if (x86_features.max_leaf >= 7 && cpuid(7, 0).ebx & RDSEED_BIT && try_often(rdseed, out))
        return true;
    return cpuid(1, 0).ecx & RDRAND_BIT && try_often(rdrand, out);
}
