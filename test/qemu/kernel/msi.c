/*
 * Message interrupts: those that the kernel raises itself, and those of QEMU's devices "edu" (MSI;
 * docs/specs/edu.rst) and "e1000e" (MSI-X; Intel 82574 datasheet, 10.2.4), which send them on
 * request.
 */
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/dev/pci/pci_msi.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

#define REQUESTER 0x00f8 /* of no device */
#define WAIT_NS   (2 * NS_PER_S)
#define ROUNDS    400 /* an ITS's command queue wraps around more than once */

/* The record of a handler. */
struct seen {
    uint32_t times; /* atomic */
    unsigned cpu;   /* of the last interrupt */
};

static void note(void *arg)
{
    struct seen *seen = arg;

    CHECK(!arch_irq_enabled());
    seen->cpu = this_cpu()->index;
    __atomic_add_fetch(&seen->times, 1, __ATOMIC_RELEASE);
}

static void wait_for(const struct seen *seen, uint32_t times, bool more_may_come)
{
    uint64_t until_ns = arch_clock_ns() + WAIT_NS;

    while (__atomic_load_n(&seen->times, __ATOMIC_ACQUIRE) < times && arch_clock_ns() < until_ns)
        nap(NS_PER_MS);
    CHECK(seen->times == times || (more_may_come && seen->times > times));
}

static void a_message_arrives_on_the_cpu_it_was_allocated_for(void)
{
    cpu_for_each (cpu) {
        struct seen seen = {.cpu = CPU_MAX};
        unsigned id;
        int err = arch_msi_alloc(REQUESTER, cpu, note, &seen, &id);
        CHECK(!err);
        if (err)
            return;
        arch_msi_raise_for_test(id);
        wait_for(&seen, 1, false);
        CHECK(seen.cpu == cpu->index);
        arch_msi_free(id);
    }
}

static void a_message_follows_to_another_cpu(void)
{
    struct seen seen = {0};
    unsigned id;
    uint32_t times = 0;

    CHECK(!arch_msi_alloc(REQUESTER, &cpus[0], note, &seen, &id));
    for (unsigned round = 0; round < 3; round++) {
        cpu_for_each (cpu) {
            CHECK(!arch_msi_move(id, cpu));
            arch_msi_raise_for_test(id);
            wait_for(&seen, ++times, false);
            CHECK(seen.cpu == cpu->index);
        }
    }
    arch_msi_free(id);
}

static void messages_are_told_apart_and_can_run_out(void)
{
    static struct seen seen[ARCH_MSI_MAX + 1];
    static unsigned ids[ARCH_MSI_MAX + 1];
    unsigned n = 0;

    memset(seen, 0, sizeof(seen));
    /* A requester may have only 16, with some controllers. */
    while (n < ARRAY_SIZE(ids) &&
           !arch_msi_alloc(REQUESTER + n / 16, &cpus[n % cpu_count()], note, &seen[n], &ids[n]))
        n++;
    CHECK(n > 16 && n <= ARCH_MSI_MAX);
    CHECK(arch_msi_alloc(REQUESTER + 16, &cpus[0], note, &seen[n], &ids[n]) == -ENOSPC);
    for (unsigned i = 0; i < n; i++)
        arch_msi_raise_for_test(ids[i]);
    for (unsigned i = 0; i < n; i++) {
        wait_for(&seen[i], 1, false);
        CHECK(seen[i].cpu == i % cpu_count());
    }
    for (unsigned i = 0; i < n; i++)
        arch_msi_free(ids[i]);
    CHECK(!arch_msi_alloc(REQUESTER, &cpus[0], note, &seen[0], &ids[0]));
    arch_msi_free(ids[0]);
}

static void a_freed_message_is_silent(void)
{
    struct seen first = {0}, second = {0};
    unsigned id, other;

    CHECK(!arch_msi_alloc(REQUESTER, &cpus[0], note, &first, &id));
    arch_msi_free(id);
    CHECK(!arch_msi_alloc(REQUESTER, &cpus[0], note, &second, &other));
    arch_msi_raise_for_test(other);
    wait_for(&second, 1, false);
    CHECK(!first.times);
    arch_msi_free(other);
}

static void messages_come_and_go_many_times(void)
{
    struct seen seen = {0};
    unsigned id;

    for (uint32_t n = 1; n <= ROUNDS; n++) {
        struct cpu *cpu = &cpus[n % cpu_count()];
        int err = arch_msi_alloc(REQUESTER, cpu, note, &seen, &id);
        CHECK(!err);
        if (err)
            return;
        arch_msi_raise_for_test(id);
        wait_for(&seen, n, false);
        arch_msi_free(id);
        CHECK(seen.cpu == cpu->index);
        if (seen.times != n || seen.cpu != cpu->index)
            return;
    }
}

/* Maps the device's BAR 0; fails the test and returns NULL if there is none. */
static char *find_device(uint16_t vendor, uint16_t device, struct pci_device *d)
{
    paddr_t base;
    uint64_t size;
    bool there = !pci_find(vendor, device, 0, d) && !pci_bar(d, 0, &base, &size);

    CHECK(there);
    return there ? arch_map_device(base, size) : NULL;
}

/* A device that sends a message on request; some devices repeat it a little later. */
struct trigger {
    void (*send)(char *regs);
    void (*quiet)(char *regs);
    bool repeats;
};

static void settle(void)
{
    nap(5 * NS_PER_MS);
}

/* Connects the interrupt to each CPU in turn. */
static void each_cpu_hears(const struct pci_device *d, char *regs, const struct trigger *t)
{
    struct seen seen = {0};
    struct pci_msi msi;
    int err = pci_msi_connect(d, 0, &cpus[0], note, &seen, &msi);

    CHECK(!err);
    if (err)
        return;
    for (unsigned i = 0; i < 2 * cpu_count(); i++) {
        struct cpu *cpu = &cpus[i % cpu_count()];
        uint32_t before = seen.times;
        CHECK(!pci_msi_move(&msi, cpu));
        t->send(regs);
        wait_for(&seen, before + 1, t->repeats);
        CHECK(seen.cpu == cpu->index);
        t->quiet(regs);
        settle();
        CHECK(seen.times == before + 1 || t->repeats);
    }
    pci_msi_disconnect(&msi);
    uint32_t before = seen.times;
    t->send(regs);
    t->quiet(regs);
    settle();
    CHECK(seen.times == before);
}

enum { EDU_STATUS = 0x24, EDU_RAISE = 0x60, EDU_ACKNOWLEDGE = 0x64 };

static void edu_raise(char *regs)
{
    arch_io_write32(regs + EDU_RAISE, 0x5);
}

static void edu_acknowledge(char *regs)
{
    CHECK(arch_io_read32(regs + EDU_STATUS) == 0x5);
    arch_io_write32(regs + EDU_ACKNOWLEDGE, 0x5);
}

static void a_devices_msi_arrives_on_the_cpu_it_is_connected_to(void)
{
    static const struct trigger trigger = {edu_raise, edu_acknowledge, false};
    struct pci_device edu;
    char *regs = find_device(0x1234, 0x11e8, &edu);

    if (regs)
        each_cpu_hears(&edu, regs, &trigger);
}

/* The cause of receive queue 0 is routed to MSI-X entry 0; writing it to ICS acts as if a packet
 * had come. */
enum {
    E1000_ICR = 0xc0,
    E1000_ICS = 0xc8,
    E1000_IMS = 0xd0,
    E1000_IMC = 0xd8,

    E1000_IVAR = 0xe4
};
#define CAUSE_RXQ0    (1u << 20)
#define IVAR_RXQ0_TO0 0x8

static void e1000e_raise(char *regs)
{
    arch_io_write32(regs + E1000_IVAR, IVAR_RXQ0_TO0);
    arch_io_write32(regs + E1000_IMS, CAUSE_RXQ0);
    arch_io_write32(regs + E1000_ICS, CAUSE_RXQ0);
}

static void e1000e_acknowledge(char *regs)
{
    arch_io_write32(regs + E1000_IMC, UINT32_MAX);
    arch_io_write32(regs + E1000_ICR, UINT32_MAX);
}

static void a_devices_msi_x_arrives_on_the_cpu_it_is_connected_to(void)
{
    static const struct trigger trigger = {e1000e_raise, e1000e_acknowledge,
                                           true}; /* in QEMU, when its throttling ends */
    struct pci_device nic;
    char *regs = find_device(0x8086, 0x10d3, &nic);

    if (regs)
        each_cpu_hears(&nic, regs, &trigger);
}

static void interrupts_a_device_has_not_are_refused(void)
{
    struct pci_device edu, nic;
    struct seen seen = {0};
    struct pci_msi msi;

    CHECK(find_device(0x1234, 0x11e8, &edu) && find_device(0x8086, 0x10d3, &nic));
    CHECK(pci_msi_connect(&edu, 1, &cpus[0], note, &seen, &msi) == -EINVAL);
    CHECK(pci_msi_connect(&nic, 2048, &cpus[0], note, &seen, &msi) == -EINVAL);
}

/* Returns whether the CPU is refused; the message then stays where it was. */
static bool is_refused(struct cpu *cpu)
{
    struct seen seen = {0};
    unsigned id, there;
    int err = arch_msi_alloc(REQUESTER, cpu, note, &seen, &there);

    if (!err) {
        arch_msi_free(there);
        return false;
    }
    CHECK(err == -ERANGE);
    err = arch_msi_alloc(REQUESTER, &cpus[0], note, &seen, &id);
    CHECK(!err);
    if (err)
        return true;
    CHECK(arch_msi_move(id, cpu) == -ERANGE);
    arch_msi_raise_for_test(id);
    wait_for(&seen, 1, false);
    CHECK(seen.cpu == 0);
    arch_msi_free(id);
    return true;
}

static void a_cpu_out_of_reach_is_refused(void)
{
    unsigned refused = 0;

    cpu_for_each (cpu)
        refused += is_refused(cpu);
    if (refused)
        kprintf("# unreachable=%u: CPUs\n", refused);
    else
        suite_skip("messages reach all CPUs");
}

static const struct suite_test tests[] = {
    {"a message arrives on the CPU it was allocated for",
     a_message_arrives_on_the_cpu_it_was_allocated_for},
    {"a message follows to another CPU", a_message_follows_to_another_cpu},
    {"messages are told apart and can run out", messages_are_told_apart_and_can_run_out},
    {"a freed message is silent", a_freed_message_is_silent},
    {"messages come and go many times", messages_come_and_go_many_times},
    {"a device's MSI arrives on the CPU it is connected to",
     a_devices_msi_arrives_on_the_cpu_it_is_connected_to},
    {"a device's MSI-X arrives on the CPU it is connected to",
     a_devices_msi_x_arrives_on_the_cpu_it_is_connected_to},
    {"interrupts a device has not are refused", interrupts_a_device_has_not_are_refused},
    {"a CPU out of reach is refused", a_cpu_out_of_reach_is_refused},
    {0},
};

const struct suite msi_suite = {.name = "msi", .tests = tests};
