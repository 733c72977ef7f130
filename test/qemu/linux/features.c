/*
 * AArch64: the processor's features that AT_HWCAP and AT_HWCAP2 name are those whose instructions
 * can be executed, /proc/cpuinfo names the same, and ID registers have the same fields.
 *   features [linux]     linux: what needs more of the kernel than Vigil does may be named as well
 */
#include <asm/hwcap.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include "test/qemu/apps/tap.h"

/* Each executes one instruction, or a few that end in udf when the feature is not there; x2: 64
 * aligned bytes of memory. fpcr: a bit of it can be set. */
#define ARCH         ".arch armv8.6-a+crypto+sha3+sm4+fp16fml+rng+flagm+sb\n"
#define FPCR(b)      FPCR_SET(b) UNLESS("x0", "x1")
#define FPCR_SET(b)  "mov x0, " #b "\nmsr fpcr, x0\nmrs x1, fpcr\nmsr fpcr, xzr\n"
#define UNLESS(a, b) "cmp " a ", " b "\nb.eq 1f\nudf 0\n1:"
#define FEATURES                                                \
    X(fp, HWCAP_FP, "fadd s0, s1, s2")                          \
    X(asimd, HWCAP_ASIMD, "fadd v0.4s, v1.4s, v2.4s")           \
    X(aes, HWCAP_AES, "aese v0.16b, v1.16b")                    \
    X(pmull, HWCAP_PMULL, "pmull v0.1q, v1.1d, v2.1d")          \
    X(sha1, HWCAP_SHA1, "sha1h s0, s1")                         \
    X(sha2, HWCAP_SHA2, "sha256su0 v0.4s, v1.4s")               \
    X(crc32, HWCAP_CRC32, "crc32b w0, w0, w0")                  \
    X(atomics, HWCAP_ATOMICS, "ldadd x0, x1, [x2]")             \
    X(fphp, HWCAP_FPHP, "fadd h0, h1, h2")                      \
    X(asimdhp, HWCAP_ASIMDHP, "fadd v0.8h, v1.8h, v2.8h")       \
    X(cpuid, HWCAP_CPUID, "mrs x0, midr_el1")                   \
    X(asimdrdm, HWCAP_ASIMDRDM, "sqrdmlah v0.4s, v1.4s, v2.4s") \
    X(jscvt, HWCAP_JSCVT, "fjcvtzs w0, d0")                     \
    X(fcma, HWCAP_FCMA, "fcadd v0.4s, v1.4s, v2.4s, 90")        \
    X(lrcpc, HWCAP_LRCPC, "ldaprb w0, [x2]")                    \
    X(dcpop, HWCAP_DCPOP, "dc cvap, x2")                        \
    X(sha3, HWCAP_SHA3, "eor3 v0.16b, v1.16b, v2.16b, v2.16b")  \
    X(sm3, HWCAP_SM3, "sm3ss1 v0.4s, v1.4s, v2.4s, v2.4s")      \
    X(sm4, HWCAP_SM4, "sm4e v0.4s, v1.4s")                      \
    X(asimddp, HWCAP_ASIMDDP, "udot v0.4s, v1.16b, v2.16b")     \
    X(sha512, HWCAP_SHA512, "sha512h q0, q1, v2.2d")            \
    X(asimdfhm, HWCAP_ASIMDFHM, "fmlal v0.4s, v1.4h, v2.4h")    \
    X(dit, HWCAP_DIT, "msr dit, 1\nmsr dit, 0")                 \
    X(uscat, HWCAP_USCAT, "add x1, x2, 4\nldadd x0, x0, [x1]")  \
    X(ilrcpc, HWCAP_ILRCPC, "stlurb w0, [x2]")                  \
    X(flagm, HWCAP_FLAGM, "cfinv")                              \
    X(sb, HWCAP_SB, "sb")                                       \
    Y(dcpodp, HWCAP2_DCPODP, "dc cvadp, x2")                    \
    Y(flagm2, HWCAP2_FLAGM2, "axflag")                          \
    Y(frint, HWCAP2_FRINT, "frint32x d0, d1")                   \
    Y(i8mm, HWCAP2_I8MM, "smmla v0.4s, v1.16b, v2.16b")         \
    Y(bf16, HWCAP2_BF16, "bfdot v0.4s, v1.8h, v2.8h")           \
    Y(dgh, HWCAP2_DGH, "hint 6")                                \
    Y(rng, HWCAP2_RNG, "mrs x0, s3_3_c2_c4_0")                  \
    Y(ecv, HWCAP2_ECV, "mrs x0, s3_3_c14_c0_6")                 \
    Y(afp, HWCAP2_AFP, FPCR(0x2))                               \
    Y(rpres, HWCAP2_RPRES, "frecpe s0, s1")                     \
    Y(wfxt, HWCAP2_WFXT, "mov x0, 0\n.inst 0xd5031000")         \
    Y(ebf16, HWCAP2_EBF16, FPCR(0x2000))

#define X(name, bit, text)                                                                    \
    static void run_##name(uint64_t *cells)                                                   \
    {                                                                                         \
        register uint64_t *x2 __asm__("x2") = cells;                                          \
        __asm__ volatile(ARCH text ::"r"(x2) : "x0", "x1", "v0", "v1", "v2", "cc", "memory"); \
    }
#define Y X
FEATURES
#undef X
#undef Y

static const struct {
    const char *name;
    uint64_t bit;
    bool second;
    void (*run)(uint64_t *cells);
} features[] = {
#define X(name, bit, text) {#name, bit, false, run_##name},
#define Y(name, bit, text) {#name, bit, true, run_##name},
    FEATURES};
enum { COUNT = sizeof features / sizeof *features };

static sigjmp_buf back;

static void leave(int number)
{
    siglongjmp(back, number);
}

/* Returns 0, or the signal that the instruction raised. */
static int run_feature(unsigned i)
{
    static uint64_t cells[8] __attribute__((aligned(64)));
    int number = sigsetjmp(back, 1);

    if (!number)
        features[i].run(cells);
    return number;
}

/* These execute as something else, or as nothing, on a processor without the feature. */
static bool runs_always(unsigned i)
{
    return !strcmp(features[i].name, "dgh") || !strcmp(features[i].name, "rpres");
}

/* Returns whether the line of features of /proc/cpuinfo has the name. */
static bool cpuinfo_has(const char *name)
{
    static char line[4096];
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool found = false;

    while (file && fgets(line, sizeof line, file) && strncmp(line, "Features", 8))
        ;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
        found |= !strcmp(word, name);
    if (file)
        fclose(file);
    return found;
}

static volatile uint64_t dit_in_handler;

static void take_dit(int number)
{
    uint64_t dit;

    (void)number;
    __asm__ volatile(ARCH "mrs %0, dit" : "=r"(dit));
    dit_in_handler = dit;
}

/* Data-independent timing, once asked for, holds in a handler and behind it. */
static void check_dit(void)
{
    uint64_t dit;

    signal(SIGUSR1, take_dit);
    __asm__ volatile(ARCH "msr dit, 1");
    raise(SIGUSR1);
    __asm__ volatile(ARCH "mrs %0, dit" : "=r"(dit));
    __asm__ volatile(ARCH "msr dit, 0");
    tap_check(dit_in_handler == 1u << 24 && dit == 1u << 24, "signals keep PSTATE.DIT");
}

/* Reads an ID register by its encoding. */
#define READ_ID(crm, op)                                                \
    ({                                                                  \
        uint64_t id_;                                                   \
        __asm__ volatile("mrs %0, S3_0_C0_C" #crm "_" #op : "=r"(id_)); \
        id_;                                                            \
    })

static bool has_field(uint64_t id, unsigned shift, unsigned least, uint64_t bit)
{
    return ((id >> shift & 15) >= least) == !!(getauxval(AT_HWCAP) & bit);
}

static int register_signal(void (*read)(void))
{
    int number = sigsetjmp(back, 1);

    if (!number)
        read();
    return number;
}

static void read_other_id(void)
{
    (void)READ_ID(0, 1);
}

static void read_control(void)
{
    __asm__ volatile("mrs x0, sctlr_el1" ::: "x0");
}

static void write_id(void)
{
    __asm__ volatile(".inst 0xd5180600" ::: "memory"); /* msr S3_0_C0_C6_0, x0 */
}

/* Programs read ID registers, which are the kernel's, where HWCAP_CPUID is named. */
static void check_ids(void)
{
    uint64_t isar0 = READ_ID(6, 0), isar1 = READ_ID(6, 1), pfr0 = READ_ID(4, 0);
    uint64_t behind = 1;

    tap_check(READ_ID(0, 0) && READ_ID(0, 5) == 1u << 31, "there are a model and no place");
    tap_check(has_field(isar0, 4, 1, HWCAP_AES) && has_field(isar0, 12, 2, HWCAP_SHA512) &&
                  has_field(isar0, 20, 2, HWCAP_ATOMICS) && has_field(isar1, 20, 2, HWCAP_ILRCPC) &&
                  has_field(pfr0, 32, 1, HWCAP_SVE),
              "fields are as the features named: %#llx %#llx %#llx", (unsigned long long)isar0,
              (unsigned long long)isar1, (unsigned long long)pfr0);
    tap_check((pfr0 & 0xff) == 0x11 && READ_ID(7, 7) == 0, "what programs cannot use is not there");
    __asm__ volatile("mrs xzr, midr_el1\nmov %0, xzr" : "=r"(behind));
    tap_check(!behind, "a value can be thrown away");
    tap_check(register_signal(read_other_id) == SIGILL && register_signal(read_control) == SIGILL &&
                  register_signal(write_id) == SIGILL,
              "other registers, and writing, are illegal");
}

int main(int argc, char **argv)
{
    bool elsewhere = argc == 2 && !strcmp(argv[1], "linux");
    uint64_t told[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)}, known[2] = {0, 0};

    signal(SIGILL, leave);
    signal(SIGBUS, leave);
    printf("# hwcap=%#llx hwcap2=%#llx\n", (unsigned long long)told[0],
           (unsigned long long)told[1]);
    for (unsigned i = 0; i < COUNT; i++) {
        bool named = told[features[i].second] & features[i].bit;
        int number = run_feature(i);

        known[features[i].second] |= features[i].bit;
        tap_check(number ? !named : named || runs_always(i), "%s: named=%d signal=%d",
                  features[i].name, named, number);
        tap_check(cpuinfo_has(features[i].name) == named, "%s: the same in cpuinfo",
                  features[i].name);
    }
    printf("# more: hwcap=%#llx hwcap2=%#llx\n", (unsigned long long)(told[0] & ~known[0]),
           (unsigned long long)(told[1] & ~known[1]));
    tap_check(elsewhere || (!(told[0] & ~known[0]) && !(told[1] & ~known[1])),
              "nothing more is named");
    check_ids();
    if (told[0] & HWCAP_DIT)
        check_dit();
    return tap_done();
}
