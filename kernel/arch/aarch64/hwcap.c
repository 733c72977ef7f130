/* What programs may use but cannot ask for: the ID registers are EL1's (Linux,
 * Documentation/arch/arm64/elf_hwcaps.rst). */
#include "kernel/arch/arch.h"

#define HWCAP_ATOMICS ((uint64_t)1 << 8)
/* ID_AA64ISAR0_EL1 (DDI 0487, D17.2.61) */
#define ISAR0_ATOMIC(v) ((v) >> 20 & 0xf)
#define ATOMIC_LSE      2

uint64_t arch_user_hwcap(void)
{
    uint64_t isar0;

    __asm__("mrs %0, id_aa64isar0_el1" : "=r"(isar0));
    return ISAR0_ATOMIC(isar0) >= ATOMIC_LSE ? HWCAP_ATOMICS : 0;
}
