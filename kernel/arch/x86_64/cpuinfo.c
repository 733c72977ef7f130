/* What /proc/cpuinfo tells of a processor, with Linux's names. */
#include "x86.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"

/* Features by leaf and register (SDM vol. 2A, CPUID), named as Linux names them. */
static const struct {
    uint32_t leaf;
    char reg;
    uint8_t bit;
    const char *name;
} features[] = {
    {1, 'd', 0, "fpu"},          {1, 'd', 4, "tsc"},
    {1, 'd', 5, "msr"},          {1, 'd', 6, "pae"},
    {1, 'd', 8, "cx8"},          {1, 'd', 9, "apic"},
    {1, 'd', 15, "cmov"},        {1, 'd', 19, "clflush"},
    {1, 'd', 23, "mmx"},         {1, 'd', 24, "fxsr"},
    {1, 'd', 25, "sse"},         {1, 'd', 26, "sse2"},
    {1, 'd', 28, "ht"},          {0x80000001, 'd', 11, "syscall"},
    {0x80000001, 'd', 20, "nx"}, {0x80000001, 'd', 27, "rdtscp"},
    {0x80000001, 'd', 29, "lm"}, {1, 'c', 0, "pni"},
    {1, 'c', 1, "pclmulqdq"},    {1, 'c', 9, "ssse3"},
    {1, 'c', 12, "fma"},         {1, 'c', 13, "cx16"},
    {1, 'c', 19, "sse4_1"},      {1, 'c', 20, "sse4_2"},
    {1, 'c', 21, "x2apic"},      {1, 'c', 22, "movbe"},
    {1, 'c', 23, "popcnt"},      {1, 'c', 25, "aes"},
    {1, 'c', 26, "xsave"},       {1, 'c', 28, "avx"},
    {1, 'c', 29, "f16c"},        {1, 'c', 30, "rdrand"},
    {1, 'c', 31, "hypervisor"},  {0x80000001, 'c', 0, "lahf_lm"},
    {0x80000001, 'c', 5, "abm"}, {0x80000001, 'c', 6, "sse4a"},
    {7, 'b', 0, "fsgsbase"},     {7, 'b', 3, "bmi1"},
    {7, 'b', 5, "avx2"},         {7, 'b', 7, "smep"},
    {7, 'b', 8, "bmi2"},         {7, 'b', 9, "erms"},
    {7, 'b', 18, "rdseed"},      {7, 'b', 19, "adx"},
    {7, 'b', 20, "smap"},        {7, 'b', 29, "sha_ni"},
};

static bool has_feature(unsigned i)
{
    uint32_t leaf = features[i].leaf;

    if (leaf > cpuid(leaf & 0x80000000, 0).eax)
        return false;
    struct x86_cpuid r = cpuid(leaf, 0);
    uint32_t word = features[i].reg == 'b' ? r.ebx : features[i].reg == 'c' ? r.ecx : r.edx;
    return word >> features[i].bit & 1;
}

/* Returns the bits of physical addresses, and from bit 8 on those of virtual ones. */
static uint32_t address_bits(void)
{
    return cpuid(0x80000000, 0).eax >= 0x80000008 ? cpuid(0x80000008, 0).eax : 0x3024;
}

void arch_cpuinfo(char out[ARCH_CPUINFO_MAX])
{
    struct x86_cpuid vendor = cpuid(0, 0);
    uint32_t signature = cpuid(1, 0).eax, family = signature >> 8 & 0xf;
    uint32_t model = (signature >> 4 & 0xf) | (signature >> 12 & 0xf0);
    char name[ARCH_CPU_NAME_MAX];

    arch_cpu_name(name);
    size_t n =
        ksnprintf(out, ARCH_CPUINFO_MAX,
                  "vendor_id\t: %.4s%.4s%.4s\ncpu family\t: %u\nmodel\t\t: %u\n"
                  "model name\t: %s\nstepping\t: %u\ncpu MHz\t\t: %llu.000\nflags\t\t:",
                  (const char *)&vendor.ebx, (const char *)&vendor.edx, (const char *)&vendor.ecx,
                  family == 15 ? 15 + (signature >> 20 & 0xff) : family, model, name,
                  signature & 0xf, (unsigned long long)(arch_ticks_hz() / 1000000));
    for (unsigned i = 0; i < ARRAY_SIZE(features) && n < ARCH_CPUINFO_MAX; i++)
        if (has_feature(i))
            n += ksnprintf(out + n, ARCH_CPUINFO_MAX - n, " %s", features[i].name);
    if (n < ARCH_CPUINFO_MAX)
        ksnprintf(out + n, ARCH_CPUINFO_MAX - n,
                  "\nbogomips\t: %llu.00\naddress sizes\t: %u bits physical, %u bits virtual\n",
                  (unsigned long long)(arch_ticks_hz() / 500000), address_bits() & 0xff,
                  address_bits() >> 8 & 0xff);
}
