/* What /proc/cpuinfo and /sys tell of a processor, with Linux's names. */
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

/* ---- Caches ---------------------------------------------------------------------------------- */

#define LEAF_CACHES     4 /* Intel's */
#define LEAF_AMD_CACHES 0x8000001d
#define LEAF_AMD_L1     0x80000005
#define LEAF_AMD_L2_L3  0x80000006
#define LEAF_AMD_SIZES  0x80000008
#define AMD_TOPOEXT     BIT(22) /* of 0x80000001, ECX: LEAF_AMD_CACHES */
#define AMD_FULLY       0xf
#define SIGNATURE_AMD   0x444d4163 /* the end of "AuthenticAMD" */
#define SIGNATURE_HYGON 0x656e6975 /* ... of "HygonGenuine" */

static bool has_leaf(uint32_t leaf)
{
    return cpuid(leaf & 0x80000000, 0).eax >= leaf;
}

/* Returns how many low bits number `count` things. */
static unsigned bits_of(uint32_t count)
{
    unsigned bits = 0;

    while (bits < 31 && (1u << bits) < count)
        bits++;
    return bits;
}

/* A leaf that describes a cache in each of its parts (SDM vol. 2A, CPUID, leaf 4). */
static bool cache_of_leaf(uint32_t leaf, unsigned index, struct arch_cache *out)
{
    static const enum arch_cache_kind kinds[] = {ARCH_CACHE_DATA, ARCH_CACHE_CODE, ARCH_CACHE_BOTH};
    struct x86_cpuid r = cpuid(leaf, index);
    uint32_t type = r.eax & 0x1f, ways = (r.ebx >> 22) + 1, line = (r.ebx & 0xfff) + 1;
    uint32_t partitions = (r.ebx >> 12 & 0x3ff) + 1;

    if (type < 1 || type > ARRAY_SIZE(kinds))
        return false;
    *out = (struct arch_cache){.level = r.eax >> 5 & 7,
                               .kind = kinds[type - 1],
                               .bytes = ways * line * partitions * (r.ecx + 1),
                               .ways = ways,
                               .line = line,
                               .id_bits = bits_of((r.eax >> 14 & 0xfff) + 1)};
    return true;
}

/* AMD's older processors, which have no threads (APM vol. 3, E.4.4 and E.4.5). */
static bool cache_of_amd(unsigned index, struct arch_cache *out)
{
    static const uint8_t ways[] = {
        [1] = 1,   [2] = 2,   [4] = 4,   [6] = 8,    [8] = 16,       [10] = 32,
        [11] = 48, [12] = 64, [13] = 96, [14] = 128, [AMD_FULLY] = 0};
    struct x86_cpuid l1 = cpuid(LEAF_AMD_L1, 0), outer = cpuid(LEAF_AMD_L2_L3, 0);
    uint32_t cores = has_leaf(LEAF_AMD_SIZES) ? cpuid(LEAF_AMD_SIZES, 0).ecx : 0;
    const struct arch_cache caches[] = {
        {1, ARCH_CACHE_DATA, (l1.ecx >> 24) * KIB, l1.ecx >> 16 & 0xff, l1.ecx & 0xff, 0},
        {1, ARCH_CACHE_CODE, (l1.edx >> 24) * KIB, l1.edx >> 16 & 0xff, l1.edx & 0xff, 0},
        {2, ARCH_CACHE_BOTH, (outer.ecx >> 16) * KIB, ways[outer.ecx >> 12 & 15], outer.ecx & 0xff,
         0},
        {3, ARCH_CACHE_BOTH, (outer.edx >> 18) * 512 * KIB, ways[outer.edx >> 12 & 15],
         outer.edx & 0xff, bits_of((cores & 0xff) + 1)},
    };

    if (index >= ARRAY_SIZE(caches) || !caches[index].bytes || !caches[index].line)
        return false;
    *out = caches[index];
    return true;
}

bool arch_cache(unsigned index, struct arch_cache *out)
{
    bool amd = cpuid(0, 0).ecx == SIGNATURE_AMD || cpuid(0, 0).ecx == SIGNATURE_HYGON;

    if (!amd)
        return has_leaf(LEAF_CACHES) && cache_of_leaf(LEAF_CACHES, index, out);
    if (has_leaf(LEAF_AMD_CACHES) && cpuid(0x80000001, 0).ecx & AMD_TOPOEXT)
        return cache_of_leaf(LEAF_AMD_CACHES, index, out);
    return has_leaf(LEAF_AMD_L2_L3) && cache_of_amd(index, out);
}
