/* The processor's identification and features (Arm ARM DDI 0487, D17.2). */
#include "platform_find.h"
#include "sysreg.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"

#define WORD(name)               \
    {                            \
#name, sysreg_read(name) \
    }

/* The last register is named by its encoding, since older assemblers do not know it. */
unsigned arch_identity(struct arch_word out[ARCH_WORDS_MAX])
{
    const struct arch_word words[] = {
        WORD(midr_el1),         WORD(revidr_el1),
        WORD(ctr_el0),          WORD(dczid_el0),
        WORD(cntfrq_el0),       WORD(id_aa64pfr0_el1),
        WORD(id_aa64pfr1_el1),  WORD(id_aa64dfr0_el1),
        WORD(id_aa64dfr1_el1),  WORD(id_aa64isar0_el1),
        WORD(id_aa64isar1_el1), {"id_aa64isar2_el1", sysreg_read(S3_0_C0_C6_2)},
        WORD(id_aa64mmfr0_el1), WORD(id_aa64mmfr1_el1),
        WORD(id_aa64mmfr2_el1),
    };
    _Static_assert(ARRAY_SIZE(words) <= ARCH_WORDS_MAX, "ARCH_WORDS_MAX");

    memcpy(out, words, sizeof(words));
    return ARRAY_SIZE(words);
}

/* Reads MIDR_EL1 (D17.2.98). */
void arch_cpu_name(char out[ARCH_CPU_NAME_MAX])
{
    unsigned midr = (unsigned)sysreg_read(midr_el1);

    ksnprintf(out, ARCH_CPU_NAME_MAX, "implementer %#x, part %#x, revision r%up%u", midr >> 24,
              midr >> 4 & 0xfff, midr >> 20 & 0xf, midr & 0xf);
}

const char *arch_machine(void)
{
    const char *model = platform_find(NULL)->model;

    return model[0] ? model : NULL;
}
