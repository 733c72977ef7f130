/* Commands and tables of an ITS: words as in the tables of IHI 0069H, 5.3, sizes for every kind of
 * controller. */
#include "test/host/double/expect_panic.h"
#include "kernel/arch/aarch64/its_layout.h"

static void expect_words(struct its_command c, uint64_t w0, uint64_t w1, uint64_t w2)
{
    assert_int_equal(c.word[0], w0);
    assert_int_equal(c.word[1], w1);
    assert_int_equal(c.word[2], w2);
    assert_int_equal(c.word[3], 0);
}

static void commands_have_their_fields_where_the_architecture_says(void **state)
{
    (void)state;
    expect_words(its_mapd(0x12345678, 5, 0xabcdef4321 << 8), 0x1234567800000008, 4,
                 0x8000abcdef432100);
    expect_words(its_mapc(0x3f, 0x8080a0000), 9, 0, 0x80000008080a003f);
    expect_words(its_mapti(0xffffffff, 0x1e, 0x2001, 7), 0xffffffff0000000a, 0x000020010000001e, 7);
    expect_words(its_movi(8, 3, 0xffff), 0x0000000800000001, 3, 0xffff);
    expect_words(its_discard(8, 3), 0x000000080000000f, 3, 0);
    expect_words(its_inv(8, 0x80000003), 0x000000080000000c, 0x80000003, 0);
    expect_words(its_int(8, 3), 0x0000000800000003, 3, 0);
    expect_words(its_sync(0x8080a0000), 5, 0, 0x8080a0000);
}

static void redistributors_are_named_by_address_or_by_number(void **state)
{
    const uint64_t pta = 1 << 19, number_17 = 17 << 8 | 0xff;

    (void)state;
    assert_int_equal(its_redist(pta, 0x800080a0000, number_17), 0x800080a0000);
    assert_int_equal(its_redist(~pta, 0x800080a0000, number_17), 17 << 16);
    assert_int_equal(its_redist(0, 0, UINT64_C(0xffffffffff0000ff) | 0xffff << 8),
                     UINT64_C(0xffff0000));
}

/* GITS_TYPER as QEMU's ITS and a large one have it. */
static void what_the_service_says_of_itself_is_read(void **state)
{
    const uint64_t qemu = 0x1f0001efb1;

    (void)state;
    assert_true(its_has_physical(qemu));
    assert_false(its_has_physical(qemu - 1));
    assert_int_equal(its_entry_bytes(qemu), 12);
    assert_int_equal(its_event_bits(qemu), 16);
    assert_int_equal(its_device_bits(qemu), 16);
    assert_int_equal(its_device_bits(UINT64_MAX), 32);
    assert_int_equal(its_table_type(UINT64_C(0x0407000000000200)), ITS_TABLE_COLLECTIONS);
    assert_int_equal(its_table_entry_bytes(UINT64_C(0x0407000000000200)), 8);
}

static void collections_are_what_registers_name_and_something_keeps(void **state)
{
    const uint64_t few = UINT64_C(1) << 36 | UINT64_C(3) << 32,
                   kept = 17 << 24; /* 4 bits; 17 without a table */

    (void)state;
    assert_int_equal(its_collections(0x1f0001efb1, 64), 64);
    assert_int_equal(its_collections(0, 0), 0);
    assert_int_equal(its_collections(kept, 0), 17);
    assert_int_equal(its_collections(kept, 64), 64);
    assert_int_equal(its_collections(few | kept, 64), 16);
    /* The field is not valid. */
    assert_int_equal(its_collections(few & ~(UINT64_C(1) << 36), 64), 64);
    assert_int_equal(its_collections(0, UINT64_C(1) << 20), 1 << 16);
}

static void a_table_that_fits_a_page_has_one_level(void **state)
{
    struct its_table t;

    (void)state;
    its_table_plan(&t, 9, 8, 0, true, 4 * MIB);
    assert_false(t.indirect);
    assert_int_equal(t.bytes, 4096);
    assert_int_equal(t.ids, 512);
    its_table_plan(&t, 6, 8, 2, true, 4 * MIB);
    assert_false(t.indirect);
    assert_int_equal(t.bytes, 64 * KIB);
    assert_int_equal(t.ids, 64);
}

static void a_larger_one_has_two_where_that_is_possible(void **state)
{
    struct its_table t;

    (void)state;
    its_table_plan(&t, 16, 8, 2, true, 4 * MIB);
    assert_true(t.indirect);
    assert_int_equal(t.bytes, 64 * KIB);
    assert_int_equal(t.ids, 1 << 16);
    its_table_plan(&t, 32, 8, 2, true, 4 * MIB);
    assert_true(t.indirect);
    assert_int_equal(t.bytes, (1 << 19) * 8);
    assert_int_equal(t.ids, UINT64_C(1) << 32);
    its_table_plan(&t, 16, 8, 2, false, 4 * MIB);
    assert_false(t.indirect);
    assert_int_equal(t.bytes, 512 * KIB);
    assert_int_equal(t.ids, 1 << 16);
}

static void what_cannot_be_had_in_a_row_has_no_entry(void **state)
{
    struct its_table t;

    (void)state;
    its_table_plan(&t, 20, 8, 2, false, 4 * MIB);
    assert_int_equal(t.bytes, 4 * MIB);
    assert_int_equal(t.ids, 512 * KIB);
    its_table_plan(&t, 20, 8, 0, false, 4 * MIB); /* 256 pages are the most */
    assert_int_equal(t.bytes, MIB);
    assert_int_equal(t.ids, 128 * KIB);
}

/* Every plan covers the ids that it claims, no more than asked for, and within the register's
 * limits. */
static void every_plan_holds_what_it_says(void **state)
{
    struct its_table t;

    (void)state;
    for (unsigned bits = 1; bits <= 32; bits++) {
        for (uint64_t entry = 1; entry <= 32; entry++) {
            for (unsigned kind = 0; kind < 6; kind++) {
                its_table_plan(&t, bits, entry, kind % 3, kind >= 3, 4 * MIB);
                assert_int_equal(t.page_bytes, (4 * KIB) << 2 * (kind % 3));
                assert_true(t.bytes && t.bytes % t.page_bytes == 0 &&
                            t.bytes / t.page_bytes <= 256);
                assert_true(t.bytes <= 4 * MIB && t.ids && t.ids <= UINT64_C(1) << bits);
                assert_true(kind >= 3 || !t.indirect);
                uint64_t last = t.ids - 1, each = t.page_bytes / entry;
                assert_true(t.indirect ? last / each * 8 + 8 <= t.bytes
                                       : last * entry + entry <= t.bytes);
                /* No id is left out if there is room for it. */
                assert_true(t.ids == UINT64_C(1) << bits ||
                            t.bytes + t.page_bytes > MIN(256 * t.page_bytes, 4 * MIB));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_have_their_fields_where_the_architecture_says),
        cmocka_unit_test(redistributors_are_named_by_address_or_by_number),
        cmocka_unit_test(what_the_service_says_of_itself_is_read),
        cmocka_unit_test(collections_are_what_registers_name_and_something_keeps),
        cmocka_unit_test(a_table_that_fits_a_page_has_one_level),
        cmocka_unit_test(a_larger_one_has_two_where_that_is_possible),
        cmocka_unit_test(what_cannot_be_had_in_a_row_has_no_entry),
        cmocka_unit_test(every_plan_holds_what_it_says),
    };

    return cmocka_run_group_tests_name("its_layout", tests, NULL, NULL);
}
