/*
 * The test guest on x86-64: QEMU's q35.
 */
#include "test/machine/guest/guest.h"

#define COM1        0x3f8
#define DEBUG_EXIT  0xf4
#define PIC1_MASK   0x21
#define PIC2_MASK   0xa1
#define PCI_ADDRESS 0xcf8
#define PCI_DATA    0xcfc
#define START_PAGE  0x8000

#define MSR_APIC_BASE     0x1b
#define X2APIC_ID         0x802
#define X2APIC_EOI        0x80b
#define X2APIC_SPURIOUS   0x80f
#define X2APIC_ICR        0x830
#define X2APIC_TIMER      0x832
#define X2APIC_COUNT      0x838
#define X2APIC_DIVIDE     0x83e
#define ICR_INIT          0x4500
#define ICR_STARTUP       0x4600
#define TIMER_DIVIDE_BY_1 0xb
#define GUEST_VECTOR      0x40
#define WAKE_VECTOR       0x41

const uint32_t pci_bar_place = 0xe0000000; /* free in q35: below ECAM and the firmware's windows */
uint32_t secondary_stack;                  /* physical: for the CPU that is being started */

static struct {
    uint16_t low, segment, flags, middle;
    uint32_t high, reserved;
} idt[256];

extern char isr_interrupt[], isr_fault[], isr_empty[];

/* ---- Registers ------------------------------------------------------------------------------- */

static void outb(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static void outl(uint16_t port, uint32_t value)
{
    __asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}

static uint32_t inl(uint16_t port)
{
    uint32_t value;
    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static void wrmsr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
}

static uint64_t rdmsr(uint32_t msr)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (uint64_t)high << 32 | low;
}

/* ---- Console, end ---------------------------------------------------------------------------- */

void console_put(char c)
{
    outb(COM1, (uint8_t)c);
}

/* The code becomes QEMU's status as in kernel/arch/x86_64/power.c. */
void power_off(unsigned code)
{
    outl(DEBUG_EXIT, (code + 0x10) & 0x7f);
    for (;;)
        __asm__ volatile("cli; hlt");
}

void guest_fault(void)
{
    panic("an exception that must not happen");
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

unsigned this_cpu(void)
{
    return (unsigned)rdmsr(X2APIC_ID);
}

void interrupt_done(void)
{
    wrmsr(X2APIC_EOI, 0);
}

static void gate(unsigned vector, char *entry)
{
    uint64_t at = (uint64_t)entry;
    idt[vector].low = (uint16_t)at;
    idt[vector].segment = 8;
    idt[vector].flags = 0x8e00;
    idt[vector].middle = (uint16_t)(at >> 16);
    idt[vector].high = (uint32_t)(at >> 32);
}

void platform_init(void)
{
    for (unsigned v = 0; v < 256; v++)
        gate(v, isr_fault);
    gate(GUEST_VECTOR, isr_interrupt);
    gate(0x80, isr_empty);
    gate(WAKE_VECTOR, isr_interrupt);
    gate(0xff, isr_empty); /* spurious */
    outb(PIC1_MASK, 0xff);
    outb(PIC2_MASK, 0xff);
}

void platform_init_cpu(void)
{
    struct {
        uint16_t limit;
        uint64_t base;
    } PACKED pointer = {sizeof(idt) - 1, (uint64_t)idt};

    __asm__ volatile("lidt %0" ::"m"(pointer));
    wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | 0xc00);
    wrmsr(X2APIC_SPURIOUS, 0x1ff);
    wrmsr(X2APIC_DIVIDE, TIMER_DIVIDE_BY_1);
    wrmsr(X2APIC_TIMER, GUEST_VECTOR);
    __asm__ volatile("sti");
}

void timer_in(uint64_t cycles)
{
    wrmsr(X2APIC_COUNT, cycles);
}

void message(volatile struct machine_cpu *r)
{
    r->irq_data = GUEST_VECTOR;
    r->irq_address = 0xfee00000 | this_cpu() << 12;
}

void path_message(volatile struct machine_path *r)
{
    r->irq_data = GUEST_VECTOR;
    r->irq_address = 0xfee00000 | this_cpu() << 12;
}

void wake(unsigned cpu)
{
    wrmsr(X2APIC_ICR, (uint64_t)cpu << 32 | WAKE_VECTOR);
}

void platform_start(unsigned cpu, void *stack_top)
{
    secondary_stack = (uint32_t)((uint64_t)stack_top - 0xffffffff80000000);
    wrmsr(X2APIC_ICR, (uint64_t)cpu << 32 | ICR_INIT);
    wrmsr(X2APIC_ICR, (uint64_t)cpu << 32 | ICR_STARTUP | START_PAGE >> 12);
}

/* ---- PCI ------------------------------------------------------------------------------------- */

uint32_t pci_read(unsigned device, unsigned offset)
{
    outl(PCI_ADDRESS, 0x80000000 | device << 11 | offset);
    return inl(PCI_DATA);
}

void pci_write(unsigned device, unsigned offset, uint32_t value)
{
    outl(PCI_ADDRESS, 0x80000000 | device << 11 | offset);
    outl(PCI_DATA, value);
}
