/* Page logs without a page-access tracker: its absence is reported, and software's entries are
 * logged. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/path_kernel.h"

static void a_unit_that_is_missing_is_not_found(void **state)
{
    struct path_caps caps;

    (void)state;
    path_kernel_boot();
    path_double_no_machine = true;
    assert_int_equal(path_model.probe(&caps), -ENODEV);
    path_double_no_machine = false;
    path_double_no_unit = true;
    path_kernel_boot();
    assert_int_equal(path_model.probe(&caps), -ENODEV);
    assert_null(path_hardware(&caps));
    assert_int_equal(caps.log_entries, 0);
    path_double_no_unit = false;
    path_kernel_boot();
    assert_null(path_hardware(&caps)); /* it is probed once */
}

static void software_logs_without_a_unit(void **state)
{
    unsigned count;
    struct page_run r;

    (void)state;
    path_kernel_boot();
    assert_int_equal(path_logs_init(), 0);
    assert_int_equal(path_sample_max(), 0);
    path_sample(5);
    assert_int_equal(path_sample_shift(), 0);
    EXPECT_PANIC(path_hardware_start(&(struct path_config){.pab_entries = 128}));
    path_watch(7, true);
    bool irq = arch_irq_save();
    path_switch(3, 7);
    arch_irq_restore(irq);
    assert_true(path_note(7, 9 * PAGE_SIZE, true));
    path_flush();
    page_log_next(path_logs(&count)[0], &r);
    assert_int_equal(r.tid, 3);
    assert_int_equal(r.entry[0][0], (uint64_t)7 << PAGE_ENTRY_SPACE_SHIFT | PAGE_ENTRY_WRITE | 9);
    assert_int_equal(path_double[0].registers, 0);
    path_kernel_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_that_is_missing_is_not_found),
        cmocka_unit_test(software_logs_without_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
