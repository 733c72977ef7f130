/* The processor's random numbers (FEAT_RNG; Arm ARM DDI 0487, D17.2.114 RNDR). */
#include "sysreg.h"
#include "kernel/arch/arch.h"

#define ISAR0_RNDR(v) ((v) >> 60 & 0xf)
#define TRIES         100

/* By encoding, which older assemblers accept. Z is set where no number was to be had in time. */
static bool rndr(uint64_t *out)
{
    bool ok;

    __asm__ volatile("mrs %0, S3_3_C2_C4_0" : "=r"(*out), "=@ccne"(ok));
    return ok;
}

bool arch_random(uint64_t *out)
{
    bool ok = false;

    if (!ISAR0_RNDR(sysreg_read(id_aa64isar0_el1)))
        return false;
    for (unsigned i = 0; i < TRIES && !ok; i++)
        ok = rndr(out);
    return ok;
}
