/*
 * The test guest on AArch64: QEMU's "virt" with a GICv3, by its memory map (hw/arm/virt.c), which
 * has never changed. GIC: Arm IHI 0069, chapter 12.
 */
#include "test/machine/guest/guest.h"

#define UART 0x09000000ull
#define ECAM 0x4010000000ull

#define GICD              0x08000000ull
#define GICD_CTLR         (GICD + 0x0)
#define GICD_CTLR_ENABLE  0x12 /* affinity routing, group 1 */
#define GICR(cpu)         (0x080a0000ull + (cpu)*0x20000ull)
#define GICR_WAKER        0x14
#define GICR_WAKER_SLEEP  (1u << 1)
#define GICR_WAKER_ASLEEP (1u << 2)
#define GICR_IGROUPR0     0x10080
#define GICR_ISENABLER0   0x10100
#define GICR_ISPENDR0     0x10200
#define CPUS_OF_AFF0      16 /* CPUs under one value of affinity 1 in "virt" with a GICv3 */

#define WAKE_SGI        1
#define MONITOR_PPI     23
#define TIMER_PPI       27
#define NO_INTERRUPT    1020 /* this number and above */
#define WAITS_FOR_TIMER 1    /* CNTV_CTL_EL0.ENABLE */

#define PSCI_CPU_ON      0xc4000003ull
#define SEMIHOSTING_EXIT 0x18
#define APPLICATION_EXIT 0x20026 /* ADP_Stopped_ApplicationExit */

#define MSR(name, value) \
    __asm__ volatile("msr " name ", %0\n isb" ::"r"((uint64_t)(value)) : "memory")

const uint32_t pci_bar_place = 0x10000000; /* in the window of 32-bit addresses */

static void write32(uint64_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

static uint32_t read32(uint64_t address)
{
    return *(volatile uint32_t *)address;
}

/* ---- Console, end ---------------------------------------------------------------------------- */

void console_put(char c)
{
    write32(UART, (uint8_t)c);
}

/* Powers off by semihosting. The code becomes QEMU's status as on x86-64, (code + 16) * 2 + 1. */
void power_off(unsigned code)
{
    const uint64_t block[2] = {APPLICATION_EXIT, ((code + 0x10) & 0x7f) * 2 + 1};
    register uint64_t operation __asm__("x0") = SEMIHOSTING_EXIT;
    register const uint64_t *arguments __asm__("x1") = block;

    __asm__ volatile("hlt #0xf000" : "+r"(operation) : "r"(arguments) : "memory");
    for (;;)
        halt();
}

void guest_fault(uint64_t syndrome, uint64_t at, uint64_t address)
{
    const uint64_t values[] = {syndrome, at, address};
    const char *const names[] = {"# ESR ", " ELR ", " FAR "};

    for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
        print(names[i]);
        print_number(values[i]);
    }
    print("\n");
    panic("an exception that must not happen");
}

/* ---- CPUs, interrupts ------------------------------------------------------------------------ */

unsigned this_cpu(void)
{
    uint64_t mpidr;
    __asm__("mrs %0, mpidr_el1" : "=r"(mpidr));
    return (unsigned)((mpidr >> 8 & 0xff) * CPUS_OF_AFF0 + (mpidr & 0xff));
}

void platform_start(unsigned cpu, void *stack_top)
{
    extern char enable[];
    register uint64_t function __asm__("x0") = PSCI_CPU_ON;
    register uint64_t target __asm__("x1") = (cpu / CPUS_OF_AFF0) << 8 | cpu % CPUS_OF_AFF0;
    register uint64_t entry __asm__("x2") = (uint64_t)enable - 0xffffffff40000000;
    register void *context __asm__("x3") = stack_top;

    __asm__ volatile("hvc #0" : "+r"(function) : "r"(target), "r"(entry), "r"(context) : "memory");
    if (function)
        panic("a CPU does not start");
}

void platform_init(void)
{
    write32(GICD_CTLR, GICD_CTLR_ENABLE);
}

void platform_init_cpu(void)
{
    uint64_t gicr = GICR(this_cpu());

    write32(gicr + GICR_WAKER, read32(gicr + GICR_WAKER) & ~GICR_WAKER_SLEEP);
    while (read32(gicr + GICR_WAKER) & GICR_WAKER_ASLEEP)
        ;
    write32(gicr + GICR_IGROUPR0, UINT32_MAX);
    write32(gicr + GICR_ISENABLER0, 1u << WAKE_SGI | 1u << MONITOR_PPI | 1u << TIMER_PPI);
    MSR("s3_0_c12_c12_5", 1);  /* ICC_SRE_EL1: system registers */
    MSR("s3_0_c4_c6_0", 0xff); /* ICC_PMR_EL1: every priority */
    MSR("s3_0_c12_c12_7", 1);  /* ICC_IGRPEN1_EL1 */
    __asm__ volatile("msr daifclr, #2" ::: "memory");
}

void wake(unsigned cpu)
{
    /* ICC_SGI1R_EL1 */
    MSR("s3_0_c12_c11_5",
        (uint64_t)WAKE_SGI << 24 | (cpu / CPUS_OF_AFF0) << 16 | 1u << cpu % CPUS_OF_AFF0);
}

void timer_in(uint64_t cycles)
{
    MSR("cntv_tval_el0", cycles);
    MSR("cntv_ctl_el0", WAITS_FOR_TIMER);
}

void message(volatile struct machine_cpu *r)
{
    r->irq_data = 1u << MONITOR_PPI;
    r->irq_address = GICR(this_cpu()) + GICR_ISPENDR0;
}

void path_message(volatile struct machine_path *r)
{
    r->irq_data = 1u << MONITOR_PPI;
    r->irq_address = GICR(this_cpu()) + GICR_ISPENDR0;
}

void interrupt_done(void)
{
    uint64_t interrupt;

    __asm__ volatile("mrs %0, s3_0_c12_c12_0" : "=r"(interrupt)); /* ICC_IAR1_EL1 */
    if (interrupt >= NO_INTERRUPT)
        panic("an interrupt that no CPU sent");
    if (interrupt == TIMER_PPI)
        MSR("cntv_ctl_el0", 0);
    MSR("s3_0_c12_c12_1", interrupt); /* ICC_EOIR1_EL1 */
}

/* ---- PCI ------------------------------------------------------------------------------------- */

uint32_t pci_read(unsigned device, unsigned offset)
{
    return read32(ECAM + device * 0x8000 + offset);
}

void pci_write(unsigned device, unsigned offset, uint32_t value)
{
    write32(ECAM + device * 0x8000 + offset, value);
}
