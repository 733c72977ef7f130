/*
 * The test guest's CPUs, console and counters.
 */
#include "test/machine/guest/guest.h"

volatile struct machine_id *id;
struct interrupts interrupts[GUEST_CPUS];

static uint8_t stacks[GUEST_CPUS][16384] ALIGNED(128);
static volatile unsigned running;
static struct {
    void (*volatile f)(void *);
    void *arg;
} ALIGNED(128) work[GUEST_CPUS];

/* ---- Console --------------------------------------------------------------------------------- */

void print(const char *text)
{
    for (; *text; text++)
        console_put(*text);
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

void panic(const char *fmt, ...)
{
    print("Bail out! ");
    print(fmt);
    print("\n");
    power_off(99);
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

volatile struct machine_cpu *regs(void)
{
    return (volatile struct machine_cpu *)((uint64_t)id + MACHINE_CPU_OFFSET +
                                           this_cpu() * PAGE_SIZE);
}

void guest_interrupt(void)
{
    uint64_t now = ticks();
    unsigned cpu = this_cpu();

    interrupts[cpu].time = now;
    interrupts[cpu].count++;
    interrupt_done();
}

NORETURN static void work_loop(void)
{
    unsigned cpu = this_cpu();

    for (;;) {
        while (!work[cpu].f)
            halt_unless(&work[cpu].f);
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
        platform_start(cpu, stacks[cpu + 1]);
        while (running == cpu)
            cpu_pause();
    }
}

/* ---- The register pages ---------------------------------------------------------------------- */

#define PCI_COMMAND        4
#define PCI_COMMAND_MEMORY 2
#define PCI_COMMAND_MASTER 4
#define PCI_BAR(n)         (0x10 + 4 * (n))

static void find_registers(void)
{
    for (unsigned device = 0; device < 32; device++) {
        if (pci_read(device, 0) != (MACHINE_PCI_DEVICE << 16 | MACHINE_PCI_VENDOR))
            continue;
        pci_write(device, PCI_BAR(MACHINE_PCI_BAR), pci_bar_place);
        pci_write(device, PCI_BAR(MACHINE_PCI_BAR + 1), 0);
        pci_write(device, PCI_COMMAND,
                  pci_read(device, PCI_COMMAND) | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
        id = (volatile struct machine_id *)(uint64_t)pci_bar_place;
        if (id->magic != MACHINE_MAGIC || id->version != MACHINE_VERSION)
            panic("the device is not the machine's");
        return;
    }
    panic("there is no machine device");
}

/* ---- Counting -------------------------------------------------------------------------------- */

int command(enum machine_command c)
{
    volatile struct machine_cpu *r = regs();
    r->command = c;
    return r->result;
}

/* Assigns counters to events: the first assignment that the masks allow. Returns whether there is
 * one. */
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

/* ---- Tests ----------------------------------------------------------------------------------- */

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

void guest_main(void)
{
    static bool first_is_here;
    bool first = !first_is_here;

    first_is_here = true;
    if (first)
        platform_init();
    platform_init_cpu();
    running++;
    if (!first)
        work_loop();
    find_registers();
    start_others();
    tests();
    for (void (*const *test)(void) = platform_tests; *test; test++)
        (*test)();
    print("1..");
    print_number(checks);
    print("\n");
    power_off(failures ? 1 : 0);
}
