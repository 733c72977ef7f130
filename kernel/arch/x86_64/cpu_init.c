/*
 * Initialises descriptor tables, control and model-specific registers of a CPU (SDM vol. 3A,
 * chapters 2, 3, 5.8.8, 6.14). All CPUs share the interrupt descriptor table; each has its own GDT
 * and TSS.
 */
#include "cpu_init.h"
#include "fpu.h"
#include "x86.h"
#include "cpu_segment.h"
#include "kernel/core/cpu.h"
#include "kernel/arch/memory.h"

#define VECTORS     256
#define STUB_SIZE   16
#define GATE_RING0  0x8e
#define GATE_RING3  0xee
#define SYSCALL_OFF (RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_NT | RFLAGS_AC)

struct x86_features x86_features;
bool x86_smap HOT;

/* entry.S relies on these offsets. */
_Static_assert(offsetof(struct cpu, arch) == 0, "struct cpu starts with struct arch_cpu");
_Static_assert(offsetof(struct arch_cpu, self) == 0, "%gs:0");
_Static_assert(offsetof(struct arch_cpu, kernel_stack) == 8, "%gs:8");
_Static_assert(offsetof(struct arch_cpu, user_sp) == 16, "%gs:16");

struct gate {
    uint16_t offset_low, selector;
    uint8_t ist, type;
    uint16_t offset_middle;
    uint32_t offset_high, reserved;
} PACKED;

struct table_pointer {
    uint16_t limit;
    uint64_t base;
} PACKED;

static struct gate idt[VECTORS];
extern char vector_stubs[], syscall_entry[];

static unsigned ist_of(unsigned vector)
{
    switch (vector) {
    case VEC_NMI:
        return IST_NMI;
    case VEC_DF:
        return IST_DOUBLE_FAULT;
    case VEC_MC:
        return IST_MACHINE_CHECK;
    case VEC_DB:
        return IST_DEBUG;
    default:
        return 0;
    }
}

/* Fills the shared table. Every CPU writes the same values, so all may do it. */
static void fill_idt(void)
{
    for (unsigned v = 0; v < VECTORS; v++) {
        vaddr_t at = (vaddr_t)vector_stubs + v * STUB_SIZE;
        idt[v] = (struct gate){
            .offset_low = (uint16_t)at,
            .offset_middle = (uint16_t)(at >> 16),
            .offset_high = (uint32_t)(at >> 32),
            .selector = SEL_KERNEL_CODE,
            .ist = (uint8_t)ist_of(v),
            .type = v == VEC_BP || v == VEC_OF ? GATE_RING3 : GATE_RING0,
        };
    }
}

static void fill_gdt(struct arch_cpu *cpu)
{
    uint64_t tss = (uint64_t)&cpu->tss;

    cpu->gdt[SEL_KERNEL_CODE / 8] = 0x00af9b000000ffff;
    cpu->gdt[SEL_KERNEL_DATA / 8] = 0x00cf93000000ffff;
    /* On AMD processors SYSCALL from 32-bit code goes to CSTAR, with the user's stack: no 32-bit
     * segment exists. */
    cpu->gdt[SEL_USER_BASE / 8] = 0;
    cpu->gdt[SEL_USER_DATA / 8] = 0x00cff3000000ffff;
    cpu->gdt[SEL_USER_CODE / 8] = 0x00affb000000ffff;
    cpu->gdt[SEL_TSS / 8] = (sizeof(cpu->tss) - 1) | (tss & 0xffffff) << 16 | (uint64_t)0x89 << 40 |
                            (tss >> 24 & 0xff) << 56;
    cpu->gdt[SEL_TSS / 8 + 1] = tss >> 32;
}

/* A present data segment of user mode, in bytes, whose limit is the number. */
void cpu_label(struct cpu *cpu)
{
    uint64_t number = cpu->index | (uint64_t)cpu->place.node << CPU_NUMBER_BITS;

    cpu->arch.gdt[SEL_CPU_NUMBER / 8] =
        (number & 0xffff) | (number >> 16 & 0xf) << 48 | (uint64_t)0xf5 << 40;
    if (x86_features.rdtscp)
        wrmsr(MSR_TSC_AUX, number);
}

static void load_segments(struct arch_cpu *cpu)
{
    struct table_pointer gdtr = {sizeof(cpu->gdt) - 1, (uint64_t)cpu->gdt};
    struct table_pointer idtr = {sizeof(idt) - 1, (uint64_t)idt};

    __asm__ volatile("lgdt %0\n\t"
                     "lidt %1\n\t"
                     "pushq %2\n\t"
                     "leaq 1f(%%rip), %%rax\n\t"
                     "pushq %%rax\n\t"
                     "lretq\n"
                     "1:\tmovl %3, %%ds\n\t"
                     "movl %3, %%es\n\t"
                     "movl %3, %%ss\n\t"
                     "movl %4, %%fs\n\t"
                     "movl %4, %%gs\n\t"
                     "lldt %w4\n\t" /* INIT leaves one at address 0 (SDM vol. 3A, table 9-1) */
                     "ltr %w5"
                     :
                     : "m"(gdtr), "m"(idtr), "i"(SEL_KERNEL_CODE), "r"(SEL_KERNEL_DATA), "r"(0),
                       "r"(SEL_TSS)
                     : "rax", "memory");
}

void cpu_load_tables(struct cpu *cpu, const vaddr_t tops[IST_COUNT])
{
    struct arch_cpu *arch = &cpu->arch;

    arch->self = cpu;
    for (unsigned i = 0; i < IST_COUNT; i++) {
        /* entry.S finds the CPU here when GS cannot be trusted. */
        struct cpu **owner = (struct cpu **)(tops[i] - 16);
        *owner = cpu;
        arch->tss.ist[i] = (uint64_t)owner;
    }
    arch->tss.iomap = sizeof(arch->tss);
    fill_idt();
    fill_gdt(arch);
    cpu_label(cpu);
    load_segments(arch);
    wrmsr(MSR_GS_BASE, (uint64_t)cpu);
    wrmsr(MSR_KERNEL_GS, 0);
    wrmsr(MSR_FS_BASE, 0);
}

/* Reads the Linear/Physical Address Size leaf (SDM vol. 2A, CPUID). */
static unsigned physical_bits(uint32_t max_extended)
{
    enum { WITHOUT_LEAF = 36, PAGE_TABLES = 52 };
    unsigned bits = max_extended >= 0x80000008 ? cpuid(0x80000008, 0).eax & 0xff : WITHOUT_LEAF;

    return MIN(bits, (unsigned)PAGE_TABLES);
}

void cpu_features_find(void)
{
    struct x86_features *f = &x86_features;

    f->max_leaf = cpuid(0, 0).eax;
    struct x86_cpuid one = cpuid(1, 0);
    f->x2apic = one.ecx & BIT(21);
    f->tsc_deadline = one.ecx & BIT(24);
    f->xsave = one.ecx & BIT(26);
    f->avx = f->xsave && (one.ecx & BIT(28));
    f->hypervisor = one.ecx & BIT(31);
    if (f->max_leaf >= 7) {
        struct x86_cpuid seven = cpuid(7, 0);
        f->fsgsbase = seven.ebx & BIT(0);
        f->tsc_adjust = seven.ebx & BIT(1);
        f->smep = seven.ebx & BIT(7);
        f->smap = seven.ebx & BIT(20);
        f->umip = seven.ecx & BIT(2);
    }
    f->max_extended = cpuid(0x80000000, 0).eax;
    f->pdpe1gb = f->max_extended >= 0x80000001 && (cpuid(0x80000001, 0).edx & BIT(26));
    f->rdtscp = f->max_extended >= 0x80000001 && (cpuid(0x80000001, 0).edx & BIT(27));
    pte_format.level[1].leaf = f->pdpe1gb;
    pte_format.physical_bits = physical_bits(f->max_extended);
    f->tsc_invariant = f->max_extended >= 0x80000007 && (cpuid(0x80000007, 0).edx & BIT(8));
}

void cpu_load_control(void)
{
    const struct x86_features *f = &x86_features;
    uint64_t cr4 = CR4_PAE | CR4_PGE | CR4_MCE | CR4_OSFXSR | CR4_OSXMMEXCPT;

    wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE | EFER_NXE);
    wrmsr(MSR_STAR, (uint64_t)SEL_KERNEL_CODE << 32 | (uint64_t)(SEL_USER_BASE | 3) << 48);
    wrmsr(MSR_LSTAR, (uint64_t)syscall_entry);
    wrmsr(MSR_SFMASK, SYSCALL_OFF);
    write_cr0((read_cr0() | CR0_MP | CR0_NE | CR0_WP | CR0_AM) &
              ~(CR0_EM | CR0_TS | CR0_NW | CR0_CD));
    cr4 |= (f->smep ? CR4_SMEP : 0) | (f->smap ? CR4_SMAP : 0) | (f->umip ? CR4_UMIP : 0);
    cr4 |= (f->fsgsbase ? CR4_FSGSBASE : 0) | (f->xsave ? CR4_OSXSAVE : 0);
    wrmsr(MSR_PAT, PAT_KERNEL); /* no mapping so far uses the entry that changes */
    write_cr4(cr4);
    x86_smap = f->smap;
    fpu_init();
}

static uint8_t boot_ist[IST_COUNT][IST_STACK_SIZE] ALIGNED(16);

/* Gives the boot CPU its tables and stacks before anything can go wrong. */
void arch_init_early(struct cpu *boot_cpu)
{
    vaddr_t tops[IST_COUNT];

    for (unsigned i = 0; i < IST_COUNT; i++)
        tops[i] = (vaddr_t)boot_ist[i] + IST_STACK_SIZE;
    cpu_features_find();
    cpu_load_tables(boot_cpu, tops);
    cpu_load_control();
}
