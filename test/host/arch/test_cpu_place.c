/* Positions of CPUs from CPUID leaves as processors of several vendors report them, and from APIC
 * ids of any size. */
#include "test/host/double/expect_panic.h"
#include "kernel/arch/x86_64/topology.h"

#define INTEL 0x756e6547
#define AMD   0x68747541
#define HTT   (1u << 28)

static void expect_bits(const struct cpuid_leaf *leaves, size_t n, unsigned thread, unsigned chip)
{
    struct topology_bits bits = topology_decode(leaves, n);

    assert_int_equal(bits.thread, thread);
    assert_int_equal(bits.chip, chip);
}

static void leaf_0b_gives_threads_and_cores(void **state)
{
    static const struct cpuid_leaf leaves[] = {
        {.leaf = 0, .eax = 0xd, .ebx = INTEL},
        {.leaf = 0xb, .sub = 0, .eax = 1, .ebx = 2, .ecx = 0x100},
        {.leaf = 0xb, .sub = 1, .eax = 4, .ebx = 16, .ecx = 0x201},
        {.leaf = 0xb, .sub = 2, .ecx = 2},
    };
    (void)state;
    expect_bits(leaves, ARRAY_SIZE(leaves), 1, 4);
}

static void leaf_1f_with_dies_is_preferred(void **state)
{
    static const struct cpuid_leaf leaves[] = {
        {.leaf = 0, .eax = 0x1f, .ebx = INTEL},
        {.leaf = 0xb, .sub = 0, .eax = 1, .ebx = 2, .ecx = 0x100},
        {.leaf = 0xb, .sub = 1, .eax = 3, .ebx = 8, .ecx = 0x201},
        {.leaf = 0x1f, .sub = 0, .eax = 1, .ebx = 2, .ecx = 0x100},
        {.leaf = 0x1f, .sub = 1, .eax = 3, .ebx = 8, .ecx = 0x201},
        {.leaf = 0x1f, .sub = 2, .eax = 5, .ebx = 32, .ecx = 0x502},
    };
    (void)state;
    expect_bits(leaves, ARRAY_SIZE(leaves), 1, 5);
}

static void amd_without_extended_leaves_is_read_from_its_own(void **state)
{
    static const struct cpuid_leaf leaves[] = {
        {.leaf = 0, .eax = 0xd, .ebx = AMD},
        {.leaf = 0x80000008, .ecx = 0x6000 | 47},
        {.leaf = 0x8000001e, .ebx = 0x0100},
    };
    (void)state;
    expect_bits(leaves, ARRAY_SIZE(leaves), 1, 6);
}

static void amd_without_an_id_size_counts_its_cores(void **state)
{
    static const struct cpuid_leaf leaves[] = {
        {.leaf = 0, .eax = 5, .ebx = AMD},
        {.leaf = 0x80000008, .ecx = 5},
    };
    (void)state;
    expect_bits(leaves, ARRAY_SIZE(leaves), 0, 3);
}

static void old_intel_is_read_from_leaves_1_and_4(void **state)
{
    static const struct cpuid_leaf leaves[] = {
        {.leaf = 0, .eax = 4, .ebx = INTEL},
        {.leaf = 1, .ebx = 8u << 16, .edx = HTT},
        {.leaf = 4, .eax = 3u << 26},
    };
    (void)state;
    expect_bits(leaves, ARRAY_SIZE(leaves), 1, 3);
}

static void a_processor_that_says_nothing_is_one_core(void **state)
{
    static const struct cpuid_leaf leaves[] = {{.leaf = 0, .eax = 1, .ebx = INTEL},
                                               {.leaf = 1, .ebx = 8u << 16}};

    (void)state;
    expect_bits(leaves, ARRAY_SIZE(leaves), 0, 0);
    expect_bits(NULL, 0, 0, 0);
}

static void nonsense_gives_widths_that_can_be_shifted_by(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (unsigned round = 0; round < 10000; round++) {
        struct cpuid_leaf leaves[8];
        static const uint32_t numbers[] = {0, 1, 4, 0xb, 0xb, 0x1f, 0x80000008, 0x8000001e};
        for (unsigned i = 0; i < ARRAY_SIZE(leaves); i++) {
            uint64_t a = test_random(&seed), b = test_random(&seed);
            leaves[i] = (struct cpuid_leaf){numbers[i],          i == 4,      (uint32_t)a,
                                            (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32)};
        }
        leaves[0].ebx = round & 1 ? AMD : INTEL;
        struct topology_bits bits = topology_decode(leaves, ARRAY_SIZE(leaves));
        assert_true(bits.thread <= bits.chip && bits.chip < 32);
    }
}

static void expect_places(struct topology_bits bits, const uint64_t *ids,
                          const struct topology_place *want, size_t n)
{
    struct topology_place got[16];

    topology_place_all(bits, ids, n, got);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(got[i].chip, want[i].chip);
        assert_int_equal(got[i].core, want[i].core);
        assert_int_equal(got[i].thread, want[i].thread);
    }
}

static void numbers_are_dense_although_ids_have_holes(void **state)
{
    static const uint64_t ids[] = {0, 1, 6, 7, 16, 17, 22, 23};
    static const struct topology_place want[] = {
        {0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1},
    };
    (void)state;
    expect_places((struct topology_bits){1, 4}, ids, want, ARRAY_SIZE(ids));
}

static void x2apic_ids_beyond_255_and_any_order_work(void **state)
{
    static const uint64_t ids[] = {0x1002, 0x100, 0x1003, 0x101};
    static const struct topology_place want[] = {{1, 0, 0}, {0, 0, 0}, {1, 0, 1}, {0, 0, 1}};

    (void)state;
    expect_places((struct topology_bits){1, 8}, ids, want, ARRAY_SIZE(ids));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaf_0b_gives_threads_and_cores),
        cmocka_unit_test(leaf_1f_with_dies_is_preferred),
        cmocka_unit_test(amd_without_extended_leaves_is_read_from_its_own),
        cmocka_unit_test(amd_without_an_id_size_counts_its_cores),
        cmocka_unit_test(old_intel_is_read_from_leaves_1_and_4),
        cmocka_unit_test(a_processor_that_says_nothing_is_one_core),
        cmocka_unit_test(nonsense_gives_widths_that_can_be_shifted_by),
        cmocka_unit_test(numbers_are_dense_although_ids_have_holes),
        cmocka_unit_test(x2apic_ids_beyond_255_and_any_order_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
