/*
 * Decodes CPUID's three descriptions of a topology, newest first: the extended topology leaves (SDM
 * vol. 2A, CPUID leaves 1Fh and 0Bh), AMD's leaves 8000_0008h and 8000_001Eh (APM vol. 3, appendix
 * E), Intel's leaves 1 and 4 (SDM vol. 3A, 8.9).
 */
#include "topology.h"

#define VENDOR_AMD   0x68747541 /* "Auth" */
#define VENDOR_HYGON 0x6f677948 /* "Hygo" */
#define TYPE_SMT     1
#define SUBLEAVES    8
#define WIDTH_MAX    31u
#define LEAF1_HTT    ((uint32_t)1 << 28)

static struct cpuid_leaf find_leaf(const struct cpuid_leaf *leaves, size_t n, uint32_t leaf,
                                   uint32_t sub)
{
    for (size_t i = 0; i < n; i++) {
        if (leaves[i].leaf == leaf && leaves[i].sub == sub)
            return leaves[i];
    }
    return (struct cpuid_leaf){0};
}

/* Returns the number of bits for `count` different values. */
static unsigned width_of(uint32_t count)
{
    return count > 1 ? log2_floor(count - 1) + 1 : 0;
}

static bool decode_extended(const struct cpuid_leaf *leaves, size_t n, uint32_t leaf,
                            struct topology_bits *bits)
{
    *bits = (struct topology_bits){0};
    for (uint32_t sub = 0; sub < SUBLEAVES; sub++) {
        struct cpuid_leaf l = find_leaf(leaves, n, leaf, sub);
        unsigned type = l.ecx >> 8 & 0xff, shift = l.eax & 0x1f;
        if (!type || !(l.ebx & 0xffff))
            break;
        if (type == TYPE_SMT)
            bits->thread = shift;
        bits->chip = shift;
    }
    return bits->chip >= bits->thread && find_leaf(leaves, n, leaf, 0).ebx & 0xffff;
}

static struct topology_bits decode_amd(const struct cpuid_leaf *leaves, size_t n)
{
    struct cpuid_leaf sizes = find_leaf(leaves, n, 0x80000008, 0),
                      core = find_leaf(leaves, n, 0x8000001e, 0);
    unsigned id_size = sizes.ecx >> 12 & 0xf;

    return (struct topology_bits){
        .thread = width_of((core.ebx >> 8 & 0xff) + 1),
        .chip = id_size ? id_size : width_of((sizes.ecx & 0xff) + 1),
    };
}

static struct topology_bits decode_intel(const struct cpuid_leaf *leaves, size_t n)
{
    struct cpuid_leaf one = find_leaf(leaves, n, 1, 0), four = find_leaf(leaves, n, 4, 0);
    struct topology_bits bits = {0};

    if (!(one.edx & LEAF1_HTT))
        return bits;
    unsigned cores = width_of((four.eax >> 26) + 1);
    bits.chip = MAX(width_of(one.ebx >> 16 & 0xff), cores);
    bits.thread = bits.chip - cores;
    return bits;
}

struct topology_bits topology_decode(const struct cpuid_leaf *leaves, size_t n)
{
    uint32_t vendor = find_leaf(leaves, n, 0, 0).ebx;
    struct topology_bits bits;

    if (!decode_extended(leaves, n, 0x1f, &bits) && !decode_extended(leaves, n, 0x0b, &bits))
        bits = vendor == VENDOR_AMD || vendor == VENDOR_HYGON ? decode_amd(leaves, n)
                                                              : decode_intel(leaves, n);
    bits.chip = MIN(MAX(bits.chip, bits.thread), WIDTH_MAX);
    bits.thread = MIN(bits.thread, bits.chip);
    return bits;
}
