/* Tables of an Arm machine become one description; invalid or missing parts are left out. */
#include "test/host/double/expect_panic.h"
#include "kernel/firmware/acpi_platform.h"
#include "test/host/double/acpi_tables.h"

static struct platform p;

static void gicc(uint32_t uid, uint64_t mpidr, uint32_t flags, paddr_t redist)
{
    uint32_t at = table_entry(MADT, 11, 80);

    table_put(MADT, at + 8, uid, 4);
    table_put(MADT, at + 12, flags, 4);
    table_put(MADT, at + 20, 23, 4);
    table_put(MADT, at + 60, redist, 8);
    table_put(MADT, at + 68, mpidr, 8);
    table_put(MADT, at + 78, 21, 2);
}

static void gicd(unsigned version)
{
    uint32_t at = table_entry(MADT, 12, 24);

    table_put(MADT, at + 8, 0x8000000, 8);
    table_put(MADT, at + 20, version, 1);
}

static uint32_t node(uint32_t flags, uint32_t parent, uint32_t uid)
{
    uint32_t at = table_entry(PPTT, 0, 20);

    table_put(PPTT, at + 4, flags, 4);
    table_put(PPTT, at + 8, parent, 4);
    table_put(PPTT, at + 12, uid, 4);
    return at;
}

static int empty(void **state)
{
    (void)state;
    memset(table_bytes, 0, sizeof(table_bytes));
    memset(table_sizes, 0, sizeof(table_sizes));
    table_sizes[MADT] = 44;
    return 0;
}

static int read_tables(void)
{
    return acpi_platform(table_get, &p);
}

static void gic_v3_takes_its_regions_from_the_madt(void **state)
{
    uint32_t at;

    (void)state;
    gicc(0, 0, 1, 0x9999000);
    gicd(3);
    at = table_entry(MADT, 14, 16);
    table_put(MADT, at + 4, 0x80a0000, 8);
    table_put(MADT, at + 12, 0xf60000, 4);
    at = table_entry(MADT, 15, 20);
    table_put(MADT, at + 4, 7, 4);
    table_put(MADT, at + 8, 0x8080000, 8);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.gic.version, 3);
    assert_int_equal(p.gic.distributor.base, 0x8000000);
    assert_int_equal(p.gic.redist_count, 1);
    assert_int_equal(p.gic.redist[0].base, 0x80a0000);
    assert_int_equal(p.gic.redist[0].size, 0xf60000);
    assert_int_equal(p.gic.its_count, 1);
    assert_int_equal(p.gic.its[0].region.base, 0x8080000);
    assert_int_equal(p.gic.its[0].id, 7);
    assert_int_equal(p.pmu_irq, 23);
    assert_int_equal(p.spe_irq, 21);
}

/* Before ACPI 6.3 there were reserved bytes, or none, in place of the interrupt of statistical
 * profiling. */
static void an_interrupt_that_is_missing_or_shared_is_none(void **state)
{
    (void)state;
    gicc(0, 0, 1, 0);
    table_put(MADT, 44 + 20, 40, 4);
    table_put(MADT, 44 + 78, 40, 2);
    uint32_t at = table_entry(MADT, 11, 79);
    table_put(MADT, at + 68, 1, 8);
    table_put(MADT, at + 78, 21, 1);
    table_entry(MADT, 0, 2); /* its first byte is at the place of the interrupt's end */
    gicd(3);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.cpu_count, 2);
    assert_int_equal(p.pmu_irq, 0);
    assert_int_equal(p.spe_irq, 0);
}

static void redistributors_may_stand_with_the_cpus(void **state)
{
    (void)state;
    gicd(0);
    gicc(0, 0, 1, 0x10000000);
    gicc(1, 1, 1, 0x20000000);
    gicc(2, 2, 0, 0x30000000); /* disabled permanently */
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.gic.version, 3);
    assert_int_equal(p.gic.redist_count, 2);
    assert_int_equal(p.gic.redist[1].base, 0x20000000);
}

static void gic_v2_has_a_cpu_interface_and_message_frames(void **state)
{
    uint32_t at;

    (void)state;
    gicc(0, 0, 1, 0);
    table_put(MADT, 44 + 32, 0x8010000, 8);
    gicd(2);
    at = table_entry(MADT, 13, 24);
    table_put(MADT, at + 8, 0x8020000, 8);
    table_put(MADT, at + 16, 1, 4);
    table_put(MADT, at + 20, 64, 2);
    table_put(MADT, at + 22, 80, 2);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.gic.version, 2);
    assert_int_equal(p.gic.cpu_interface.base, 0x8010000);
    assert_int_equal(p.gic.frame_count, 1);
    assert_int_equal(p.gic.frame[0].region.base, 0x8020000);
    assert_int_equal(p.gic.frame[0].spis, 64);
    assert_int_equal(p.gic.frame[0].first_spi, 80);
}

static void cpus_are_those_of_the_madt_once_each(void **state)
{
    (void)state;
    gicc(7, 0x80000000, 1, 0);
    gicc(8, 0x0100000203, 0, 0);
    gicc(9, 0, 1, 0);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.cpu_count, 2);
    assert_int_equal(p.cpu[0].hwid, 0);
    assert_true(p.cpu[0].enabled);
    assert_int_equal(p.cpu[1].hwid, 0x0100000203);
    assert_false(p.cpu[1].enabled);
}

static void more_cpus_than_fit_are_counted(void **state)
{
    (void)state;
    memset(&p, 0, sizeof(p));
    for (unsigned i = 0; i < PLATFORM_CPUS_MAX; i++)
        platform_add_cpu(&p, 0x1000 + i);
    assert_null(platform_add_cpu(&p, 1));
    assert_null(platform_add_cpu(&p, 0x1000));
    assert_int_equal(p.cpus_ignored, 1);
}

static void timer_console_and_firmware_come_from_their_tables(void **state)
{
    (void)state;
    table_put(GTDT, 56, 30, 4);
    table_put(GTDT, 64, 27, 4);
    table_put(SPCR, 36, 3, 1);
    table_put(SPCR, 44, 0x9000000, 8);
    table_put(SPCR, 52, 8, 1);
    table_put(SPCR, 54, 33, 4);
    table_put(FADT, 129, 3, 2);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.timer.physical_irq, 30);
    assert_int_equal(p.timer.virtual_irq, 27);
    assert_int_equal(p.uart.kind, UART_PL011);
    assert_int_equal(p.uart.base, 0x9000000);
    assert_int_equal(p.uart.irq, 33);
    assert_int_equal(p.psci, PSCI_HVC);
}

static void a_serial_port_of_another_kind_is_none(void **state)
{
    (void)state;
    table_put(SPCR, 36, 0x12, 1);
    table_put(SPCR, 44, 0x9000000, 8);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.uart.kind, UART_NONE);
}

static void firmware_is_called_by_smc_where_hvc_is_not_asked_for(void **state)
{
    (void)state;
    table_put(FADT, 129, 1, 2);
    read_tables();
    assert_int_equal(p.psci, PSCI_SMC);
    table_put(FADT, 129, 2, 2);
    read_tables();
    assert_int_equal(p.psci, PSCI_NONE);
}

/* Makes two packages: a core of two threads in the first, a cluster with an id in the second. */
static void make_pptt(unsigned revision)
{
    unsigned leaf = revision >= 2 ? 8 : 0;

    table_put(PPTT, 8, revision, 1);
    table_sizes[PPTT] = 36;
    uint32_t root = node(0, 0, 0);
    uint32_t first = node(1, root, 0), second = node(1, root, 0);
    uint32_t core = node(0, first, 0);
    node(2 | 4 | leaf, core, 0);
    node(2 | 4 | leaf, core, 1);
    uint32_t cluster = node(2, second, 2); /* has a CPU's id, but is no leaf */
    node(2 | leaf, cluster, 2);
    for (unsigned i = 0; i < 3; i++)
        gicc(i, i, 1, 0);
}

static void the_pptt_places_threads_cores_and_packages(void **state)
{
    for (unsigned revision = 1; revision <= 3; revision++) {
        empty(state);
        make_pptt(revision);
        assert_int_equal(read_tables(), 0);
        assert_true(p.has_places);
        assert_int_equal(p.cpu[0].chip, p.cpu[1].chip);
        assert_int_not_equal(p.cpu[0].chip, p.cpu[2].chip);
        assert_int_equal(p.cpu[0].core, p.cpu[1].core);
        assert_int_not_equal(p.cpu[0].core, p.cpu[2].core);
        assert_true(p.cpu[0].thread < p.cpu[1].thread);
        assert_int_equal(p.cpu[2].thread, 0);
    }
}

static void a_cpu_the_pptt_forgets_makes_it_useless(void **state)
{
    (void)state;
    make_pptt(2);
    gicc(77, 77, 1, 0);
    read_tables();
    assert_false(p.has_places);
}

static void nodes_that_are_their_own_ancestors_end_the_climb(void **state)
{
    uint32_t at;

    (void)state;
    gicc(0, 0, 1, 0);
    table_sizes[PPTT] = 36;
    table_put(PPTT, 8, 3, 1);
    at = node(2 | 8, 0, 0);
    table_put(PPTT, at + 8, at, 4);
    assert_int_equal(read_tables(), 0);
    table_put(PPTT, at + 8, 0xfffffff0, 4);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.cpu[0].chip, p.cpu[0].core);
}

/* ---- IORT ------------------------------------------------------------------------------------ */

/* Appends a node with room for data and mappings. */
static uint32_t iort_node(uint8_t type, uint16_t data, uint32_t maps)
{
    uint32_t at = table_sizes[IORT];

    table_put(IORT, at + 16 + data + 20 * maps - 1, 0, 1);
    table_put(IORT, at, type, 1);
    table_put(IORT, at + 1, 16u + data + 20 * maps, 2);
    table_put(IORT, at + 8, maps, 4);
    table_put(IORT, at + 12, 16u + data, 4);
    table_put(IORT, 36, acpi_number(&table_bytes[IORT][36], 4) + 1, 4);
    return at;
}

static void iort_map(uint32_t node, uint32_t n, uint32_t input, uint32_t count, uint32_t output,
                     uint32_t to)
{
    uint32_t at = node + (uint32_t)acpi_number(&table_bytes[IORT][node + 12], 4) + 20 * n;

    table_put(IORT, at, input, 4);
    table_put(IORT, at + 4, count - 1, 4);
    table_put(IORT, at + 8, output, 4);
    table_put(IORT, at + 12, to, 4);
}

enum { ITS_GROUP = 0, ROOT_COMPLEX = 2, SMMU_V3 = 4 };

/* Makes two ITSes with ids 5 and 9, each a group of its own; returns the groups' offsets. */
static void two_services(uint32_t group[2])
{
    static const uint32_t ids[] = {5, 9};

    table_put(IORT, 40, 48, 4);
    table_sizes[IORT] = 48;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t at = table_entry(MADT, 15, 20);
        table_put(MADT, at + 4, ids[i], 4);
        table_put(MADT, at + 8, 0x8080000 + i * 0x100000, 8);
        group[i] = iort_node(ITS_GROUP, 8, 0);
        table_put(IORT, group[i] + 16, 1, 4);
        table_put(IORT, group[i] + 20, ids[i], 4);
    }
}

static void expect_device(uint32_t requester, uint32_t device, unsigned its)
{
    uint32_t found_device;
    unsigned found_its;

    assert_int_equal(platform_msi_device(&p, requester, &found_device, &found_its), 0);
    assert_int_equal(found_device, device);
    assert_int_equal(found_its, its);
}

static void expect_no_device(uint32_t requester)
{
    uint32_t device;
    unsigned its;

    assert_int_equal(platform_msi_device(&p, requester, &device, &its), -ENODEV);
}

static void without_an_iort_requesters_are_devices_of_the_first_its(void **state)
{
    (void)state;
    read_tables();
    expect_no_device(8);
    table_entry(MADT, 15, 20);
    read_tables();
    assert_false(p.msi_mapped);
    expect_device(0xfff8, 0xfff8, 0);
}

static void root_complexes_map_requesters_to_devices(void **state)
{
    uint32_t group[2], other, root;

    (void)state;
    two_services(group);
    other = iort_node(ROOT_COMPLEX, 20, 1);
    table_put(IORT, other + 28, 1, 4); /* of another segment */
    iort_map(other, 0, 0, 0x10000, 0x70000, group[0]);
    root = iort_node(ROOT_COMPLEX, 20, 2);
    iort_map(root, 0, 0x000, 0x100, 0x20000, group[1]);
    iort_map(root, 1, 0x200, 0xfffffe00, 0x300, group[0]);
    assert_int_equal(read_tables(), 0);
    assert_true(p.msi_mapped);
    expect_device(0x0, 0x20000, 1);
    expect_device(0xff, 0x200ff, 1);
    expect_no_device(0x100);
    expect_device(0x200, 0x300, 0);
    expect_device(0xffff, 0x100ff, 0);
}

static void what_an_smmu_maps_on_is_followed(void **state)
{
    uint32_t group[2], smmu, root;

    (void)state;
    two_services(group);
    smmu = iort_node(SMMU_V3, 52, 3);
    iort_map(smmu, 0, 0x1000, 0x80, 0x500, group[0]);
    iort_map(smmu, 1, 0x1080, 0x1000, 0x900, group[1]);
    iort_map(smmu, 2, 0x1000, 1, 0x666, group[0]);
    table_put(IORT, smmu + 16 + 52 + 40 + 16, 1, 4); /* the SMMU's own: not a range */
    root = iort_node(ROOT_COMPLEX, 20, 1);
    iort_map(root, 0, 0x40, 0x100, 0x1000, smmu);
    assert_int_equal(read_tables(), 0);
    expect_no_device(0x3f);
    expect_device(0x40, 0x500, 0);
    expect_device(0xbf, 0x57f, 0);
    expect_device(0xc0, 0x900, 1);
    expect_device(0x13f, 0x97f, 1);
    expect_no_device(0x140);
}

static void broken_maps_are_left_out(void **state)
{
    uint32_t group[2], root, cut;

    (void)state;
    two_services(group);
    root = iort_node(ROOT_COMPLEX, 20, 5);
    cut = iort_node(ITS_GROUP, 4, 0); /* ends before the id */
    table_put(IORT, cut + 16, 1, 4);
    iort_map(root, 4, 0, 0x100, 0, cut);
    iort_map(root, 0, 0, 0x100, 0, root); /* refers to a node that is no ITS */
    iort_map(root, 1, 0, 0x100, 0, 0xfffffff0);
    iort_map(root, 2, 0, 0x100, 0, 4);
    iort_map(root, 3, 0x300, 0x100, 0, group[0]);
    table_put(IORT, group[0] + 20, 1234, 4); /* an id that no ITS has */
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.msi_map_count, 1);
    expect_no_device(0);
    expect_no_device(0x300);
    table_put(IORT, root + 8, UINT32_MAX, 4);
    table_put(IORT, root + 12, UINT32_MAX, 4);
    table_put(IORT, 36, UINT32_MAX, 4);
    assert_int_equal(read_tables(), 0);
    table_put(IORT, root + 1, 3, 2); /* a node shorter than its header */
    assert_int_equal(read_tables(), 0);
    expect_no_device(0x300);
}

static void maps_beyond_the_table_are_counted(void **state)
{
    (void)state;
    memset(&p, 0, sizeof(p));
    for (unsigned i = 0; i < PLATFORM_MSI_MAPS + 3; i++)
        platform_add_msi_map(&p, (struct platform_msi_map){.first = i});
    assert_int_equal(p.msi_map_count, PLATFORM_MSI_MAPS);
    assert_int_equal(p.msi_maps_ignored, 3);
}

static void without_a_madt_there_is_nothing(void **state)
{
    (void)state;
    table_sizes[MADT] = 0;
    assert_int_equal(read_tables(), -ENOENT);
    assert_int_equal(p.cpu_count, 0);
}

static void entries_too_short_for_their_kind_are_left_out(void **state)
{
    static const uint8_t types[] = {11, 12, 13, 14, 15};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
        table_entry(MADT, types[i], 12);
    assert_int_equal(read_tables(), 0);
    assert_int_equal(p.cpu_count, 0);
    assert_int_equal(p.gic.version, 0);
    assert_int_equal(p.gic.redist_count + p.gic.frame_count + p.gic.its_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(gic_v3_takes_its_regions_from_the_madt, empty),
        cmocka_unit_test_setup(an_interrupt_that_is_missing_or_shared_is_none, empty),
        cmocka_unit_test_setup(redistributors_may_stand_with_the_cpus, empty),
        cmocka_unit_test_setup(gic_v2_has_a_cpu_interface_and_message_frames, empty),
        cmocka_unit_test_setup(cpus_are_those_of_the_madt_once_each, empty),
        cmocka_unit_test_setup(more_cpus_than_fit_are_counted, empty),
        cmocka_unit_test_setup(timer_console_and_firmware_come_from_their_tables, empty),
        cmocka_unit_test_setup(a_serial_port_of_another_kind_is_none, empty),
        cmocka_unit_test_setup(firmware_is_called_by_smc_where_hvc_is_not_asked_for, empty),
        cmocka_unit_test_setup(the_pptt_places_threads_cores_and_packages, empty),
        cmocka_unit_test_setup(a_cpu_the_pptt_forgets_makes_it_useless, empty),
        cmocka_unit_test_setup(nodes_that_are_their_own_ancestors_end_the_climb, empty),
        cmocka_unit_test_setup(without_an_iort_requesters_are_devices_of_the_first_its, empty),
        cmocka_unit_test_setup(root_complexes_map_requesters_to_devices, empty),
        cmocka_unit_test_setup(what_an_smmu_maps_on_is_followed, empty),
        cmocka_unit_test_setup(broken_maps_are_left_out, empty),
        cmocka_unit_test_setup(maps_beyond_the_table_are_counted, empty),
        cmocka_unit_test_setup(without_a_madt_there_is_nothing, empty),
        cmocka_unit_test_setup(entries_too_short_for_their_kind_are_left_out, empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
