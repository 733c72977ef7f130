/* An initrd is taken only where memory can hold it, and is listed so that nothing overwrites it. */
#include "test/host/double/expect_panic.h"
#include "kernel/boot/boot_info.h"

static struct boot_info info;

/* Two banks that touch, a third above a gap, a reservation, and the image. */
static int machine(void **state)
{
    (void)state;
    memset(&info, 0, sizeof(info));
    info.kernel_base = 2 * MIB;
    info.kernel_size = 4 * MIB;
    boot_mem_add(&info, 0, 64 * MIB, BOOT_MEM_USABLE);
    boot_mem_add(&info, 64 * MIB, 64 * MIB, BOOT_MEM_USABLE);
    boot_mem_add(&info, 256 * MIB, 64 * MIB, BOOT_MEM_USABLE);
    boot_mem_add(&info, 32 * MIB, MIB, BOOT_MEM_RESERVED);
    boot_mem_add(&info, info.kernel_base, info.kernel_size, BOOT_MEM_KERNEL);
    return 0;
}

static void without_bytes_there_is_none(void **state)
{
    size_t count = info.mem_count;

    (void)state;
    assert_int_equal(boot_initrd_set(&info, 0xfff, 0), 0);
    assert_int_equal(info.initrd.bytes, 0);
    assert_int_equal(info.mem_count, count);
}

static void an_initrd_in_memory_is_taken(void **state)
{
    static const struct boot_initrd good[] = {
        {6 * MIB, 1},                               /* behind the image */
        {0, 2 * MIB},          {63 * MIB, 2 * MIB}, /* in two banks */
        {32 * MIB, MIB},                            /* reserved for itself */
        {319 * MIB + 5, 4091},                      /* no page's beginning */
        {319 * MIB, MIB},                           /* to the last byte */
    };

    for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
        machine(state);
        assert_int_equal(boot_initrd_set(&info, good[i].base, good[i].bytes), 0);
        assert_int_equal(info.initrd.base, good[i].base);
        assert_int_equal(info.initrd.bytes, good[i].bytes);
        assert_int_equal(boot_mem_type_of(&info, good[i].base), BOOT_MEM_KERNEL);
        assert_int_equal(boot_mem_type_of(&info, good[i].base + good[i].bytes - 1),
                         BOOT_MEM_KERNEL);
        assert_int_equal(boot_initrd_set(&info, good[i].base, 1), -EEXIST);
    }
}

static void what_is_not_memory_is_refused(void **state)
{
    static const struct boot_initrd bad[] = {
        {127 * MIB, MIB + 1}, {128 * MIB, 1},         {120 * MIB, 140 * MIB}, {319 * MIB, MIB + 1},
        {UINT64_MAX - 1, 2},  {63 * MIB, UINT64_MAX}, {6 * MIB - 1, 1}, /* in the image */
        {MIB, 10 * MIB},      {0, 2 * MIB + 1},
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        machine(state);
        size_t count = info.mem_count;
        assert_int_equal(boot_initrd_set(&info, bad[i].base, bad[i].bytes), -EINVAL);
        assert_int_equal(info.initrd.bytes, 0);
        assert_int_equal(info.mem_count, count);
    }
}

static void a_full_table_is_an_error(void **state)
{
    (void)state;
    while (info.mem_count < BOOT_MEM_MAX)
        boot_mem_add(&info, 512 * MIB, 1, BOOT_MEM_RESERVED);
    assert_int_equal(boot_initrd_set(&info, 64 * MIB, MIB), -ENOSPC);
    assert_int_equal(info.initrd.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_bytes_there_is_none, machine),
        cmocka_unit_test_setup(an_initrd_in_memory_is_taken, machine),
        cmocka_unit_test_setup(what_is_not_memory_is_refused, machine),
        cmocka_unit_test_setup(a_full_table_is_an_error, machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
