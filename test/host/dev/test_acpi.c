/* The ACPI parser on a small invented memory: valid tables are read, and each single error is
 * refused. */
#include "test/host/double/expect_panic.h"
#include "kernel/firmware/acpi.h"

#define MEMORY_BASE 0x7000
#define RSDP_AT     0x7010
#define RSDT_AT     0x7100
#define XSDT_AT     0x7200
#define MADT_AT     0x7300
#define MCFG_AT     0x7500
#define FADT_AT     0x7600
#define DSDT_AT     0x7800
#define HPET_AT     0x7900

static uint8_t memory[4096];

static const void *map(void *ctx, paddr_t pa, uint64_t size)
{
    (void)ctx;
    if (pa < MEMORY_BASE || pa - MEMORY_BASE > sizeof(memory) ||
        size > sizeof(memory) - (pa - MEMORY_BASE))
        return NULL;
    return memory + (pa - MEMORY_BASE);
}

static struct acpi_memory window = {.map = map, .end = (paddr_t)1 << 40};

static uint8_t *at(paddr_t pa)
{
    return memory + (pa - MEMORY_BASE);
}

static void put(paddr_t pa, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at(pa)[i] = (uint8_t)(v >> 8 * i);
}

static void seal(paddr_t pa, uint32_t size, uint32_t sum_at)
{
    uint8_t sum = 0;

    at(pa)[sum_at] = 0;
    for (uint32_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + at(pa)[i]);
    at(pa)[sum_at] = (uint8_t)-sum;
}

static void table(paddr_t pa, const char *signature, uint32_t size)
{
    memcpy(at(pa), signature, 4);
    put(pa + 4, size, 4);
    seal(pa, size, 9);
}

static void make_madt(void)
{
    static const uint8_t entries[] = {
        0, 8,  7, 0, 1, 0, 0, 0,                         /* local APIC 0, enabled */
        1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,             /* I/O APIC: no CPU */
        0, 8,  8, 3, 0, 0, 0, 0,                         /* local APIC 3, disabled */
        9, 16, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, /* x2APIC 256, enabled, uid 9 */
    };
    memcpy(at(MADT_AT + 44), entries, sizeof(entries));
    table(MADT_AT, "APIC", 44 + sizeof(entries));
}

static void make_roots(void)
{
    static const paddr_t tables[] = {MADT_AT, MCFG_AT, FADT_AT, HPET_AT};

    for (unsigned i = 0; i < ARRAY_SIZE(tables); i++) {
        put(RSDT_AT + 36 + 4 * i, tables[i], 4);
        put(XSDT_AT + 36 + 8 * i, tables[i], 8);
    }
    table(RSDT_AT, "RSDT", 36 + 4 * ARRAY_SIZE(tables));
    table(XSDT_AT, "XSDT", 36 + 8 * ARRAY_SIZE(tables));
    memcpy(at(RSDP_AT), "RSD PTR ", 8);
    at(RSDP_AT)[15] = 2;
    put(RSDP_AT + 16, RSDT_AT, 4);
    put(RSDP_AT + 20, 36, 4);
    put(RSDP_AT + 24, XSDT_AT, 8);
    seal(RSDP_AT, 20, 8);
    seal(RSDP_AT, 36, 32);
}

static int good_tables(void **state)
{
    (void)state;
    window.end = (paddr_t)1 << 40;
    memset(memory, 0, sizeof(memory));
    make_madt();
    put(MCFG_AT + 44, 0xb0000000, 8);
    put(MCFG_AT + 54, 0x20, 1);
    put(MCFG_AT + 55, 0x7f, 1);
    table(MCFG_AT, "MCFG", 60);
    put(FADT_AT + 40, DSDT_AT, 4);
    put(FADT_AT + 64, 0x604, 4);
    put(FADT_AT + 76, 0x608, 4);
    table(FADT_AT, "FACP", 116);
    memcpy(at(DSDT_AT + 40), "\x08_S5_\x12\x06\x04\x0a\x05\x00\x00", 12);
    table(DSDT_AT, "DSDT", 60);
    put(HPET_AT + 44, 0xfed00000, 8);
    table(HPET_AT, "HPET", 56);
    make_roots();
    return 0;
}

static struct acpi_table found(const char *signature)
{
    struct acpi_table t;

    assert_int_equal(acpi_find(&window, RSDP_AT, signature, &t), 0);
    return t;
}

static void expect_cpus_of_madt(void)
{
    static const struct acpi_cpu want[] = {{0, 7, true}, {3, 8, false}, {256, 9, true}};
    struct acpi_table madt = found("APIC");
    struct acpi_cpu cpu;
    uint32_t pos = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(want); i++) {
        assert_true(acpi_madt_next_cpu(&madt, &pos, &cpu));
        assert_int_equal(cpu.hwid, want[i].hwid);
        assert_int_equal(cpu.uid, want[i].uid);
        assert_int_equal(cpu.enabled, want[i].enabled);
    }
    assert_false(acpi_madt_next_cpu(&madt, &pos, &cpu));
}

static void the_madt_lists_cpus_of_either_kind(void **state)
{
    (void)state;
    expect_cpus_of_madt();
}

/* All 32 bits of an x2APIC id, and of ACPI's number of the CPU, are kept. */
static void x2apic_ids_are_of_32_bits(void **state)
{
    static const uint32_t ids[] = {0,     254,     255,        256,        257,
                                   0x1ff, 0x10000, 0x12345678, 0x80000000, 0xfffffffe};
    struct acpi_cpu cpu;
    uint32_t pos = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
        paddr_t entry = MADT_AT + 44 + 16 * i;
        put(entry, 9, 1);
        put(entry + 1, 16, 1);
        put(entry + 4, ids[i], 4);
        put(entry + 8, i % 2, 4);
        put(entry + 12, ~ids[i], 4);
    }
    table(MADT_AT, "APIC", 44 + 16 * ARRAY_SIZE(ids));
    struct acpi_table madt = found("APIC");
    for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
        assert_true(acpi_madt_next_cpu(&madt, &pos, &cpu));
        assert_int_equal(cpu.hwid, ids[i]);
        assert_int_equal(cpu.uid, ~ids[i]);
        assert_int_equal(cpu.enabled, i % 2);
    }
    assert_false(acpi_madt_next_cpu(&madt, &pos, &cpu));
    good_tables(state);
}

static void an_old_rsdp_leads_through_the_rsdt(void **state)
{
    (void)state;
    at(RSDP_AT)[15] = 0;
    put(RSDP_AT + 24, 0, 8);
    seal(RSDP_AT, 20, 8);
    expect_cpus_of_madt();
}

static void a_broken_extended_checksum_falls_back_to_the_rsdt(void **state)
{
    (void)state;
    at(RSDP_AT)[33]++;
    put(XSDT_AT, 0, 4);
    expect_cpus_of_madt();
}

static void the_mcfg_gives_buses_and_base(void **state)
{
    struct acpi_table mcfg = found("MCFG");
    struct acpi_ecam e;
    uint32_t pos = 0;

    (void)state;
    assert_true(acpi_mcfg_next(&mcfg, &pos, &e));
    assert_int_equal(e.base, 0xb0000000);
    assert_int_equal(e.first_bus, 0x20);
    assert_int_equal(e.last_bus, 0x7f);
    assert_false(acpi_mcfg_next(&mcfg, &pos, &e));
}

static void timers_and_power_off_are_found(void **state)
{
    struct acpi_table fadt = found("FACP"), dsdt = found("DSDT"), hpet = found("HPET");
    uint16_t port, value;
    paddr_t base;

    (void)state;
    assert_int_equal(acpi_pm_timer(&fadt, &port), 0);
    assert_int_equal(port, 0x608);
    assert_int_equal(acpi_hpet(&hpet, &base), 0);
    assert_int_equal(base, 0xfed00000);
    assert_int_equal(acpi_soft_off(&fadt, &dsdt, &port, &value), 0);
    assert_int_equal(port, 0x604);
    assert_int_equal(value, 5 << 10 | 1 << 13);
}

static void tables_and_their_makers_have_names(void **state)
{
    static const char *const want[] = {"APIC", "MCFG", "FACP", "HPET"};
    struct acpi_name name;

    memcpy(at(MCFG_AT + 10), "MAKER\x01TABLE   ", 14);
    seal(MCFG_AT, 60, 9);
    for (unsigned i = 0; i < ARRAY_SIZE(want); i++) {
        assert_int_equal(acpi_name(&window, RSDP_AT, i, &name), 0);
        assert_string_equal(name.signature, want[i]);
        assert_string_equal(name.oem, i == 1 ? "MAKER?" : "??????");
        assert_string_equal(name.table, i == 1 ? "TABLE" : "????????");
    }
    assert_int_equal(acpi_name(&window, RSDP_AT, ARRAY_SIZE(want), &name), -ENOENT);
    assert_int_equal(acpi_name(&window, RSDP_AT, UINT32_MAX, &name), -ENOENT);
    put(XSDT_AT + 36, 0xffffff0000, 8);
    seal(XSDT_AT, 36 + 32, 9);
    assert_int_equal(acpi_name(&window, RSDP_AT, 0, &name), -EINVAL);
    put(XSDT_AT + 36, (paddr_t)1 << 40, 8);
    seal(XSDT_AT, 36 + 32, 9);
    assert_int_equal(acpi_name(&window, RSDP_AT, 0, &name), -ERANGE);
    at(RSDP_AT)[9]++;
    assert_int_equal(acpi_name(&window, RSDP_AT, 0, &name), -EINVAL);
    good_tables(state);
}

static void a_table_that_is_not_there_is_said_so(void **state)
{
    struct acpi_table t;

    (void)state;
    assert_int_equal(acpi_find(&window, RSDP_AT, "SRAT", &t), -ENOENT);
}

static void a_wrong_checksum_is_refused(void **state)
{
    struct acpi_table t;

    (void)state;
    at(MADT_AT)[50]++;
    assert_int_equal(acpi_find(&window, RSDP_AT, "APIC", &t), -EINVAL);
    at(RSDP_AT)[9]++;
    assert_int_equal(acpi_find(&window, RSDP_AT, "MCFG", &t), -EINVAL);
}

static void a_table_beyond_memory_is_refused(void **state)
{
    struct acpi_table t;

    (void)state;
    put(MADT_AT + 4, 0x1000, 4);
    assert_int_equal(acpi_find(&window, RSDP_AT, "APIC", &t), -EINVAL);
    put(XSDT_AT + 36, 0xffffff0000, 8);
    seal(XSDT_AT, 36 + 32, 9);
    assert_int_equal(acpi_find(&window, RSDP_AT, "APIC", &t), -ENOENT);
    assert_int_equal(acpi_find(&window, 0, "APIC", &t), -EINVAL);
}

static void a_table_the_cpu_cannot_reach_is_refused_as_such(void **state)
{
    static const paddr_t far[] = {(paddr_t)1 << 40, ((paddr_t)1 << 40) - 19, 0xfffffffffffffff0,
                                  (paddr_t)1 << 63};
    struct acpi_table t;

    for (unsigned i = 0; i < ARRAY_SIZE(far); i++) {
        good_tables(state);
        put(XSDT_AT + 36, far[i], 8);
        seal(XSDT_AT, 36 + 32, 9);
        assert_int_equal(acpi_find(&window, RSDP_AT, "APIC", &t), -ERANGE);
        assert_int_equal(acpi_find(&window, RSDP_AT, "MCFG", &t), 0); /* the others are found */
        put(RSDP_AT + 24, far[i], 8);
        seal(RSDP_AT, 36, 32);
        assert_int_equal(acpi_find(&window, RSDP_AT, "MCFG", &t), -ERANGE);
        assert_int_equal(acpi_find(&window, far[i], "MCFG", &t), -ERANGE);
        good_tables(state);
        put(FADT_AT + 4, 148, 4);
        put(FADT_AT + 140, far[i], 8);
        seal(FADT_AT, 148, 9);
        assert_int_equal(acpi_find(&window, RSDP_AT, "DSDT", &t), -ERANGE);
    }
    good_tables(state);
    window.end = MADT_AT + 40; /* its header can be read, its end cannot */
    assert_int_equal(acpi_find(&window, RSDP_AT, "APIC", &t), -ERANGE);
}

static void a_table_shorter_than_its_header_is_refused(void **state)
{
    struct acpi_table t;

    (void)state;
    put(MADT_AT + 4, 35, 4);
    assert_int_equal(acpi_find(&window, RSDP_AT, "APIC", &t), -EINVAL);
}

static void madt_entries_of_no_length_or_too_much_end_the_list(void **state)
{
    static const uint8_t lengths[] = {0, 1, 200};

    for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
        struct acpi_cpu cpu;
        uint32_t pos = 0;
        good_tables(state);
        at(MADT_AT + 44 + 8)[1] = lengths[i];
        seal(MADT_AT, 44 + 44, 9);
        struct acpi_table madt = found("APIC");
        assert_true(acpi_madt_next_cpu(&madt, &pos, &cpu));
        assert_false(acpi_madt_next_cpu(&madt, &pos, &cpu));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_madt_lists_cpus_of_either_kind, good_tables),
        cmocka_unit_test_setup(x2apic_ids_are_of_32_bits, good_tables),
        cmocka_unit_test_setup(an_old_rsdp_leads_through_the_rsdt, good_tables),
        cmocka_unit_test_setup(a_broken_extended_checksum_falls_back_to_the_rsdt, good_tables),
        cmocka_unit_test_setup(the_mcfg_gives_buses_and_base, good_tables),
        cmocka_unit_test_setup(timers_and_power_off_are_found, good_tables),
        cmocka_unit_test_setup(tables_and_their_makers_have_names, good_tables),
        cmocka_unit_test_setup(a_table_that_is_not_there_is_said_so, good_tables),
        cmocka_unit_test_setup(a_wrong_checksum_is_refused, good_tables),
        cmocka_unit_test_setup(a_table_beyond_memory_is_refused, good_tables),
        cmocka_unit_test_setup(a_table_the_cpu_cannot_reach_is_refused_as_such, good_tables),
        cmocka_unit_test_setup(a_table_shorter_than_its_header_is_refused, good_tables),
        cmocka_unit_test_setup(madt_entries_of_no_length_or_too_much_end_the_list, good_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
