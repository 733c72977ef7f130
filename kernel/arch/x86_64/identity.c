/* The processor's identification and features (SDM vol. 2A, CPUID; APM vol. 3, appendix E). */
#include "x86.h"
#include "kernel/arch/arch.h"

#define BRAND_FIRST  0x80000002
#define BRAND_LEAVES 3

enum reg { EAX, EBX, ECX, EDX };

static const struct {
    const char *name;
    uint32_t leaf, sub;
    enum reg reg;
} words[] = {
    {"1.eax", 1, 0, EAX},
    {"1.ecx", 1, 0, ECX},
    {"1.edx", 1, 0, EDX},
    {"6.eax", 6, 0, EAX},
    {"6.ecx", 6, 0, ECX},
    {"7.ebx", 7, 0, EBX},
    {"7.ecx", 7, 0, ECX},
    {"7.edx", 7, 0, EDX},
    {"a.eax", 10, 0, EAX},
    {"a.ebx", 10, 0, EBX},
    {"a.edx", 10, 0, EDX},
    {"d.eax", 13, 0, EAX},
    {"15.eax", 0x15, 0, EAX},
    {"15.ebx", 0x15, 0, EBX},
    {"15.ecx", 0x15, 0, ECX},
    {"1a.eax", 0x1a, 0, EAX},
    {"80000001.ecx", 0x80000001, 0, ECX},
    {"80000001.edx", 0x80000001, 0, EDX},
    {"80000007.edx", 0x80000007, 0, EDX},
    {"80000008.eax", 0x80000008, 0, EAX},
    {"80000008.ebx", 0x80000008, 0, EBX},
    {"80000022.eax", 0x80000022, 0, EAX},
    {"80000022.ebx", 0x80000022, 0, EBX},
};
_Static_assert(ARRAY_SIZE(words) <= ARCH_WORDS_MAX, "ARCH_WORDS_MAX");

/* Reads a word of a leaf; 0 if the processor does not have the leaf, because it would return
 * another one's. */
static uint32_t read_word(uint32_t leaf, uint32_t sub, enum reg reg)
{
    if (leaf > cpuid(leaf & 0x80000000, 0).eax)
        return 0;
    struct x86_cpuid r = cpuid(leaf, sub);
    const uint32_t regs[] = {r.eax, r.ebx, r.ecx, r.edx};
    return regs[reg];
}

unsigned arch_identity(struct arch_word out[ARCH_WORDS_MAX])
{
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        out[i] =
            (struct arch_word){words[i].name, read_word(words[i].leaf, words[i].sub, words[i].reg)};
    return ARRAY_SIZE(words);
}

static void copy_printable(char *to, const uint32_t *from, unsigned n)
{
    const char *text = (const char *)from;
    unsigned length = 0;

    for (unsigned i = 0; i < n && text[i]; i++)
        if (length || text[i] != ' ')
            to[length++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    to[length] = '\0';
}

void arch_cpu_name(char out[ARCH_CPU_NAME_MAX])
{
    uint32_t text[BRAND_LEAVES * 4] = {0};

    if (cpuid(0x80000000, 0).eax >= BRAND_FIRST + BRAND_LEAVES - 1) {
        for (uint32_t i = 0; i < BRAND_LEAVES; i++) {
            struct x86_cpuid r = cpuid(BRAND_FIRST + i, 0);
            memcpy(text + 4 * i, &r, sizeof(r));
        }
    } else { /* the vendor */
        struct x86_cpuid r = cpuid(0, 0);
        text[0] = r.ebx;
        text[1] = r.edx;
        text[2] = r.ecx;
    }
    copy_printable(out, text, sizeof(text));
}

const char *arch_machine(void)
{
    return NULL;
}
