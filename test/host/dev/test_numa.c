/* Memory nodes from SRAT, the MADT and SLIT: numbers are dense, and a description that contradicts
 * itself is refused as a whole. */
#include "test/host/double/expect_panic.h"
#include "kernel/firmware/acpi_numa.h"
#include "test/host/double/acpi_tables.h"

static struct numa numa;

static void apic(uint8_t id, uint32_t domain, uint32_t flags)
{
    uint32_t at = table_entry(SRAT, 0, 16);

    table_put(SRAT, at + 2, domain, 1);
    table_put(SRAT, at + 3, id, 1);
    table_put(SRAT, at + 4, flags, 4);
    table_put(SRAT, at + 9, domain >> 8, 3);
}

static void x2apic(uint32_t id, uint32_t domain, uint32_t flags)
{
    uint32_t at = table_entry(SRAT, 2, 24);

    table_put(SRAT, at + 4, domain, 4);
    table_put(SRAT, at + 8, id, 4);
    table_put(SRAT, at + 12, flags, 4);
}

static void gicc(uint32_t uid, uint32_t domain, uint32_t flags)
{
    uint32_t at = table_entry(SRAT, 3, 18);

    table_put(SRAT, at + 2, domain, 4);
    table_put(SRAT, at + 6, uid, 4);
    table_put(SRAT, at + 10, flags, 4);
}

static void memory(paddr_t base, uint64_t size, uint32_t domain, uint32_t flags)
{
    uint32_t at = table_entry(SRAT, 1, 40);

    table_put(SRAT, at + 2, domain, 4);
    table_put(SRAT, at + 8, base, 8);
    table_put(SRAT, at + 16, size, 8);
    table_put(SRAT, at + 28, flags, 4);
}

static void madt_gicc(uint32_t uid, uint64_t mpidr)
{
    uint32_t at = table_entry(MADT, 11, 80);

    table_put(MADT, at + 8, uid, 4);
    table_put(MADT, at + 12, 1, 4);
    table_put(MADT, at + 68, mpidr, 8);
}

static int empty(void **state)
{
    (void)state;
    memset(table_bytes, 0, sizeof(table_bytes));
    memset(table_sizes, 0, sizeof(table_sizes));
    memset(&numa, 0xee, sizeof(numa));
    table_sizes[SRAT] = 48;
    table_put(SRAT, 8, 3, 1);
    return 0;
}

static void expect(int err)
{
    assert_int_equal(acpi_numa(table_get, &numa), err);
    if (!err)
        return;
    assert_int_equal(numa.node_count, 1);
    assert_null(numa.source);
    assert_int_equal(numa.cpu_count + numa.range_count, 0);
}

static void sparse_domains_become_dense_nodes(void **state)
{
    (void)state;
    memory(0x100000000, 0x40000000, 0x01020304, 1);
    memory(0, 0x80000000, 7, 1);
    apic(4, 0x01020304, 1);
    apic(0, 7, 1);
    x2apic(0x10000, 900, 1);
    expect(0);
    assert_int_equal(numa.node_count, 3);
    assert_int_equal(numa.domain[0], 7);
    assert_int_equal(numa.domain[1], 900);
    assert_int_equal(numa.domain[2], 0x01020304);
    assert_int_equal(numa_node_of_cpu(&numa, 0), 0);
    assert_int_equal(numa_node_of_cpu(&numa, 0x10000), 1);
    assert_int_equal(numa_node_of_cpu(&numa, 4), 2);
    assert_int_equal(numa_node_of_cpu(&numa, 5), -ENOENT);
    assert_int_equal(numa_node_of_memory_for_test(&numa, 0x7fffffff), 0);
    assert_int_equal(numa_node_of_memory_for_test(&numa, 0x80000000), -ENOENT);
    assert_int_equal(numa_node_of_memory_for_test(&numa, 0x13fffffff), 2);
    assert_int_equal(numa_bytes(&numa, 0, 0x7ffff000, 0x100001000), 0x1000);
    assert_int_equal(numa_bytes(&numa, 1, 0, UINT64_MAX), 0);
    assert_int_equal(numa_bytes(&numa, 2, 0x7ffff000, 0x100001000), 0x1000);
}

static void gic_cpus_are_found_by_their_acpi_id(void **state)
{
    (void)state;
    table_sizes[MADT] = 44;
    madt_gicc(10, 0x80000101);
    madt_gicc(11, 0x200);
    gicc(11, 1, 1);
    gicc(10, 0, 1);
    gicc(99, 2, 1); /* no CPU */
    expect(0);
    assert_int_equal(numa.node_count, 2);
    assert_int_equal(numa.cpu_count, 2);
    assert_int_equal(numa_node_of_cpu(&numa, 0x101), 0);
    assert_int_equal(numa_node_of_cpu(&numa, 0x200), 1);
    table_sizes[MADT] = 0;
    assert_int_equal(acpi_numa(table_get, &numa), 0);
    assert_int_equal(numa.cpu_count, 0);
}

static void old_tables_have_domains_of_eight_bits(void **state)
{
    (void)state;
    table_put(SRAT, 8, 1, 1);
    apic(1, 0xaabbcc02, 1);
    memory(0, 0x1000, 0xdddddd02, 1);
    expect(0);
    assert_int_equal(numa.node_count, 1);
    assert_int_equal(numa.domain[0], 2);
}

static void what_is_switched_off_says_nothing(void **state)
{
    (void)state;
    apic(0, 1, 0);
    x2apic(1, 2, 0);
    gicc(2, 3, 0);
    memory(0, 0x1000, 4, 2);
    expect(0);
    assert_int_equal(numa.node_count, 1);
    assert_null(numa.source);
}

static void entries_of_other_kinds_are_passed_over(void **state)
{
    (void)state;
    table_entry(SRAT, 5, 32);
    table_entry(SRAT, 4, 12);
    table_entry(SRAT, 200, 2);
    apic(3, 6, 1);
    expect(0);
    assert_int_equal(numa.domain[0], 6);
}

static void ranges_of_one_node_may_overlap_and_count_once(void **state)
{
    (void)state;
    memory(0x1000, 0x3000, 1, 1);
    memory(0x2000, 0x4000, 1, 1);
    memory(0x2000, 0x1000, 1, 1);
    memory(0x6000, 0, 2, 1); /* an empty slot: not even a node */
    expect(0);
    assert_int_equal(numa.node_count, 1);
    assert_int_equal(numa_bytes(&numa, 0, 0, 0x10000), 0x5000);
}

static void what_contradicts_itself_is_refused(void **state)
{
    static const struct {
        paddr_t base;
        uint64_t size;
    } wrong[] = {
        {0x1fff, 1}, {0, UINT64_MAX}, {0x1000, 0x1000}, {UINT64_MAX, 1}, {0x2000, UINT64_MAX}};

    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
        empty(state);
        memory(0x1000, 0x1000, 1, 1);
        memory(wrong[i].base, wrong[i].size, 2, 1);
        expect(-EINVAL);
    }
    empty(state);
    apic(1, 1, 1);
    x2apic(1, 2, 1);
    expect(-EINVAL);
    empty(state);
    apic(1, 1, 1);
    x2apic(1, 1, 1);
    expect(0);
    assert_int_equal(numa.cpu_count, 1);
}

static void entries_of_a_wrong_length_are_refused(void **state)
{
    static const struct {
        uint8_t type, size;
    } least[] = {{0, 16}, {1, 40}, {2, 24}, {3, 18}};

    for (unsigned i = 0; i < ARRAY_SIZE(least); i++) {
        for (unsigned size = 0; size < least[i].size; size++) {
            empty(state);
            apic(9, 9, 1);
            uint32_t at = table_entry(SRAT, least[i].type, least[i].size);
            table_put(SRAT, at + 1, size, 1);
            table_sizes[SRAT] = at + MAX(size, 2u);
            expect(-EINVAL);
        }
        empty(state);
        table_entry(SRAT, least[i].type, least[i].size);
        table_sizes[SRAT]--;
        expect(-EINVAL);
        table_sizes[SRAT]++;
        expect(0);
    }
}

static void more_than_fits_is_refused(void **state)
{
    for (uint32_t id = 0; id <= NUMA_CPUS_MAX; id++) {
        expect(0);
        x2apic(id, 0, 1);
    }
    expect(-ENOSPC);
    empty(state);
    for (uint32_t node = 0; node <= NUMA_NODES_MAX; node++) {
        expect(0);
        apic((uint8_t)node, node, 1);
    }
    expect(-ENOSPC);
    empty(state);
    for (uint32_t i = 0; i <= NUMA_RANGES_MAX; i++) {
        expect(0);
        memory((NUMA_RANGES_MAX - i) * 0x1000, 0x1000, i % 3, 1);
    }
    expect(-ENOSPC);
}

static void without_an_srat_there_is_one_node(void **state)
{
    (void)state;
    table_sizes[SRAT] = 0;
    expect(-ENOENT);
    assert_int_equal(numa_node_of_cpu(&numa, 0), -ENOENT);
    empty(state);
    table_sizes[SRAT] = 36; /* a header and no more */
    expect(0);
    assert_int_equal(numa.node_count, 1);
}

static void distances_are_checked(void **state)
{
    static const uint8_t good[] = {10, 21, 20, 10};
    static const struct {
        unsigned at;
        uint8_t v;
    } wrong[] = {{44, 11}, {45, 10}, {46, 0}, {47, 255}, {36, 3}, {36, 0}, {43, 0x80}, {37, 255}};

    (void)state;
    expect(0);
    assert_int_equal(numa.distances, -ENOENT);
    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
        table_put(SLIT, 36, 2, 8);
        memcpy(table_bytes[SLIT] + 44, good, sizeof(good));
        table_sizes[SLIT] = 44 + sizeof(good);
        expect(0);
        assert_int_equal(numa.distances, 0);
        table_bytes[SLIT][wrong[i].at] = wrong[i].v;
        expect(0);
        assert_int_equal(numa.distances, -EINVAL);
    }
    table_sizes[SRAT] = 0;
    expect(-ENOENT);
    assert_int_equal(numa.distances, -EINVAL);
}

static void nodes_that_take_turns_share_memory_evenly(void **state)
{
    (void)state;
    numa_in_turn(&numa, "test", 3, 0x1000);
    assert_int_equal(numa_node_of_memory_for_test(&numa, 0x2fff), 2);
    assert_int_equal(numa_node_of_memory_for_test(&numa, 0x3000), 0);
    for (paddr_t base = 0; base < 0x7000; base += 0x700) {
        for (paddr_t end = base; end < 0x8000; end += 0x500) {
            uint64_t want[3] = {0};
            for (paddr_t pa = base; pa < end; pa += 0x100)
                want[numa_node_of_memory_for_test(&numa, pa)] += MIN(end - pa, 0x100ull);
            for (unsigned node = 0; node < 3; node++)
                assert_int_equal(numa_bytes(&numa, node, base, end), want[node]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sparse_domains_become_dense_nodes, empty),
        cmocka_unit_test_setup(gic_cpus_are_found_by_their_acpi_id, empty),
        cmocka_unit_test_setup(old_tables_have_domains_of_eight_bits, empty),
        cmocka_unit_test_setup(what_is_switched_off_says_nothing, empty),
        cmocka_unit_test_setup(entries_of_other_kinds_are_passed_over, empty),
        cmocka_unit_test_setup(ranges_of_one_node_may_overlap_and_count_once, empty),
        cmocka_unit_test_setup(what_contradicts_itself_is_refused, empty),
        cmocka_unit_test_setup(entries_of_a_wrong_length_are_refused, empty),
        cmocka_unit_test_setup(more_than_fits_is_refused, empty),
        cmocka_unit_test_setup(without_an_srat_there_is_one_node, empty),
        cmocka_unit_test_setup(distances_are_checked, empty),
        cmocka_unit_test_setup(nodes_that_take_turns_share_memory_evenly, empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
