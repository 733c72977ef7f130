/* Caches: stored code, and what the CPU tells of them. */
#include "cache.h"
#include "sysreg.h"
#include "kernel/arch/arch.h"

/*
 * Makes stored code visible to instruction fetches, which bypass the data caches (DDI 0487,
 * B2.7.4.2): cleans the data caches to the point where both meet, then invalidates the instruction
 * caches completely, because they may hold the frame under user mode's address.
 */
void arch_code_written(const void *frame)
{
    for (uintptr_t at = (uintptr_t)frame; at < (uintptr_t)frame + PAGE_SIZE; at += CACHE_LINE_MIN)
        __asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
    /* The first DSB: no fetch misses before the clean has completed. The second: complete on all
     * CPUs before this returns; ERET discards fetched instructions. */
    __asm__ volatile("dsb ish\n\tic ialluis\n\tdsb ish" : : : "memory");
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

#define CLIDR_LEVELS 7
#define MMFR2_CCIDX  20 /* field of ID_AA64MMFR2_EL1: CCSIDR_EL1 has wider fields */

/* CLIDR_EL1.Ctype. */
enum cache_type { TYPE_NONE, TYPE_CODE, TYPE_DATA, TYPE_SEPARATE, TYPE_UNIFIED };

/* Reads the geometry of a cache (DDI 0487, D17.2.25 and D17.2.26). */
static uint64_t read_geometry(unsigned level, bool code)
{
    bool irqs = arch_irq_save();

    sysreg_write(csselr_el1, (level - 1) << 1 | code);
    isb();
    uint64_t geometry = sysreg_read(ccsidr_el1);
    arch_irq_restore(irqs);
    return geometry;
}

/* Which CPUs share a cache is not told: each has its own, as Linux has it. */
static void describe_cache(unsigned level, enum arch_cache_kind kind, struct arch_cache *out)
{
    uint64_t g = read_geometry(level, kind == ARCH_CACHE_CODE);
    bool wide = id_field(sysreg_read(id_aa64mmfr2_el1), MMFR2_CCIDX);
    uint32_t ways = (uint32_t)(g >> 3 & (wide ? 0x1fffff : 0x3ff)) + 1;
    uint32_t sets = (uint32_t)(wide ? g >> 32 & 0xffffff : g >> 13 & 0x7fff) + 1;
    uint32_t line = 16u << (g & 7);

    *out = (struct arch_cache){level, kind, ways * sets * line, ways, line, 0};
}

bool arch_cache(unsigned index, struct arch_cache *out)
{
    uint64_t types = sysreg_read(clidr_el1);

    for (unsigned level = 1; level <= CLIDR_LEVELS; level++) {
        enum cache_type type = types >> 3 * (level - 1) & 7;
        unsigned here = type == TYPE_SEPARATE ? 2 : type >= TYPE_CODE && type <= TYPE_UNIFIED;
        if (type == TYPE_NONE || type > TYPE_UNIFIED)
            return false;
        if (index < here) {
            bool code = type == TYPE_CODE || index == 1;
            describe_cache(level,
                           code                   ? ARCH_CACHE_CODE
                           : type == TYPE_UNIFIED ? ARCH_CACHE_BOTH
                                                  : ARCH_CACHE_DATA,
                           out);
            return true;
        }
        index -= here;
    }
    return false;
}
