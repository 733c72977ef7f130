/* The table of machines, and that an inconsistent entry is refused by the name of its field. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "kernel/dev/model/machine.h"
#include "test/machine/topology.h"

static void every_machine_makes_sense_and_is_found_by_its_name(void **state)
{
    (void)state;
    const struct topology *t;
    unsigned count = 0;
    for (; (t = topology_at(count)); count++) {
        const char *what = "";
        if (topology_check(t, &what))
            fail_msg("%s: %s", t->name, what);
        assert_ptr_equal(topology_find(t->name), t);
    }
    assert_true(count >= 5);
    assert_null(topology_find("openpower"));
    assert_null(topology_find(""));
}

static void the_openpower_720_is_as_published(void **state)
{
    static const uint16_t latency[CACHE_SOURCES] = {0, 14, 91, 120, 205, 280, 307};
    (void)state;
    const struct topology *t = topology_find("openpower720");
    assert_int_equal(t->l1d.sets * t->l1d.ways * t->line_bytes, 64 * KIB);
    assert_int_equal(t->l1i.sets * t->l1i.ways * t->line_bytes, 64 * KIB);
    assert_int_equal(t->l2.sets * t->l2.ways * t->line_bytes, 1920 * KIB);
    assert_int_equal(t->l3.sets * t->l3.ways * t->line_bytes, 36 * MIB);
    assert_int_equal(t->tlb.sets * t->tlb.ways, 128);
    assert_memory_equal(t->latency, latency, sizeof(latency));
}

static void cpus_are_numbered_through_threads_then_cores_then_chips(void **state)
{
    static const struct {
        unsigned core, chip;
    } want[8] = {{0, 0}, {0, 0}, {1, 0}, {1, 0}, {2, 1}, {2, 1}, {3, 1}, {3, 1}};
    (void)state;
    const struct topology *t = topology_find("openpower720");
    assert_int_equal(topology_cpus(t), 8);
    assert_int_equal(topology_cores(t), 4);
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        assert_int_equal(topology_core_of_cpu(t, cpu), want[cpu].core);
        assert_int_equal(topology_chip_of_cpu(t, cpu), want[cpu].chip);
    }
}

static void sources_are_numbered_as_in_the_registers(void **state)
{
    (void)state;
    assert_int_equal(CACHE_L1, MACHINE_L1);
    assert_int_equal(CACHE_LOCAL_L2, MACHINE_LOCAL_L2);
    assert_int_equal(CACHE_LOCAL_L3, MACHINE_LOCAL_L3);
    assert_int_equal(CACHE_REMOTE_L2, MACHINE_REMOTE_L2);
    assert_int_equal(CACHE_REMOTE_L3, MACHINE_REMOTE_L3);
    assert_int_equal(CACHE_LOCAL_MEMORY, MACHINE_LOCAL_MEMORY);
    assert_int_equal(CACHE_REMOTE_MEMORY, MACHINE_REMOTE_MEMORY);
    assert_int_equal(CACHE_SOURCES, MACHINE_SOURCES);
}

static void memory_is_dealt_to_the_chips_in_blocks(void **state)
{
    (void)state;
    const struct topology *t = topology_find("openpower-8chip");
    for (unsigned block = 0; block < 20; block++) {
        paddr_t pa = block * t->home_block_bytes;
        assert_int_equal(topology_home(t, pa), block % 8);
        assert_int_equal(topology_home(t, pa + t->home_block_bytes - 1), block % 8);
    }
}

static void a_senseless_entry_is_refused_by_its_field(void **state)
{
    const struct topology good = *topology_find("openpower720");
    struct topology bad[] = {good, good, good, good, good, good, good,
                             good, good, good, good, good, good, good};
    static const char *const field[] = {"chips",
                                        "cores_per_chip",
                                        "threads_per_core",
                                        "line_bytes",
                                        "l1d",
                                        "l1i",
                                        "l2",
                                        "tlb",
                                        "home_block_bytes",
                                        "storebuf_entries",
                                        "latency",
                                        "latency",
                                        "walk_cycles",
                                        "smt_factor_256"};
    (void)state;
    bad[0].chips = TOPOLOGY_MAX_CHIPS + 1;
    bad[1].cores_per_chip = 0;
    bad[2].threads_per_core = TOPOLOGY_MAX_THREADS + 1;
    bad[3].line_bytes = 96;
    bad[4].l1d.sets = 100;
    bad[5].l1i.ways = 0;
    bad[6].l2.sets = 100; /* smaller than the L1s it must include */
    bad[7].tlb.sets = 12;
    bad[8].home_block_bytes = 3 * MIB;
    bad[9].storebuf_entries = 0;
    bad[10].latency[CACHE_L1] = 1;
    bad[11].latency[CACHE_LOCAL_L3] = 10;
    bad[12].walk_cycles = 0;
    bad[13].smt_factor_256 = 255;
    _Static_assert(ARRAY_SIZE(bad) == ARRAY_SIZE(field), "one field each");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        const char *what = "nothing";
        assert_int_equal(topology_check(&bad[i], &what), -EINVAL);
        assert_string_equal(what, field[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_makes_sense_and_is_found_by_its_name),
        cmocka_unit_test(the_openpower_720_is_as_published),
        cmocka_unit_test(cpus_are_numbered_through_threads_then_cores_then_chips),
        cmocka_unit_test(sources_are_numbered_as_in_the_registers),
        cmocka_unit_test(memory_is_dealt_to_the_chips_in_blocks),
        cmocka_unit_test(a_senseless_entry_is_refused_by_its_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
