/* What programs are told of a processor, with Linux's names: its features as bits of AT_HWCAP and
 * AT_HWCAP2, /proc/cpuinfo, and ID registers, which are EL1's: their reading is emulated. */
#include "frame.h"
#include "internal.h"
#include "sysreg.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include <asm/hwcap.h>

enum id { ISAR0, ISAR1, ISAR2, PFR0, PFR1, MMFR0, MMFR1, MMFR2, NONE, IDS };

/* A feature is there if the four bits from `shift` on of an ID register are `least` or more. */
struct feature {
    const char *name;
    uint64_t bit;
    bool second; /* a bit of AT_HWCAP2 */
    bool sign;   /* the field has a sign: -1 is nothing at all */
    uint8_t id, shift, least;
};

/* The fields (Arm ARM DDI 0487, D17.2) as Linux's Documentation/arch/arm64/elf_hwcaps.rst takes
 * them, in the order of the bits. Not among them is what needs more of the kernel than it does: SVE
 * and SME (registers to save), PACA and PACG (keys), BTI (guarded pages), MTE (tags), EVTSTRM (the
 * timer's event stream), SSBS (errata of many processors, for which Linux does not name it
 * either). */
static const struct feature features[] = {
    {"fp", HWCAP_FP, .sign = true, .id = PFR0, .shift = 16, .least = 0},
    {"asimd", HWCAP_ASIMD, .sign = true, .id = PFR0, .shift = 20, .least = 0},
    {"aes", HWCAP_AES, .id = ISAR0, .shift = 4, .least = 1},
    {"pmull", HWCAP_PMULL, .id = ISAR0, .shift = 4, .least = 2},
    {"sha1", HWCAP_SHA1, .id = ISAR0, .shift = 8, .least = 1},
    {"sha2", HWCAP_SHA2, .id = ISAR0, .shift = 12, .least = 1},
    {"crc32", HWCAP_CRC32, .id = ISAR0, .shift = 16, .least = 1},
    {"atomics", HWCAP_ATOMICS, .id = ISAR0, .shift = 20, .least = 2},
    {"fphp", HWCAP_FPHP, .sign = true, .id = PFR0, .shift = 16, .least = 1},
    {"asimdhp", HWCAP_ASIMDHP, .sign = true, .id = PFR0, .shift = 20, .least = 1},
    {"cpuid", HWCAP_CPUID, .id = NONE}, /* emulated below */
    {"asimdrdm", HWCAP_ASIMDRDM, .id = ISAR0, .shift = 28, .least = 1},
    {"jscvt", HWCAP_JSCVT, .id = ISAR1, .shift = 12, .least = 1},
    {"fcma", HWCAP_FCMA, .id = ISAR1, .shift = 16, .least = 1},
    {"lrcpc", HWCAP_LRCPC, .id = ISAR1, .shift = 20, .least = 1},
    {"dcpop", HWCAP_DCPOP, .id = ISAR1, .shift = 0, .least = 1},
    {"sha3", HWCAP_SHA3, .id = ISAR0, .shift = 32, .least = 1},
    {"sm3", HWCAP_SM3, .id = ISAR0, .shift = 36, .least = 1},
    {"sm4", HWCAP_SM4, .id = ISAR0, .shift = 40, .least = 1},
    {"asimddp", HWCAP_ASIMDDP, .id = ISAR0, .shift = 44, .least = 1},
    {"sha512", HWCAP_SHA512, .id = ISAR0, .shift = 12, .least = 2},
    {"asimdfhm", HWCAP_ASIMDFHM, .id = ISAR0, .shift = 48, .least = 1},
    {"dit", HWCAP_DIT, .id = PFR0, .shift = 48, .least = 1},
    {"uscat", HWCAP_USCAT, .id = MMFR2, .shift = 32, .least = 1},
    {"ilrcpc", HWCAP_ILRCPC, .id = ISAR1, .shift = 20, .least = 2},
    {"flagm", HWCAP_FLAGM, .id = ISAR0, .shift = 52, .least = 1},
    {"sb", HWCAP_SB, .id = ISAR1, .shift = 36, .least = 1},
    {"dcpodp", HWCAP2_DCPODP, .second = true, .id = ISAR1, .shift = 0, .least = 2},
    {"flagm2", HWCAP2_FLAGM2, .second = true, .id = ISAR0, .shift = 52, .least = 2},
    {"frint", HWCAP2_FRINT, .second = true, .id = ISAR1, .shift = 32, .least = 1},
    {"i8mm", HWCAP2_I8MM, .second = true, .id = ISAR1, .shift = 52, .least = 1},
    {"bf16", HWCAP2_BF16, .second = true, .id = ISAR1, .shift = 44, .least = 1},
    {"dgh", HWCAP2_DGH, .second = true, .id = ISAR1, .shift = 48, .least = 1},
    {"rng", HWCAP2_RNG, .second = true, .id = ISAR0, .shift = 60, .least = 1},
    {"ecv", HWCAP2_ECV, .second = true, .id = MMFR0, .shift = 60, .least = 1},
    {"afp", HWCAP2_AFP, .second = true, .id = MMFR1, .shift = 44, .least = 1},
    {"rpres", HWCAP2_RPRES, .second = true, .id = ISAR2, .shift = 4, .least = 1},
    {"wfxt", HWCAP2_WFXT, .second = true, .id = ISAR2, .shift = 0, .least = 2},
    {"ebf16", HWCAP2_EBF16, .second = true, .id = ISAR1, .shift = 44, .least = 2},
};

struct ids {
    uint64_t of[IDS];
};

/* ID_AA64ISAR2_EL1 by its encoding, since older assemblers do not know the name. */
static struct ids read_ids(void)
{
    return (struct ids){{
        [ISAR0] = sysreg_read(id_aa64isar0_el1),
        [ISAR1] = sysreg_read(id_aa64isar1_el1),
        [ISAR2] = sysreg_read(S3_0_C0_C6_2),
        [PFR0] = sysreg_read(id_aa64pfr0_el1),
        [MMFR0] = sysreg_read(id_aa64mmfr0_el1),
        [MMFR1] = sysreg_read(id_aa64mmfr1_el1),
        [MMFR2] = sysreg_read(id_aa64mmfr2_el1),
    }};
}

static bool has_feature(const struct feature *f, const struct ids *ids)
{
    int value = (int)(ids->of[f->id] >> f->shift & 0xf);

    return (f->sign && value > 7 ? value - 16 : value) >= f->least;
}

static uint64_t feature_bits(bool second)
{
    struct ids ids = read_ids();
    uint64_t bits = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(features); i++)
        if (features[i].second == second && has_feature(&features[i], &ids))
            bits |= features[i].bit;
    return bits;
}

uint64_t arch_user_hwcap(void)
{
    return feature_bits(false);
}

uint64_t arch_user_hwcap2(void)
{
    return feature_bits(true);
}

void arch_cpuinfo(char out[ARCH_CPUINFO_MAX])
{
    unsigned midr = (unsigned)sysreg_read(midr_el1);
    struct ids ids = read_ids();
    size_t n = ksnprintf(out, ARCH_CPUINFO_MAX, "BogoMIPS\t: %llu.00\nFeatures\t:",
                         (unsigned long long)(arch_ticks_hz() / 500000));

    for (unsigned i = 0; i < ARRAY_SIZE(features) && n < ARCH_CPUINFO_MAX; i++)
        if (has_feature(&features[i], &ids))
            n += ksnprintf(out + n, ARCH_CPUINFO_MAX - n, " %s", features[i].name);
    if (n < ARCH_CPUINFO_MAX)
        ksnprintf(out + n, ARCH_CPUINFO_MAX - n,
                  "\nCPU implementer\t: 0x%02x\nCPU architecture: 8\nCPU variant\t: 0x%x\n"
                  "CPU part\t: 0x%03x\nCPU revision\t: %u\n",
                  midr >> 24, midr >> 20 & 0xf, midr >> 4 & 0xfff, midr & 0xf);
}

/* ---- ID registers ---------------------------------------------------------------------------- */

/* MRS of the ID registers (Arm ARM DDI 0487, C6.2.229): S3_0_C0_C<crm>_<op2>. */
#define MRS_ID      0xd5380000
#define MRS_ID_MASK 0xfffff000
#define ID(crm, op) ((crm) << 3 | (op))

/* MPIDR_EL1 as Linux shows it: the bit that is always 1, and no place. */
#define MPIDR_RES1 (UINT64_C(1) << 31)

/* Registers with fields of features, and what their other fields say to mean "not there": EL0 and
 * EL1 have 64 bits alone, the debug architecture is the first, no granule but that of programs. */
static const struct {
    uint8_t number, id;
    uint64_t others;
} shown[] = {
    {ID(4, 0), PFR0, 0x11}, {ID(5, 0), NONE, 0x6}, {ID(6, 0), ISAR0, 0},
    {ID(6, 1), ISAR1, 0},   {ID(6, 2), ISAR2, 0},  {ID(7, 0), MMFR0, UINT64_C(0x111ff000000)},
    {ID(7, 1), MMFR1, 0},   {ID(7, 2), MMFR2, 0},
};

/* Returns the fields of an ID register that belong to features, and no others. */
static uint64_t fields_of(unsigned id)
{
    struct ids ids = read_ids();
    uint64_t mask = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(features); i++)
        if (features[i].id == id)
            mask |= UINT64_C(0xf) << features[i].shift;
    return ids.of[id] & mask;
}

/* Gives the register's value as Linux's Documentation/arch/arm64/cpu-feature-registers.rst says:
 * features that programs cannot use are not there. Returns false if reading it is not for them. */
static bool read_id(unsigned number, uint64_t *out)
{
    *out = 0;
    if (number == ID(0, 0))
        *out = sysreg_read(midr_el1);
    else if (number == ID(0, 5))
        *out = MPIDR_RES1;
    else if (number < ID(2, 0) && number != ID(0, 6))
        return false;
    for (unsigned i = 0; i < ARRAY_SIZE(shown); i++)
        if (shown[i].number == number)
            *out = shown[i].others | fields_of(shown[i].id);
    return true;
}

bool cpuinfo_emulate(struct arch_frame *frame)
{
    uint32_t instruction;
    uint64_t value;

    if (arch_copy_from_user(&instruction, frame->pc, sizeof(instruction)) ||
        (instruction & MRS_ID_MASK) != MRS_ID || instruction >> 11 & 1 ||
        !read_id(instruction >> 5 & 0x3f, &value))
        return false;
    if ((instruction & 31) < 31)
        frame->x[instruction & 31] = value;
    frame->pc += sizeof(instruction);
    return true;
}
