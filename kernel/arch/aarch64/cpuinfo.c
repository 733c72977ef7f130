/* What /proc/cpuinfo tells of a processor, with Linux's names. */
#include "sysreg.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include <asm/hwcap.h>

static const struct {
    uint64_t bit;
    const char *name;
} features[] = {
    {HWCAP_FP, "fp"},           {HWCAP_ASIMD, "asimd"},       {HWCAP_AES, "aes"},
    {HWCAP_PMULL, "pmull"},     {HWCAP_SHA1, "sha1"},         {HWCAP_SHA2, "sha2"},
    {HWCAP_CRC32, "crc32"},     {HWCAP_ATOMICS, "atomics"},   {HWCAP_FPHP, "fphp"},
    {HWCAP_ASIMDHP, "asimdhp"}, {HWCAP_ASIMDRDM, "asimdrdm"}, {HWCAP_LRCPC, "lrcpc"},
    {HWCAP_DCPOP, "dcpop"},     {HWCAP_ASIMDDP, "asimddp"},
};

void arch_cpuinfo(char out[ARCH_CPUINFO_MAX])
{
    unsigned midr = (unsigned)sysreg_read(midr_el1);
    size_t n = ksnprintf(out, ARCH_CPUINFO_MAX, "BogoMIPS\t: %llu.00\nFeatures\t:",
                         (unsigned long long)(arch_ticks_hz() / 500000));

    for (unsigned i = 0; i < ARRAY_SIZE(features) && n < ARCH_CPUINFO_MAX; i++)
        if (arch_user_hwcap() & features[i].bit)
            n += ksnprintf(out + n, ARCH_CPUINFO_MAX - n, " %s", features[i].name);
    if (n < ARCH_CPUINFO_MAX)
        ksnprintf(out + n, ARCH_CPUINFO_MAX - n,
                  "\nCPU implementer\t: 0x%02x\nCPU architecture: 8\nCPU variant\t: %#x\n"
                  "CPU part\t: 0x%03x\nCPU revision\t: %u\n",
                  midr >> 24, midr >> 20 & 0xf, midr >> 4 & 0xfff, midr & 0xf);
}
