/*
 * The test guest's CPUs, interrupts, console and counters.
 */
#include "test/machine/guest/guest.h"

#define COM1        0x3f8
#define DEBUG_EXIT  0xf4
#define PIC1_MASK   0x21
#define PIC2_MASK   0xa1
#define PCI_ADDRESS 0xcf8
#define PCI_DATA    0xcfc
#define START_PAGE  0x8000
#define BAR_PLACE   0xe0000000 /* free in QEMU's q35: below ECAM and the firmware's windows */

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
#define WAKE_VECTOR       0x41

volatile struct machine_id *id;
struct interrupts interrupts[GUEST_CPUS];
uint32_t secondary_stack; /* physical: of the CPU that is being started */

static uint8_t stacks[GUEST_CPUS][16384] ALIGNED(128);
static volatile unsigned running;
static struct {
    void (*volatile f)(void *);
    void *arg;
} ALIGNED(128) work[GUEST_CPUS];

static struct {
    uint16_t low, segment, flags, middle;
    uint32_t high, reserved;
} idt[256];

extern char isr_interrupt[], isr_fault[], isr_empty[];

/* ---- Registers -------------------------------------------------------------------------------------------- */

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
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static uint64_t rdmsr(uint32_t msr)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (uint64_t)high << 32 | low;
}

/* ---- Console ---------------------------------------------------------------------------------------------- */

void print(const char *text)
{
    for (; *text; text++)
        outb(COM1, (uint8_t)*text);
}

void print_number(uint64_t n)
{
    char text[21], *at = text + 20;

    *at = 0;
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    print(at);
}

/* The code becomes QEMU's status as in kernel/arch/x86_64/power.c. */
NORETURN static void power_off(unsigned code)
{
    outl(DEBUG_EXIT, (code + 0x10) & 0x7f);
    for (;;)
        __asm__ volatile("cli; hlt");
}

void panic(const char *fmt, ...)
{
    print("Bail out! ");
    print(fmt);
    print("\n");
    power_off(99);
}

void guest_fault(void)
{
    panic("an exception that must not happen");
}

/* ---- Interrupts ------------------------------------------------------------------------------------------- */

unsigned this_cpu(void)
{
    return (unsigned)rdmsr(X2APIC_ID);
}

volatile struct machine_cpu *regs(void)
{
    return (volatile struct machine_cpu *)((uint64_t)id + MACHINE_CPU_OFFSET + this_cpu() * PAGE_SIZE);
}

void guest_interrupt(void)
{
    uint64_t now = rdtsc();
    unsigned cpu = this_cpu();

    interrupts[cpu].tsc = now;
    interrupts[cpu].count++;
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

static void cpu_init(void)
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

/* ---- CPUs ------------------------------------------------------------------------------------------------- */

static void work_loop(void)
{
    unsigned cpu = this_cpu();

    for (;;) {
        while (!work[cpu].f)
            __asm__ volatile("cli; cmpq $0, %0; jne 1f; sti; hlt; 1: sti" ::"m"(work[cpu].f) : "memory");
        work[cpu].f(work[cpu].arg);
        work[cpu].f = NULL;
    }
}

void run_on(unsigned cpu, void (*f)(void *), void *arg)
{
    work[cpu].arg = arg;
    work[cpu].f = f;
    wake(cpu);
}

void wake(unsigned cpu)
{
    wrmsr(X2APIC_ICR, (uint64_t)cpu << 32 | WAKE_VECTOR);
}

void run_wait(unsigned cpu)
{
    while (work[cpu].f)
        cpu_pause();
}

unsigned guest_cpus(void)
{
    return running;
}

static void start_others(void)
{
    for (unsigned cpu = 1; cpu < id->cpus; cpu++) {
        secondary_stack = (uint32_t)((uint64_t)stacks[cpu + 1] - 0xffffffff80000000);
        wrmsr(X2APIC_ICR, (uint64_t)cpu << 32 | ICR_INIT);
        wrmsr(X2APIC_ICR, (uint64_t)cpu << 32 | ICR_STARTUP | START_PAGE >> 12);
        while (running == cpu)
            cpu_pause();
    }
}

/* ---- The register pages ----------------------------------------------------------------------------------- */

static uint32_t pci_read(uint32_t device, uint32_t offset)
{
    outl(PCI_ADDRESS, 0x80000000 | device << 11 | offset);
    return inl(PCI_DATA);
}

static void pci_write(uint32_t device, uint32_t offset, uint32_t value)
{
    outl(PCI_ADDRESS, 0x80000000 | device << 11 | offset);
    outl(PCI_DATA, value);
}

static void find_registers(void)
{
    for (uint32_t device = 0; device < 32; device++) {
        if (pci_read(device, 0) != (MACHINE_PCI_DEVICE << 16 | MACHINE_PCI_VENDOR))
            continue;
        pci_write(device, 0x18, BAR_PLACE);
        pci_write(device, 0x1c, 0);
        pci_write(device, 4, pci_read(device, 4) | 2);
        id = (volatile struct machine_id *)BAR_PLACE;
        if (id->magic != MACHINE_MAGIC || id->version != MACHINE_VERSION)
            panic("the device is not the machine's");
        return;
    }
    panic("there is no machine device");
}

/* ---- Counting --------------------------------------------------------------------------------------------- */

int command(enum machine_command c)
{
    volatile struct machine_cpu *r = regs();
    r->command = c;
    return r->result;
}

/* Which counter takes which event: the first assignment that respects the masks. */
static bool assign(const struct counting *c, unsigned k, unsigned used, unsigned *counter)
{
    if (k == 4 || c->event[k] == MACHINE_EVENT_NONE)
        return true;
    for (unsigned i = 0; i < 4; i++) {
        if (used >> i & 1 || !(id->counter_mask[c->event[k]] >> i & 1))
            continue;
        counter[k] = i;
        if (assign(c, k + 1, used | 1u << i, counter))
            return true;
    }
    return false;
}

void count_start(const struct counting *c, uint32_t mode)
{
    volatile struct machine_cpu *r = regs();
    unsigned counter[4];

    if (!assign(c, 0, 0, counter))
        panic("these events do not fit together");
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        r->counter[i].event = MACHINE_EVENT_NONE;
        r->counter[i].value = r->counter[i].left = r->counter[i].period = 0;
    }
    for (unsigned k = 0; k < 4 && c->event[k]; k++) {
        r->counter[counter[k]].event = c->event[k];
        r->counter[counter[k]].flags = mode;
    }
    r->counter[MACHINE_COUNTER_INSTRUCTIONS].event = MACHINE_EVENT_INSTRUCTIONS;
    r->counter[MACHINE_COUNTER_INSTRUCTIONS].flags = mode;
    r->counter[MACHINE_COUNTER_CYCLES].event = MACHINE_EVENT_CYCLES;
    r->counter[MACHINE_COUNTER_CYCLES].flags = mode;
    if (command(MACHINE_CMD_CONFIGURE) || command(MACHINE_CMD_WRITE))
        panic("the counters cannot be set");
    r->command = MACHINE_CMD_START;
}

void count_stop(struct counting *c)
{
    volatile struct machine_cpu *r = regs();
    unsigned counter[4];

    r->command = MACHINE_CMD_STOP;
    r->command = MACHINE_CMD_READ;
    assign(c, 0, 0, counter);
    for (unsigned k = 0; k < 4 && c->event[k]; k++)
        c->value[k] = r->counter[counter[k]].value;
    c->instructions = r->counter[MACHINE_COUNTER_INSTRUCTIONS].value;
    c->cycles = r->counter[MACHINE_COUNTER_CYCLES].value;
}

/* ---- Tests ------------------------------------------------------------------------------------------------ */

static unsigned checks, failures;

void check(const char *what, uint64_t value, uint64_t least, uint64_t most)
{
    bool good = value >= least && value <= most;

    print(good ? "ok " : "not ok ");
    print_number(++checks);
    print(" - ");
    print(what);
    print(" # ");
    print_number(value);
    if (!good) {
        failures++;
        print(" is not in ");
        print_number(least);
        print("..");
        print_number(most);
    }
    print("\n");
}

/* Every CPU comes here, the first one before the others. */
void guest_main(void)
{
    static bool first_is_here;
    bool first = !first_is_here;

    first_is_here = true;
    if (first) {
        for (unsigned v = 0; v < 256; v++)
            gate(v, isr_fault);
        gate(GUEST_VECTOR, isr_interrupt);
        gate(0x80, isr_empty);
        gate(WAKE_VECTOR, isr_interrupt);
        gate(0xff, isr_empty); /* spurious */
        outb(PIC1_MASK, 0xff);
        outb(PIC2_MASK, 0xff);
    }
    cpu_init();
    running++;
    if (!first)
        work_loop();
    find_registers();
    start_others();
    tests();
    print("1..");
    print_number(checks);
    print("\n");
    power_off(failures ? 1 : 0);
}
