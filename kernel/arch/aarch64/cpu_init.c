/* Initialises the system registers of a CPU (Arm ARM DDI 0487, D17) that boot.S has not set. */
#include "cpu_init.h"
#include "sysreg.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/memory.h"

/* Fields of ID_AA64MMFR0_EL1, ID_AA64MMFR1_EL1, ID_AA64ISAR0_EL1, ID_AA64DFR0_EL1. */
#define MMFR0_PARANGE 0
#define MMFR1_PAN     20
#define ISAR0_ATOMIC  20
#define DFR0_PMUVER   8
#define PMUVER_NONE   15
#define DFR0_PMSVER   32

/* Emergency stacks are in slots as other stacks are, because entry.S checks their addresses,
 * too. */
#define EMERGENCY_SIZE     8192
#define EMERGENCY_PER_SLOT (KSTACK_SLOT / EMERGENCY_SIZE - 1)
#define EMERGENCY_SLOTS    ((CPU_MAX + EMERGENCY_PER_SLOT - 1) / EMERGENCY_PER_SLOT)

/* entry.S relies on these. */
_Static_assert(offsetof(struct cpu, arch) == 0, "struct cpu starts with struct arch_cpu");
_Static_assert(offsetof(struct arch_cpu, emergency_top) == 0, "CPU_EMERGENCY_TOP");
_Static_assert(KSTACK_SLOT == 0x10000, "which bits of SP tell an overflow");

static uint8_t
    emergency[EMERGENCY_SLOTS][EMERGENCY_PER_SLOT + 1][EMERGENCY_SIZE] ALIGNED(KSTACK_SLOT);

extern char vectors[];

const char arch_name[] = "aarch64";
bool aarch64_pan;
/* Read by the compiler's out-of-line atomics (libgcc): whether the CPU has single instructions for
 * them (FEAT_LSE). */
bool __aarch64_have_lse_atomics;

/* Returns the number of physical address bits (ID_AA64MMFR0_EL1.PARange), at most 48: the limit of
 * the 4 KB granule without FEAT_LPA2. */
static unsigned physical_bits(void)
{
    static const uint8_t bits[] = {32, 36, 40, 42, 44, 48};
    unsigned range = id_field(sysreg_read(id_aa64mmfr0_el1), MMFR0_PARANGE);

    return bits[MIN(range, (unsigned)TCR_IPS_MAX)];
}

static void find_features(void)
{
    pte_format.physical_bits = physical_bits();
    aarch64_pan = id_field(sysreg_read(id_aa64mmfr1_el1), MMFR1_PAN);
    __aarch64_have_lse_atomics = id_field(sysreg_read(id_aa64isar0_el1), ISAR0_ATOMIC);
}

/* If the buffer belongs to a higher level, other accesses trap (PMBIDR_EL1, D19.7). */
bool cpu_has_spe(void)
{
    return id_field(sysreg_read(id_aa64dfr0_el1), DFR0_PMSVER) &&
           !(sysreg_read(PMBIDR_EL1) & PMBIDR_P);
}

/* Switches profiling off. Most registers have no defined value after a reset: afterwards nothing is
 * sampled or written, and no interrupt is pending. */
static void spe_off(void)
{
    sysreg_write(PMSCR_EL1, 0);
    sysreg_write(PMBLIMITR_EL1, 0);
    isb(); /* off before the status is cleared */
    sysreg_write(PMBSR_EL1, 0);
}

static uint64_t sctlr(void)
{
    return SCTLR_MMU | (aarch64_pan ? 0 : SCTLR_SPAN);
}

void cpu_init(struct cpu *cpu)
{
    unsigned pmuver = id_field(sysreg_read(id_aa64dfr0_el1), DFR0_PMUVER);

    if (cpu == &cpus[0])
        find_features();
    cpu->arch.emergency_top =
        (uint64_t)emergency[cpu->index / EMERGENCY_PER_SLOT][1 + cpu->index % EMERGENCY_PER_SLOT] +
        EMERGENCY_SIZE;
    sysreg_write(tpidr_el1, cpu);
    sysreg_write(vbar_el1, vectors);
    sysreg_write(cpacr_el1, CPACR_FPEN);
    sysreg_write(mdscr_el1, MDSCR_TDCC);
    sysreg_write(tpidr_el0, 0);
    sysreg_write(tpidrro_el0, 0);
    if (pmuver && pmuver != PMUVER_NONE) {
        sysreg_write(pmuserenr_el0, 0);
        /* may be on: left by firmware, or undefined after reset */
        sysreg_write(pmintenclr_el1, UINT32_MAX);
    }
    if (cpu_has_spe())
        spe_off();
    sysreg_write(sctlr_el1, sctlr());
    isb(); /* from here on exceptions enter the kernel's vectors and set PAN */
    arch_user_access_end();
    __asm__ volatile("msr daifclr, #5" : : : "memory"); /* unmasks system errors and FIQs */
}

/* start.c has done this, so that its own exceptions are readable. */
void arch_init_early(UNUSED struct cpu *boot_cpu)
{
}
