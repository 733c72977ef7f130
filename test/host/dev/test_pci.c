/* BARs without an address get one in the host bridge's windows. Configuration space is the test's
 * memory, in which BARs keep only the bits that they implement. */
#include "test/host/double/expect_panic.h"
#include <stdarg.h>
#include "kernel/firmware/acpi.h"
#include "kernel/dev/pci/pci.h"
#include "kernel/arch/arch.h"

#define VENDOR      0x1234
#define SLOTS       4
#define FUNCTION    4096
#define REG_COMMAND 0x04
#define REG_BAR(n)  (0x10 + 4 * (n))
#define LOW_BASE    0x10000000 /* as the CPU sees it */
#define LOW_BUS     0x20000000
#define LOW_SIZE    0x00100000
#define HIGH        0x8000000000
#define WIDE        0x4
#define IO          0x1

static uint8_t bus[SLOTS * 8 * FUNCTION];
/* Of each BAR: the bits that can be written, and constant bits. */
static uint32_t keeps[SLOTS][6], flags[SLOTS][6];
static struct pci_host host;
static unsigned answered_while_probed, complaints;

bool host_irqs_on;
struct cpu *host_cpu;
uint64_t host_ticks;

static uint32_t *reg_at(unsigned slot, unsigned reg)
{
    return (uint32_t *)(bus + slot * 8 * FUNCTION + reg);
}

void host_io_read(const volatile void *reg)
{
    (void)reg;
}

void host_io_written(volatile void *reg)
{
    size_t at = (size_t)((volatile uint8_t *)reg - bus);
    unsigned slot = (unsigned)(at / (8 * FUNCTION)), offset = at % (8 * FUNCTION);

    if (offset < REG_BAR(0) || offset >= REG_BAR(6))
        return;
    unsigned n = (offset - REG_BAR(0)) / 4;
    answered_while_probed += *reg_at(slot, REG_COMMAND) & 2;
    *reg_at(slot, offset) = (*reg_at(slot, offset) & keeps[slot][n]) | flags[slot][n];
}

void *arch_map_device(paddr_t pa, uint64_t size)
{
    assert_int_equal(pa, host.ecam.base);
    assert_int_equal(size, sizeof(bus));
    return bus;
}

int arch_pci_host(const struct boot_info *info, struct pci_host *out)
{
    (void)info;
    *out = host;
    return 0;
}

int arch_pci_read(unsigned b, unsigned slot, unsigned function, unsigned reg, uint32_t *v)
{
    (void)b, (void)slot, (void)function, (void)reg, (void)v;
    return -ENODEV;
}

int arch_pci_write(unsigned b, unsigned slot, unsigned function, unsigned reg, uint32_t v)
{
    (void)b, (void)slot, (void)function, (void)reg, (void)v;
    return -ENODEV;
}

int acpi_table_get(const char signature[4], struct acpi_table *out)
{
    (void)signature, (void)out;
    return -ENOENT;
}

void kprintf(const char *fmt, ...)
{
    (void)fmt;
    complaints++;
}

/* Adds a BAR of the given size to a function; a wide one also takes the next register. */
static void add_bar(unsigned slot, unsigned n, uint64_t size, uint32_t kind, uint64_t assigned)
{
    uint64_t mask = ~(size - 1);

    *reg_at(slot, 0) = (uint32_t)(slot + 1) << 16 | VENDOR;
    keeps[slot][n] = (uint32_t)mask;
    flags[slot][n] = kind;
    *reg_at(slot, REG_BAR(n)) = (uint32_t)assigned | kind;
    if (kind != WIDE)
        return;
    keeps[slot][n + 1] = (uint32_t)(mask >> 32);
    *reg_at(slot, REG_BAR(n + 1)) = (uint32_t)(assigned >> 32);
}

static int empty_bus(void **state)
{
    (void)state;
    memset(bus, 0xff, sizeof(bus));
    for (unsigned slot = 0; slot < SLOTS; slot++)
        memset(reg_at(slot, REG_COMMAND), 0, 0x3c);
    memset(keeps, 0, sizeof(keeps));
    memset(flags, 0, sizeof(flags));
    answered_while_probed = complaints = 0;
    host = (struct pci_host){
        .ecam = {0x4000000000, sizeof(bus)},
        .window_count = 2,
        .window = {{LOW_BASE, LOW_BUS, LOW_SIZE}, {HIGH, HIGH, HIGH}},
    };
    return 0;
}

static paddr_t place_of(unsigned slot, unsigned n)
{
    struct pci_device d;
    paddr_t base;
    uint64_t size;

    assert_int_equal(pci_find(VENDOR, (uint16_t)(slot + 1), 0, &d), 0);
    return pci_bar(&d, n, &base, &size) ? 0 : base;
}

static void a_32_bit_bar_gets_a_low_place_which_the_cpu_finds_in_the_window(void **state)
{
    (void)state;
    add_bar(0, 0, 0x1000, 0, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(*reg_at(0, REG_BAR(0)), LOW_BUS);
    assert_int_equal(place_of(0, 0), LOW_BASE);
}

static void a_64_bit_bar_gets_a_high_place(void **state)
{
    (void)state;
    add_bar(0, 2, 0x100000, WIDE, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 2), HIGH);
}

static void a_64_bit_bar_makes_do_with_a_low_place(void **state)
{
    (void)state;
    host.window_count = 1;
    add_bar(0, 2, 0x10000, WIDE, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 2), LOW_BASE);
}

static void places_are_aligned_to_their_size_and_do_not_overlap(void **state)
{
    (void)state;
    add_bar(0, 0, 0x1000, 0, 0);
    add_bar(1, 0, 0x40000, 0, 0);
    add_bar(1, 1, 0x2000, 0, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 0), LOW_BASE);
    assert_int_equal(place_of(1, 0), LOW_BASE + 0x40000);
    assert_int_equal(place_of(1, 1), LOW_BASE + 0x80000);
}

static void bars_smaller_than_a_page_share_none(void **state)
{
    (void)state;
    add_bar(0, 0, 0x100, 0, 0);
    add_bar(0, 1, 0x100, 0, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 1) - place_of(0, 0), PAGE_SIZE);
}

static void what_firmware_assigned_stays_and_nothing_is_put_there(void **state)
{
    (void)state;
    add_bar(0, 0, 0x1000, 0, 0);
    add_bar(1, 0, 0x4000, 0, LOW_BUS);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(1, 0), LOW_BASE);
    assert_int_equal(place_of(0, 0), LOW_BASE + 0x4000);
}

static void a_bar_without_room_stays_without_a_place_and_is_named(void **state)
{
    (void)state;
    add_bar(0, 0, 2 * LOW_SIZE, 0, 0);
    add_bar(1, 0, 0x1000, 0, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 0), 0);
    assert_int_equal(complaints, 1);
    assert_int_equal(place_of(1, 0), LOW_BASE);
}

static void a_32_bit_bar_is_never_given_a_high_place(void **state)
{
    (void)state;
    host.window[0] = host.window[1];
    host.window_count = 1;
    add_bar(0, 0, 0x1000, 0, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 0), 0);
}

static void io_bars_are_left_alone(void **state)
{
    (void)state;
    add_bar(0, 0, 0x20, IO, 0);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(*reg_at(0, REG_BAR(0)), IO);
    assert_int_equal(complaints, 0);
}

static void bars_are_left_alone_where_no_window_is_known(void **state)
{
    (void)state;
    host.window_count = 0;
    add_bar(0, 0, 0x1000, 0, 0);
    add_bar(1, 0, 0x1000, 0, 0x30000000);
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 0), 0);
    assert_int_equal(place_of(1, 0), 0x30000000);
}

static void a_device_does_not_answer_while_its_bar_is_probed(void **state)
{
    (void)state;
    add_bar(0, 0, 0x1000, 0, LOW_BUS);
    *reg_at(0, REG_COMMAND) = 0x6;
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(place_of(0, 0), LOW_BASE);
    assert_int_equal(answered_while_probed, 0);
    assert_int_equal(*reg_at(0, REG_COMMAND), 0x6);
}

static void a_size_that_is_no_power_of_two_is_no_bar(void **state)
{
    (void)state;
    add_bar(0, 0, 0x1000, 0, 0);
    keeps[0][0] = 0xfffd0000;
    assert_int_equal(pci_init(NULL), 0);
    assert_int_equal(*reg_at(0, REG_BAR(0)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_32_bit_bar_gets_a_low_place_which_the_cpu_finds_in_the_window,
                               empty_bus),
        cmocka_unit_test_setup(a_64_bit_bar_gets_a_high_place, empty_bus),
        cmocka_unit_test_setup(a_64_bit_bar_makes_do_with_a_low_place, empty_bus),
        cmocka_unit_test_setup(places_are_aligned_to_their_size_and_do_not_overlap, empty_bus),
        cmocka_unit_test_setup(bars_smaller_than_a_page_share_none, empty_bus),
        cmocka_unit_test_setup(what_firmware_assigned_stays_and_nothing_is_put_there, empty_bus),
        cmocka_unit_test_setup(a_bar_without_room_stays_without_a_place_and_is_named, empty_bus),
        cmocka_unit_test_setup(a_32_bit_bar_is_never_given_a_high_place, empty_bus),
        cmocka_unit_test_setup(io_bars_are_left_alone, empty_bus),
        cmocka_unit_test_setup(bars_are_left_alone_where_no_window_is_known, empty_bus),
        cmocka_unit_test_setup(a_device_does_not_answer_while_its_bar_is_probed, empty_bus),
        cmocka_unit_test_setup(a_size_that_is_no_power_of_two_is_no_bar, empty_bus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
