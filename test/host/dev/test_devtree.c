/* Two device trees are read for what they say; each single thing wrong with one is refused or left
 * out. */
#include "test/host/double/expect_panic.h"
#include <stdlib.h>
#include "kernel/firmware/devtree.h"

extern const uint8_t virt_dt_blob_start[], virt_dt_blob_end[], board_dt_blob_start[],
    board_dt_blob_end[];

static struct platform p;
static struct boot_info info;
static uint8_t *blob; /* of exactly its own size, so that the sanitizer sees what is read beyond */
static size_t blob_size;

static void load(const uint8_t *start, const uint8_t *end)
{
    free(blob);
    blob_size = (size_t)(end - start);
    blob = malloc(blob_size);
    memcpy(blob, start, blob_size);
}

static int virt(void **state)
{
    (void)state;
    load(virt_dt_blob_start, virt_dt_blob_end);
    assert_int_equal(devtree_check(blob, blob_size), 0);
    return devtree_platform(blob, &p);
}

static int board(void **state)
{
    (void)state;
    load(board_dt_blob_start, board_dt_blob_end);
    assert_int_equal(devtree_check(blob, blob_size), 0);
    return devtree_platform(blob, &p);
}

static int no_blob(void **state)
{
    (void)state;
    free(blob);
    blob = NULL;
    return 0;
}

static void expect_region(struct platform_region r, paddr_t base, uint64_t size)
{
    assert_int_equal(r.base, base);
    assert_int_equal(r.size, size);
}

/* ---- What is right --------------------------------------------------------------------------- */

static void memory_reservations_and_arguments_become_boot_information(void **state)
{
    (void)state;
    memset(&info, 0, sizeof(info));
    assert_int_equal(devtree_boot_info(blob, 0x48200000, &info), 0);
    assert_string_equal(info.cmdline, "cpus=2 -- hello");
    assert_int_equal(info.dtb, 0x48200000);
    assert_int_equal(boot_mem_type_of(&info, 0x40000000), BOOT_MEM_USABLE);
    assert_int_equal(boot_mem_type_of(&info, 0x8ffffffff), BOOT_MEM_USABLE);
    assert_int_equal(boot_mem_type_of(&info, 0x900000000), BOOT_MEM_RESERVED);
    assert_int_equal(boot_mem_type_of(&info, 0x48000000), BOOT_MEM_RESERVED);
    assert_int_equal(boot_mem_type_of(&info, 0x48010000), BOOT_MEM_USABLE);
    assert_int_equal(boot_mem_type_of(&info, 0x48200000), BOOT_MEM_RESERVED);
    assert_int_equal(boot_mem_type_of(&info, 0x50000000), BOOT_MEM_RESERVED);
}

static void the_initrd_is_memory_that_nothing_overwrites(void **state)
{
    (void)state;
    memset(&info, 0, sizeof(info));
    assert_int_equal(devtree_boot_info(blob, 0x48200000, &info), 0);
    assert_int_equal(devtree_initrd(blob, &info), 0);
    assert_int_equal(info.initrd.base, 0x44000000);
    assert_int_equal(info.initrd.bytes, 0x801234);
    assert_int_equal(boot_mem_type_of(&info, 0x44801000), BOOT_MEM_KERNEL);
    assert_int_equal(boot_mem_type_of(&info, 0x44802000), BOOT_MEM_USABLE);
    memset(&info, 0, sizeof(info));
    board(state);
    assert_int_equal(devtree_boot_info(blob, 0, &info), 0);
    assert_int_equal(devtree_initrd(blob, &info), 0);
    assert_int_equal(info.initrd.bytes, 0);
}

static void gic_v3_has_all_its_redistributors_and_its(void **state)
{
    (void)state;
    assert_int_equal(p.gic.version, 3);
    expect_region(p.gic.distributor, 0x8000000, 0x10000);
    assert_int_equal(p.gic.redist_count, 2);
    expect_region(p.gic.redist[0], 0x80a0000, 0xf60000);
    expect_region(p.gic.redist[1], 0x4000000000, 0x4000000);
    assert_int_equal(p.gic.its_count, 1);
    expect_region(p.gic.its[0].region, 0x8080000, 0x20000);
    assert_int_equal(p.gic.frame_count, 0);
}

static void requesters_are_mapped_to_the_its(void **state)
{
    static const struct {
        uint32_t requester, device;
        int err;
    } cases[] = {{0, 0x10000, 0},     {0xff, 0x100ff, 0}, {0x80ff, 0x100ff, 0}, {0x100, 0, -ENODEV},
                 {0x210, 0, -ENODEV}, {0x410, 0x10, 0},   {0x1400, 0, -ENODEV}};

    (void)state;
    assert_true(p.msi_mapped);
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t device;
        unsigned its = 99;
        assert_int_equal(platform_msi_device(&p, cases[i].requester, &device, &its), cases[i].err);
        if (!cases[i].err) {
            assert_int_equal(device, cases[i].device);
            assert_int_equal(its, 0);
        }
    }
}

static void interrupts_are_numbered_as_the_gic_does(void **state)
{
    (void)state;
    assert_int_equal(p.timer.physical_irq, 30);
    assert_int_equal(p.timer.virtual_irq, 27);
    assert_int_equal(p.pmu_irq, 23);
    assert_int_equal(p.spe_irq, 21);
    assert_int_equal(p.uart.irq, 33);
}

static void the_console_is_the_one_chosen(void **state)
{
    (void)state;
    assert_int_equal(p.uart.kind, UART_PL011);
    assert_int_equal(p.uart.base, 0x9000000);
    assert_int_equal(p.rtc, 0x9010000);
}

static void the_machine_has_the_name_the_tree_gives_it(void **state)
{
    assert_string_equal(p.model, "A board?");
    virt(state);
    assert_string_equal(p.model, "");
}

static void firmware_is_called_as_the_tree_says(void **state)
{
    assert_int_equal(p.psci, PSCI_HVC);
    board(state);
    assert_int_equal(p.psci, PSCI_SMC);
}

static void configuration_space_comes_with_its_buses(void **state)
{
    (void)state;
    assert_int_equal(p.pci.ecam.base, 0x4010000000);
    assert_int_equal(p.pci.ecam.size, 0x10000000);
    assert_int_equal(p.pci.first_bus, 0);
    assert_int_equal(p.pci.last_bus, 0x7f);
}

static void expect_window(struct pci_window w, paddr_t base, uint64_t bus, uint64_t size)
{
    assert_int_equal(w.base, base);
    assert_int_equal(w.bus, bus);
    assert_int_equal(w.size, size);
}

static void memory_the_pci_bridge_passes_on_becomes_windows(void **state)
{
    (void)state;
    assert_int_equal(p.pci.window_count, 2);
    expect_window(p.pci.window[0], 0x10000000, 0x20000000, 0x2eff0000);
    expect_window(p.pci.window[1], 0x8000000000, 0x8000000000, 0x8000000000);
}

static void cpus_sit_where_the_map_says(void **state)
{
    static const struct platform_cpu want[] = {
        {.hwid = 0, .enabled = true, .chip = 0, .core = 0, .thread = 0},
        {.hwid = 1, .enabled = true, .chip = 0, .core = 0, .thread = 1},
        {.hwid = 0x100, .enabled = true, .chip = 1, .core = 1, .thread = 0},
        {.hwid = 0x101, .enabled = false, .chip = 1, .core = 2, .thread = 0},
    };

    (void)state;
    assert_true(p.has_places);
    assert_int_equal(p.cpu_count, ARRAY_SIZE(want));
    for (unsigned i = 0; i < ARRAY_SIZE(want); i++) {
        assert_int_equal(p.cpu[i].hwid, want[i].hwid);
        assert_int_equal(p.cpu[i].enabled, want[i].enabled);
        assert_int_equal(p.cpu[i].chip, want[i].chip);
        assert_int_equal(p.cpu[i].core, want[i].core);
        assert_int_equal(p.cpu[i].thread, want[i].thread);
    }
}

static void buses_on_the_way_move_addresses(void **state)
{
    (void)state;
    assert_int_equal(p.gic.version, 2);
    expect_region(p.gic.distributor, 0xff041000, 0x1000);
    expect_region(p.gic.cpu_interface, 0xff042000, 0x2000);
    expect_region(p.gic.frame[0].region, 0xff050000, 0x1000);
    assert_int_equal(p.gic.frame[0].first_spi, 64);
    assert_int_equal(p.gic.frame[0].spis, 16);
}

static void an_alias_with_options_names_the_console(void **state)
{
    (void)state;
    assert_int_equal(p.uart.base, 0xfe201000);
    assert_int_equal(p.rtc, 0);
    assert_int_equal(p.uart.irq, 153);
}

static void an_interrupt_of_another_controller_is_none_of_ours(void **state)
{
    (void)state;
    assert_int_equal(p.pmu_irq, 0);
    assert_int_equal(p.spe_irq, 0);
    assert_int_equal(p.timer.virtual_irq, 27);
    assert_int_equal(p.timer.hz, 54000000);
}

static void a_cpu_listed_twice_is_one(void **state)
{
    (void)state;
    assert_int_equal(p.cpu_count, 2);
    assert_int_equal(p.cpu[1].hwid, 0x100000000);
    assert_false(p.has_places);
}

static void cpus_and_memory_belong_to_nodes(void **state)
{
    struct numa n;

    assert_int_equal(devtree_numa(blob, &n), 0);
    assert_int_equal(n.node_count, 2);
    assert_int_equal(n.domain[1], 5);
    assert_int_equal(numa_node_of_cpu(&n, 0), 1);
    assert_int_equal(numa_node_of_cpu(&n, 1), -ENOENT);
    assert_int_equal(numa_node_of_cpu(&n, 0x100), 0);
    assert_int_equal(numa_node_of_memory_for_test(&n, 0x40000000), 1);
    assert_int_equal(numa_node_of_memory_for_test(&n, 0x8ffffffff), 1);
    assert_int_equal(numa_node_of_memory_for_test(&n, 0x900000000), -ENOENT);
    assert_int_equal(numa_node_of_memory_for_test(&n, 0xa00000000), 0);
    board(state);
    assert_int_equal(devtree_numa(blob, &n), -ENOENT);
    assert_int_equal(n.node_count, 1);
}

/* ---- What is wrong --------------------------------------------------------------------------- */

static uint8_t *find_bytes(const void *what, size_t size)
{
    for (size_t i = 0; i + size <= blob_size; i++) {
        if (!memcmp(blob + i, what, size))
            return blob + i;
    }
    fail_msg("the blob lacks what the test would change");
    return NULL;
}

static void a_blob_cut_short_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < blob_size; size += 1 + size / 64) {
        uint8_t *cut = malloc(size + !size);
        memcpy(cut, blob, size);
        assert_int_equal(devtree_check(cut, size), -EINVAL);
        free(cut);
    }
}

static void a_wrong_magic_or_size_is_refused(void **state)
{
    static const uint8_t sizes[][4] = {
        {0, 0, 0, 0}, {0, 0, 0, 39}, {0, 0x20, 0, 1}, {0xff, 0xff, 0xff, 0xff}};

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        virt(state);
        memcpy(blob + 4, sizes[i], 4);
        assert_int_equal(devtree_size(blob), 0);
        assert_int_equal(devtree_platform(blob, &p), -EINVAL);
        assert_int_equal(devtree_boot_info(blob, 0, &info), -EINVAL);
    }
    virt(state);
    blob[0] = 0;
    assert_int_equal(devtree_platform(blob, &p), -EINVAL);
}

static void a_property_that_ends_where_it_begins_is_refused(void **state)
{
    (void)state;
    memcpy(find_bytes("hvc", 4) - 8, "\xff\xff\xff\xf4",
           4); /* its length: less 12, all in front of the value */
    assert_int_equal(devtree_check(blob, blob_size), -EINVAL);
}

static void a_tree_without_memory_is_said_so(void **state)
{
    (void)state;
    memset(&info, 0, sizeof(info));
    for (unsigned banks = 0; banks < 3; banks++)
        memcpy(find_bytes("memory", 7), "mammon", 7);
    assert_int_equal(devtree_boot_info(blob, 0, &info), -ENOENT);
}

static void an_unknown_interrupt_controller_is_none(void **state)
{
    (void)state;
    memcpy(find_bytes("arm,gic-v3", 11), "arm,gic-v9", 11);
    assert_int_equal(devtree_platform(blob, &p), 0);
    assert_int_equal(p.gic.version, 0);
}

static void a_string_without_end_is_no_string(void **state)
{
    (void)state;
    find_bytes("hvc", 4)[3] = 'x';
    assert_int_equal(devtree_platform(blob, &p), 0);
    assert_int_equal(p.psci, PSCI_NONE);
}

static void memory_that_wraps_around_is_left_out(void **state)
{
    (void)state;
    memset(&info, 0, sizeof(info));
    memset(find_bytes("\0\0\0\x08\0\0\0\0\0\0\0\x01\0\0\0\0", 16), 0xff, 16);
    assert_int_equal(devtree_boot_info(blob, 0x48200000, &info), 0);
    assert_int_equal(boot_mem_type_of(&info, 0x40000000), BOOT_MEM_USABLE);
    assert_int_equal(boot_mem_type_of(&info, 0x800000000), BOOT_MEM_RESERVED);
    for (size_t i = 0; i < info.mem_count; i++)
        assert_true(info.mem[i].base + info.mem[i].size > info.mem[i].base);
}

static void an_initrd_outside_of_memory_is_refused(void **state)
{
    static const uint8_t ends[][4] = {{0x43, 0, 0, 0}, {0x60, 0, 0, 1}, {0xff, 0xff, 0xff, 0xff}};

    for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
        virt(state);
        memset(&info, 0, sizeof(info));
        memcpy(find_bytes("\x44\x80\x12\x34", 4), ends[i], 4);
        assert_int_equal(devtree_boot_info(blob, 0x48200000, &info), 0);
        assert_int_equal(devtree_initrd(blob, &info), -EINVAL);
        assert_int_equal(info.initrd.bytes, 0);
    }
}

static void more_memory_ranges_than_fit_are_refused(void **state)
{
    (void)state;
    memset(&info, 0, sizeof(info));
    info.mem_count = BOOT_MEM_MAX - 1;
    assert_int_equal(devtree_boot_info(blob, 0x48200000, &info), -ENOSPC);
}

static void nodes_that_share_memory_are_refused(void **state)
{
    struct numa n;

    (void)state;
    find_bytes("\0\0\0\x0a\0\0\0\0\0\0\0\x01\0\0\0\0", 16)[3] = 8;
    assert_int_equal(devtree_numa(blob, &n), -EINVAL);
    assert_int_equal(n.node_count, 1);
    blob[0] = 0;
    assert_int_equal(devtree_numa(blob, &n), -EINVAL);
}

/* Fails unless tables read from a damaged tree have no more entries than room, texts an end, and
 * memory is sorted. */
static void check_bounds(const struct numa *n)
{
    assert_in_range(info.mem_count, 0, BOOT_MEM_MAX);
    for (size_t i = 1; i < info.mem_count; i++)
        assert_true(info.mem[i - 1].base <= info.mem[i].base);
    assert_non_null(memchr(info.cmdline, '\0', sizeof(info.cmdline)));
    assert_in_range(p.cpu_count, 0, PLATFORM_CPUS_MAX);
    assert_in_range(p.gic.version, 0, 4);
    assert_in_range(p.gic.redist_count, 0, PLATFORM_REDISTS_MAX);
    assert_in_range(p.gic.frame_count, 0, PLATFORM_MSI_MAX);
    assert_in_range(p.gic.its_count, 0, PLATFORM_MSI_MAX);
    assert_in_range(p.msi_map_count, 0, PLATFORM_MSI_MAPS);
    assert_in_range(p.pci.window_count, 0, PCI_WINDOWS_MAX);
    assert_non_null(memchr(p.model, '\0', sizeof(p.model)));
    assert_in_range(n->node_count, 1, NUMA_NODES_MAX);
    assert_in_range(n->range_count, 0, NUMA_RANGES_MAX);
    assert_in_range(n->cpu_count, 0, NUMA_CPUS_MAX);
}

/* Each byte of the tree in turn has two other values. The sanitizers look at each access. */
static void any_changed_byte_is_survived(void **state)
{
    unsigned refused = 0, read = 0;
    struct numa n;

    for (size_t i = 0; i < blob_size; i++) {
        static const uint8_t values[] = {0xff, 0x01};
        uint8_t was = blob[i];
        for (unsigned v = 0; v < ARRAY_SIZE(values); v++) {
            blob[i] = values[v];
            if (devtree_check(blob, blob_size)) {
                refused++;
                continue;
            }
            memset(&info, 0, sizeof(info));
            if (!devtree_boot_info(blob, 0, &info))
                devtree_initrd(blob, &info);
            devtree_platform(blob, &p);
            devtree_numa(blob, &n);
            check_bounds(&n);
            read++;
        }
        blob[i] = was;
    }
    assert_true(refused > 100 && read > 1000);
    virt(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_reservations_and_arguments_become_boot_information,
                                        virt, no_blob),
        cmocka_unit_test_setup_teardown(the_initrd_is_memory_that_nothing_overwrites, virt,
                                        no_blob),
        cmocka_unit_test_setup_teardown(gic_v3_has_all_its_redistributors_and_its, virt, no_blob),
        cmocka_unit_test_setup_teardown(requesters_are_mapped_to_the_its, virt, no_blob),
        cmocka_unit_test_setup_teardown(interrupts_are_numbered_as_the_gic_does, virt, no_blob),
        cmocka_unit_test_setup_teardown(the_console_is_the_one_chosen, virt, no_blob),
        cmocka_unit_test_setup_teardown(firmware_is_called_as_the_tree_says, virt, no_blob),
        cmocka_unit_test_setup_teardown(configuration_space_comes_with_its_buses, virt, no_blob),
        cmocka_unit_test_setup_teardown(memory_the_pci_bridge_passes_on_becomes_windows, virt,
                                        no_blob),
        cmocka_unit_test_setup_teardown(cpus_sit_where_the_map_says, virt, no_blob),
        cmocka_unit_test_setup_teardown(cpus_and_memory_belong_to_nodes, virt, no_blob),
        cmocka_unit_test_setup_teardown(the_machine_has_the_name_the_tree_gives_it, board, no_blob),
        cmocka_unit_test_setup_teardown(buses_on_the_way_move_addresses, board, no_blob),
        cmocka_unit_test_setup_teardown(an_alias_with_options_names_the_console, board, no_blob),
        cmocka_unit_test_setup_teardown(an_interrupt_of_another_controller_is_none_of_ours, board,
                                        no_blob),
        cmocka_unit_test_setup_teardown(a_cpu_listed_twice_is_one, board, no_blob),
        cmocka_unit_test_setup_teardown(a_blob_cut_short_anywhere_is_refused, virt, no_blob),
        cmocka_unit_test_setup_teardown(a_wrong_magic_or_size_is_refused, virt, no_blob),
        cmocka_unit_test_setup_teardown(a_property_that_ends_where_it_begins_is_refused, virt,
                                        no_blob),
        cmocka_unit_test_setup_teardown(a_tree_without_memory_is_said_so, virt, no_blob),
        cmocka_unit_test_setup_teardown(an_unknown_interrupt_controller_is_none, virt, no_blob),
        cmocka_unit_test_setup_teardown(a_string_without_end_is_no_string, virt, no_blob),
        cmocka_unit_test_setup_teardown(memory_that_wraps_around_is_left_out, virt, no_blob),
        cmocka_unit_test_setup_teardown(an_initrd_outside_of_memory_is_refused, virt, no_blob),
        cmocka_unit_test_setup_teardown(more_memory_ranges_than_fit_are_refused, virt, no_blob),
        cmocka_unit_test_setup_teardown(nodes_that_share_memory_are_refused, virt, no_blob),
        cmocka_unit_test_setup_teardown(any_changed_byte_is_survived, virt, no_blob),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
