/*
 * The local APIC: identity, end of interrupt, commands to other CPUs, timer (SDM vol. 3A, chapter
 * 10). Uses x2APIC if the processor has it, else memory-mapped registers.
 */
#include "lapic.h"
#include "x86.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"

#define APIC_BASE_ENABLE BIT(11)
#define APIC_BASE_X2APIC BIT(10)
#define APIC_BASE_MASK   0x000ffffffffff000

enum {
    REG_ID = 0x20,
    REG_VERSION = 0x30,
    REG_TPR = 0x80,
    REG_EOI = 0xb0,
    REG_SVR = 0xf0,
    REG_ESR = 0x280,
    REG_ICR = 0x300,
    REG_ICR_HIGH = 0x310,
    REG_LVT_TIMER = 0x320,
    REG_LVT_THERMAL = 0x330,
    REG_LVT_PMC = 0x340,
    REG_LVT_LINT0 = 0x350,
    REG_LVT_LINT1 = 0x360,
    REG_LVT_ERROR = 0x370,
    REG_TIMER_INITIAL = 0x380,
    REG_TIMER_CURRENT = 0x390,
    REG_TIMER_DIVIDE = 0x3e0,
    REG_EXTENDED_FEATURES = 0x400, /* AMD: this and the next (APM vol. 2, 16.3) */
    REG_EXTENDED_LVT = 0x500,
};

#define SVR_ENABLE       BIT(8)
#define LVT_MASKED       BIT(16)
#define LVT_NMI          (4u << 8)
#define LVT_TSC_DEADLINE (2u << 17)
#define DIVIDE_BY_1      0xb

#define HAS_EXTENDED(version) ((version)&BIT(31))
#define EXTENDED_LVTS(v)      ((v) >> 16 & 0xff)

#define ICR_FIXED   (0u << 8)
#define ICR_NMI     (4u << 8)
#define ICR_INIT    (5u << 8)
#define ICR_STARTUP (6u << 8)
#define ICR_ASSERT  BIT(14)
#define ICR_PENDING BIT(12)

#define ALL_XAPIC  UINT8_MAX
#define ALL_X2APIC UINT32_MAX

#define SPINS_MAX 1000000

static volatile uint32_t *registers HOT; /* NULL: x2APIC */

static uint32_t reg_read(unsigned reg)
{
    return registers ? registers[reg / 4] : (uint32_t)rdmsr(MSR_X2APIC_BASE + (reg >> 4));
}

static void reg_write(unsigned reg, uint32_t v)
{
    if (registers)
        registers[reg / 4] = v;
    else
        wrmsr(MSR_X2APIC_BASE + (reg >> 4), v);
}

int lapic_init(void)
{
    uint64_t base = rdmsr(MSR_APIC_BASE);

    if (!(cpuid(1, 0).edx & BIT(9))) {
        kprintf("irq: this processor has no local APIC\n");
        return -ENODEV;
    }
    if (x86_features.x2apic)
        return 0;
    registers = arch_map_device(base & APIC_BASE_MASK, PAGE_SIZE);
    if (!registers) {
        kprintf("irq: the local APIC cannot be mapped\n");
        return -ENODEV;
    }
    return 0;
}

void lapic_init_cpu(void)
{
    uint64_t base = rdmsr(MSR_APIC_BASE);

    /* x2APIC mode can only be entered from the enabled xAPIC (SDM vol. 3A, 10.12.5). */
    wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
    if (!registers)
        wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE | APIC_BASE_X2APIC);
    reg_write(REG_TPR, 0);
    reg_write(REG_SVR, SVR_ENABLE | VEC_SPURIOUS);
    reg_write(REG_LVT_TIMER, LVT_MASKED | VEC_TIMER);
    reg_write(REG_LVT_PMC, VEC_PMU);
    reg_write(REG_LVT_LINT0, LVT_MASKED);
    reg_write(REG_LVT_LINT1, LVT_NMI);
    reg_write(REG_ESR, 0);
    reg_write(REG_LVT_ERROR, VEC_ERROR);
    reg_write(REG_TIMER_DIVIDE, DIVIDE_BY_1);
    reg_write(REG_EOI, 0);
}

const char *lapic_mode(void)
{
    return registers ? "xAPIC" : "x2APIC";
}

uint32_t lapic_id(void)
{
    uint32_t id = reg_read(REG_ID);

    return registers ? id >> 24 : id;
}

bool lapic_reaches(uint64_t apic_id)
{
    return apic_id < (registers ? ALL_XAPIC : ALL_X2APIC);
}

HOT_CODE void lapic_eoi(void)
{
    reg_write(REG_EOI, 0);
}

void lapic_error(void)
{
    reg_write(REG_ESR, 0);
    kprintf("irq: local APIC %u reports error %#x\n", lapic_id(), reg_read(REG_ESR));
}

void lapic_pmu_unmask(void)
{
    reg_write(REG_LVT_PMC, VEC_PMU);
}

bool lapic_route_extended(unsigned n)
{
    if (!HAS_EXTENDED(reg_read(REG_VERSION)) || n >= EXTENDED_LVTS(reg_read(REG_EXTENDED_FEATURES)))
        return false;
    reg_write(REG_EXTENDED_LVT + 0x10 * n, VEC_PMU);
    return true;
}

static void send_ipi(uint32_t apic_id, uint32_t command)
{
    if (!registers) {
        /* Writes to x2APIC registers do not wait for earlier stores (SDM vol. 3A, 10.12.3). */
        __asm__ volatile("mfence; lfence" : : : "memory");
        wrmsr(MSR_X2APIC_BASE + (REG_ICR >> 4), (uint64_t)apic_id << 32 | command);
        return;
    }
    for (unsigned spins = 0; (reg_read(REG_ICR) & ICR_PENDING) && spins < SPINS_MAX; spins++)
        arch_cpu_relax();
    reg_write(REG_ICR_HIGH, apic_id << 24);
    reg_write(REG_ICR, command);
}

void lapic_send(uint32_t apic_id, uint8_t vector)
{
    send_ipi(apic_id, ICR_FIXED | ICR_ASSERT | vector);
}

void lapic_send_nmi(uint32_t apic_id)
{
    send_ipi(apic_id, ICR_NMI | ICR_ASSERT);
}

void lapic_send_init(uint32_t apic_id)
{
    send_ipi(apic_id, ICR_INIT | ICR_ASSERT);
}

void lapic_send_startup(uint32_t apic_id, uint8_t page)
{
    send_ipi(apic_id, ICR_STARTUP | ICR_ASSERT | page);
}

void lapic_timer_start(uint32_t count)
{
    reg_write(REG_TIMER_INITIAL, count);
}

uint32_t lapic_timer_left(void)
{
    return reg_read(REG_TIMER_CURRENT);
}

void lapic_timer_mode(bool tsc_deadline)
{
    reg_write(REG_LVT_TIMER, VEC_TIMER | (tsc_deadline ? LVT_TSC_DEADLINE : 0));
    if (tsc_deadline)
        /* Before the first deadline (SDM vol. 3A, 10.5.4.1). */
        __asm__ volatile("mfence" : : : "memory");
}
