/*
 * Connecting message interrupts. Configuration space is an array of registers that keep only their
 * writable bits, the MSI-X table is a page of memory, and the interrupt controller is a double that
 * records requests.
 */
#include "test/host/double/expect_panic.h"
#include "kernel/arch/arch.h"
#include "kernel/dev/pci/pci_msi.h"

#define MSI     0x50
#define MSIX    0x70
#define BAR     0x40000000
#define ADDRESS UINT64_C(0x1234fee01000)

static uint32_t config[64], keeps[64];
static uint8_t table[PAGE_SIZE];
static bool bar_there;
static int alloc_error, move_error;
static struct arch_msi message;
static struct {
    unsigned allocated, freed, moved, enabled, torn;
    uint32_t requester;
} asked;

bool host_irqs_on;
struct cpu *host_cpu;
uint64_t host_ticks;
struct cpu {
    int unused;
};
static struct cpu here, there;
static const struct pci_device device = {.bus = 3, .slot = 17, .function = 2};

uint32_t pci_read(const struct pci_device *d, unsigned reg)
{
    assert_memory_equal(d, &device, sizeof(device));
    assert_true(reg % 4 == 0 && reg < sizeof(config));
    return config[reg / 4];
}

void pci_write(const struct pci_device *d, unsigned reg, uint32_t v)
{
    pci_read(d, reg);
    /* An address that changes while messages are enabled would be torn. */
    if (reg > MSI && reg < MSI + 16 && (config[MSI / 4] & 1 << 16))
        asked.torn++;
    config[reg / 4] = (config[reg / 4] & ~keeps[reg / 4]) | (v & keeps[reg / 4]);
}

int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size)
{
    (void)d;
    *base = BAR;
    *size = sizeof(table);
    return bar_there && n == 3 ? 0 : -ENOENT;
}

void pci_enable(const struct pci_device *d, bool master)
{
    (void)d;
    asked.enabled += master;
}

void *arch_map_device(paddr_t pa, uint64_t size)
{
    assert_true(pa >= BAR && pa + size <= BAR + sizeof(table));
    return table + (pa - BAR);
}

void host_io_read(const volatile void *reg)
{
    (void)reg;
}

void host_io_written(volatile void *reg)
{
    size_t at = (size_t)((volatile uint8_t *)reg - table), entry = at - at % 16;

    if (at % 16 != 12 && !(table[entry + 12] & 1))
        asked.torn++;
}

int arch_msi_alloc(uint32_t requester, struct cpu *target, void (*handler)(void *arg), void *arg,
                   unsigned *id)
{
    (void)handler, (void)arg;
    assert_ptr_equal(target, &here);
    asked.requester = requester;
    asked.allocated += !alloc_error;
    *id = 42;
    return alloc_error;
}

void arch_msi_message(unsigned id, struct arch_msi *out)
{
    assert_int_equal(id, 42);
    *out = message;
}

int arch_msi_move(unsigned id, struct cpu *target)
{
    assert_int_equal(id, 42);
    assert_ptr_equal(target, &there);
    asked.moved++;
    message.data++;
    return move_error;
}

void arch_msi_free(unsigned id)
{
    assert_int_equal(id, 42);
    asked.freed++;
}

/* Makes a function with capabilities at 0x40: another one, then MSI and MSI-X of 5 entries in BAR 3
 * if wanted. */
static void make_function(bool msi, bool wide, bool msix)
{
    memset(config, 0, sizeof(config));
    memset(keeps, 0, sizeof(keeps));
    memset(table, 0xff, sizeof(table));
    memset(&asked, 0, sizeof(asked));
    config[1] = 1 << 20 | 0x2;
    keeps[1] = 0xffff;
    config[0x34 / 4] = 0x40;
    config[0x40 / 4] = 0x01 | (msi ? MSI : msix ? MSIX : 0) << 8;
    if (msi) {
        config[MSI / 4] = 0x05 | (msix ? MSIX : 0) << 8 | (wide ? 1 << 23 : 0) | 5 << 20 | 3 << 17;
        keeps[MSI / 4] = 0x71u << 16;
        for (unsigned i = 1; i < 5; i++)
            keeps[MSI / 4 + i] = UINT32_MAX;
    }
    if (msix) {
        config[MSIX / 4] = 0x11 | 1 << 30 | 4 << 16;
        keeps[MSIX / 4] = 0xc000u << 16;
        config[MSIX / 4 + 1] = 0x800 | 3;
    }
    bar_there = true;
    alloc_error = move_error = 0;
    message = (struct arch_msi){ADDRESS, 0x31};
}

static int connect(unsigned n, struct pci_msi *m)
{
    return pci_msi_connect(&device, n, &here, NULL, NULL, m);
}

static uint32_t entry_word(unsigned n, unsigned at)
{
    uint32_t v;

    memcpy(&v, table + 0x800 + 16 * n + at, sizeof(v));
    return v;
}

static void msi_x_is_taken_where_both_are_there(void **state)
{
    struct pci_msi m;

    (void)state;
    make_function(true, true, true);
    config[MSI / 4] |= 1 << 16; /* firmware has left it enabled */
    memset(table, 0, sizeof(table));
    memset(table + 0x80c, 1, 1);
    assert_int_equal(connect(4, &m), 0);
    assert_int_equal(asked.requester, 3 << 8 | 17 << 3 | 2);
    assert_int_equal(entry_word(4, 0), (uint32_t)ADDRESS);
    assert_int_equal(entry_word(4, 4), ADDRESS >> 32);
    assert_int_equal(entry_word(4, 8), 0x31);
    assert_int_equal(entry_word(4, 12), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(entry_word(i, 12), 1);
    assert_int_equal(entry_word(5, 12), 0);      /* behind the table */
    assert_int_equal(config[MSIX / 4] >> 30, 2); /* enabled, nothing masked */
    assert_false(config[MSI / 4] & 1 << 16);
    assert_int_equal(asked.enabled, 1);
    assert_true(config[1] & 0x400);
    assert_int_equal(pci_msi_move(&m, &there), 0);
    assert_int_equal(entry_word(4, 8), 0x32);
    assert_int_equal(entry_word(4, 12), 0);
    pci_msi_disconnect(&m);
    assert_int_equal(entry_word(4, 12), 1);
    assert_int_equal(asked.freed, 1);
    assert_int_equal(asked.torn, 0);
}

static void a_second_entry_leaves_the_first_alone(void **state)
{
    struct pci_msi first, second;

    (void)state;
    make_function(false, false, true);
    assert_int_equal(connect(1, &first), 0);
    assert_int_equal(connect(2, &second), 0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(entry_word(i, 12), i != 1 && i != 2);
    pci_msi_disconnect(&first);
    assert_int_equal(entry_word(1, 12), 1);
    assert_int_equal(entry_word(2, 12), 0);
    assert_int_equal(asked.torn, 0);
}

static void an_msi_that_is_masked_is_let_through(void **state)
{
    struct pci_msi m;

    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        make_function(true, wide, false);
        message.address = 0xfee00000;
        config[MSI / 4] |= 1 << 24;
        for (unsigned i = 3; i < 5; i++)
            config[MSI / 4 + i] = 0xf;
        assert_int_equal(connect(0, &m), 0);
        assert_int_equal(config[MSI / 4 + 3 + wide], 0xe);
        assert_int_equal(config[MSI / 4 + 4 - wide], wide ? 0x31 : 0xf);
    }
}

static void msi_is_enabled_for_one_message(void **state)
{
    struct pci_msi m;

    (void)state;
    make_function(true, true, false);
    assert_int_equal(connect(0, &m), 0);
    assert_int_equal(config[MSI / 4 + 1], (uint32_t)ADDRESS);
    assert_int_equal(config[MSI / 4 + 2], ADDRESS >> 32);
    assert_int_equal(config[MSI / 4 + 3], 0x31);
    assert_int_equal(config[MSI / 4] >> 16 & 0x71, 1);
    assert_int_equal(pci_msi_move(&m, &there), 0);
    assert_int_equal(config[MSI / 4 + 3], 0x32);
    assert_int_equal(config[MSI / 4] >> 16 & 0x71, 1);
    pci_msi_disconnect(&m);
    assert_int_equal(config[MSI / 4] >> 16 & 1, 0);
    assert_int_equal(asked.freed, 1);
    assert_int_equal(asked.torn, 0);
}

static void a_function_that_cannot_reach_the_address_is_refused(void **state)
{
    struct pci_msi m;

    (void)state;
    make_function(true, false, false);
    assert_int_equal(connect(0, &m), -ERANGE);
    assert_int_equal(asked.allocated, asked.freed);
    assert_false(config[MSI / 4] & 1 << 16);
    message.address = 0xfee00000;
    assert_int_equal(connect(0, &m), 0);
    assert_int_equal(config[MSI / 4 + 1], 0xfee00000);
    assert_int_equal(config[MSI / 4 + 2], 0x31);
    message.data = 0x10000;
    assert_int_equal(connect(0, &m), -ERANGE);
}

static void what_is_not_there_is_refused_and_nothing_is_allocated(void **state)
{
    struct pci_msi m;

    (void)state;
    make_function(false, false, false);
    assert_int_equal(connect(0, &m), -ENODEV);
    make_function(true, true, false);
    assert_int_equal(connect(1, &m), -EINVAL);
    make_function(false, false, true);
    assert_int_equal(connect(5, &m), -EINVAL);
    bar_there = false;
    assert_int_equal(connect(0, &m), -ENODEV);
    bar_there = true;
    config[MSIX / 4 + 1] = 0xff0 << 0 | 3; /* its last entries would be beyond the BAR */
    assert_int_equal(connect(4, &m), -ENODEV);
    make_function(true, true, true);
    config[1] &= ~(1u << 20);
    assert_int_equal(connect(0, &m), -ENODEV);
    assert_int_equal(asked.allocated, 0);
    make_function(true, true, true);
    alloc_error = -ENOSPC;
    assert_int_equal(connect(0, &m), -ENOSPC);
    assert_int_equal(asked.enabled, 0);
}

static void a_list_that_goes_round_ends(void **state)
{
    struct pci_msi m;

    (void)state;
    make_function(false, false, false);
    config[0x40 / 4] = 0x01 | 0x40 << 8;
    assert_int_equal(connect(0, &m), -ENODEV);
    config[0x34 / 4] = 0x10; /* not a valid place for a capability */
    config[0x10 / 4] = 0x05;
    assert_int_equal(connect(0, &m), -ENODEV);
}

static void a_move_that_fails_changes_nothing(void **state)
{
    struct pci_msi m;

    (void)state;
    make_function(true, true, false);
    assert_int_equal(connect(0, &m), 0);
    move_error = -ERANGE;
    assert_int_equal(pci_msi_move(&m, &there), -ERANGE);
    assert_int_equal(config[MSI / 4 + 3], 0x31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(msi_x_is_taken_where_both_are_there),
        cmocka_unit_test(a_second_entry_leaves_the_first_alone),
        cmocka_unit_test(an_msi_that_is_masked_is_let_through),
        cmocka_unit_test(msi_is_enabled_for_one_message),
        cmocka_unit_test(a_function_that_cannot_reach_the_address_is_refused),
        cmocka_unit_test(what_is_not_there_is_refused_and_nothing_is_allocated),
        cmocka_unit_test(a_list_that_goes_round_ends),
        cmocka_unit_test(a_move_that_fails_changes_nothing),
    };

    return cmocka_run_group_tests_name("pci_msi", tests, NULL, NULL);
}
