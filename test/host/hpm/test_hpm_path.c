/* Page logs and the complete driver of the simulated machine's page-access trackers, against units
 * that know what they logged: each thread's accesses come out in order wherever it ran, none under
 * another thread, and each lost entry is counted. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/path_threads.h"
#include "test/host/double/said.h"

static void the_unit_is_as_the_machine_says(void **state)
{
    (void)state;
    assert_string_equal(path_hardware(&unit_caps)->name, "model");
    assert_int_equal(unit_caps.pab_min, MACHINE_PATH_PAB_MIN);
    assert_int_equal(unit_caps.pab_max, MACHINE_PATH_PAB_MAX);
    assert_int_equal(unit_caps.filter_entries, MACHINE_PATH_FILTER_MAX);
    assert_int_equal(unit_caps.log_entries, MACHINE_PATH_LOG_MAX);
    assert_int_equal(path_sample_max(), MACHINE_PATH_SAMPLE_SHIFT_MAX);
    assert_int_equal(log_account().lost, 0);
    for (unsigned shift = 0; shift <= MACHINE_PATH_SAMPLE_SHIFT_MAX; shift++)
        for (uint64_t p = 0; p < 10000; p += 7)
            assert_int_equal(path_sampled(p << 20 ^ p, shift),
                             MACHINE_PATH_SAMPLED(p << 20 ^ p, shift));
}

static void nothing_is_asked_of_units_that_are_off(void **state)
{
    (void)state;
    watch_space(0, true);
    run_thread(0);
    assert_int_equal(path_double_access(PAGE_SIZE, false), PATH_UNSEEN);
    path_sample(3);
    run_thread(1);
    run_thread(NO_THREAD);
    path_flush();
    watch_space(0, false);
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++)
        assert_int_equal(path_double[c].registers, 0);
    ran = 0; /* in spaces that the hardware tracks */
}

static void accesses_come_out_with_their_thread_and_space(void **state)
{
    (void)state;
    run_thread(0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(access_page(i << PAGE_SHIFT, i % 2), PATH_LOGGED);
    assert_int_equal(access_page(3 << PAGE_SHIFT, true), PATH_KNOWN);
    run_thread(1);
    assert_int_equal(access_page(3 << PAGE_SHIFT, false), PATH_LOGGED); /* of another space */
    assert_int_equal(path_waiting(), 5);
    take_all();
    assert_int_equal(taken, 5); /* the batch of the running thread is open */
    path_flush();
    take_all();
    assert_int_equal(taken, 6); /* until it is flushed */
    expect_nothing_lost();
}

static void a_thread_that_moves_keeps_its_order(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        path_on(i % PATH_DOUBLE_CPUS);
        run_thread(3);
        access_page((vaddr_t)i << PAGE_SHIFT, false);
        access_page((vaddr_t)(i + 5000) << PAGE_SHIFT, true);
        host_ticks += 10;
        run_thread(NO_THREAD);
    }
    expect_nothing_lost();
    assert_int_equal(taken, 2000);
}

static void an_unwatched_space_costs_no_register_of_the_unit_but_one_store(void **state)
{
    (void)state;
    watch_space(0, false);
    run_thread(1);
    run_thread(0);
    uint64_t before = path_double[0].registers;
    assert_int_equal(path_double_access(PAGE_SIZE, false), PATH_UNSEEN);
    run_thread(5); /* of the same space */
    run_thread(0);
    assert_int_equal(path_double[0].registers, before);
    expect_nothing_lost();
}

static void the_kernel_in_between_costs_the_unit_nothing(void **state)
{
    (void)state;
    run_thread(0);
    access_page(PAGE_SIZE, false);
    run_thread(NO_THREAD);
    uint64_t before = path_double[0].registers;
    for (unsigned i = 0; i < 5; i++)
        run_thread(NO_THREAD);
    assert_int_equal(path_double[0].registers, before);
    run_thread(0);
    assert_int_equal(path_double[0].registers, before); /* the unit still tracks that space */
    assert_int_equal(access_page(PAGE_SIZE, false), PATH_KNOWN);
    expect_nothing_lost();
}

static void a_watch_begins_and_ends_on_every_cpu_at_once(void **state)
{
    (void)state;
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++) {
        path_on(c);
        run_thread(c == 2 ? 1 : c == 3 ? NO_THREAD : (int)(c * SPACES));
    }
    path_on(0);
    path_calls_busy = 3; /* another call is in progress there */
    watch_space(0, false);
    for (unsigned c = 0; c < 2; c++) {
        path_on(c);
        assert_int_equal(path_double_access(PAGE_SIZE, false), PATH_UNSEEN);
    }
    path_on(2);
    assert_int_equal(access_page(PAGE_SIZE, false), PATH_LOGGED);
    watch_space(0, true);
    for (unsigned c = 0; c < 2; c++) {
        path_on(c);
        assert_int_equal(access_page(PAGE_SIZE, false), PATH_LOGGED);
    }
    path_calls_dead = true;
    EXPECT_PANIC(path_watch(space_of(0), false));
    path_calls_dead = false;
    path_watch(space_of(0), true);
    EXPECT_PANIC(path_watch(0, true));
    EXPECT_PANIC(path_watch(PAGE_SPACES, true));
    expect_nothing_lost();
}

/* At the threshold the unit appends its entries itself; it interrupts when its part of the ring is
 * full. */
static void the_unit_spills_by_itself_and_then_interrupts(void **state)
{
    (void)state;
    run_thread(0);
    for (uint32_t i = 0; i < unit_config.threshold; i++)
        access_page((vaddr_t)i << PAGE_SHIFT, false);
    assert_int_equal(path_double[0].spills, 1);
    assert_int_equal(path_double[0].interrupts, 0);
    uint32_t n = unit_config.threshold;
    while (!path_double[0].interrupts && n < 4096)
        access_page((vaddr_t)n++ << PAGE_SHIFT, false);
    assert_in_range(n, unit_config.spill, unit_config.spill + unit_config.threshold);
    assert_int_equal(log_account().interrupts, 1);
    take_all();
    assert_int_equal(taken, n);
    while (path_double[0].interrupts < 2 && n < 8192) /* it was acknowledged */
        access_page((vaddr_t)n++ << PAGE_SHIFT, false);
    assert_int_equal(log_account().interrupts, 2);
    expect_nothing_lost();
}

static void a_unit_that_does_not_spill_interrupts_in_time(void **state)
{
    struct path_config c = unit_config;

    (void)state;
    c.spill = 0;
    path_hardware_stop();
    assert_int_equal(path_hardware_start(&c), 0);
    run_thread(0);
    for (uint32_t i = 0; i < 2000; i++)
        access_page((vaddr_t)i << PAGE_SHIFT, false);
    assert_int_equal(log_account().interrupts, 2000 / unit_config.threshold);
    host_irqs_on = false; /* accesses before the entries are taken still find room */
    for (uint32_t i = 0; i < ENTRIES_MAX - 2000 % unit_config.threshold; i++)
        assert_int_equal(access_page((vaddr_t)(3000 + i) << PAGE_SHIFT, false), PATH_LOGGED);
    assert_int_equal(access_page((vaddr_t)4000 << PAGE_SHIFT, false), PATH_LOST);
    arch_irq_restore(true);
    assert_int_equal(access_page((vaddr_t)4000 << PAGE_SHIFT, false),
                     PATH_LOGGED); /* the page was not in the filter */
    expect_nothing_uncounted();
    assert_int_equal(log_account().lost, 1);
}

static void interrupts_for_nothing_change_nothing(void **state)
{
    (void)state;
    path_double_spurious(); /* no thread has run yet */
    run_thread(0);
    access_page(PAGE_SIZE, false);
    for (unsigned i = 0; i < 3; i++)
        path_double_spurious();
    access_page(2 * PAGE_SIZE, false);
    run_thread(NO_THREAD);
    path_double_spurious();
    assert_int_equal(log_account().interrupts, 5);
    path_hardware_stop();
    path_double_spurious(); /* one that was on its way */
    assert_int_equal(path_hardware_start(&unit_config), 0);
    host_cpu->pages = NULL; /* before there were logs */
    path_double_spurious();
    path_switch(5, 1);
    path_flush();
    assert_false(path_note(1, PAGE_SIZE, false));
    assert_int_equal(path_waiting(), 0);
    begin(); /* what was allocated has been freed */
}

static void what_idles_has_not_run(void **state)
{
    (void)state;
    run_thread(0);
    access_page(PAGE_SIZE, false);
    host_ticks += 100;
    run_thread(NO_THREAD);
    host_ticks += 10000;
    path_double_spurious();
    watch_space(1, false); /* every CPU is told */
    host_ticks += 10000;
    watch_space(1, true);
    run_thread(5);
    host_ticks += 10;
    expect_nothing_lost();
    assert_int_equal(log_account().ran, 110);
}

static void software_logs_too_and_a_foreign_space_is_a_batch_of_its_own(void **state)
{
    unsigned count;
    struct page_log *const *logs = path_logs(&count);
    struct page_run r;

    (void)state;
    run_thread(0);
    assert_true(path_note(space_of(0), 5 * PAGE_SIZE, true));
    assert_true(path_note(space_of(1), 6 * PAGE_SIZE, false));
    assert_true(path_note(space_of(1), 7 * PAGE_SIZE, true));
    assert_false(path_note(0, PAGE_SIZE, true));
    run_thread(NO_THREAD);
    page_log_next(logs[0], &r);
    assert_int_equal(r.tid, tid_of(0));
    assert_int_equal(r.space, space_of(0));
    assert_int_equal(r.entry[0][0],
                     (uint64_t)space_of(0) << PAGE_ENTRY_SPACE_SHIFT | PAGE_ENTRY_WRITE | 5);
    page_log_taken(logs[0]);
    page_log_next(logs[0], &r);
    assert_int_equal(r.tid, 0);
    assert_int_equal(r.space, space_of(1));
    assert_int_equal(r.count[0], 2);
    page_log_taken(logs[0]);
    assert_null(page_log_earliest(logs, count, UINT64_MAX));
    /* A program without switches ends its batches as well; entries without room are counted. */
    run_thread(0);
    unsigned noted = 0;
    while (path_note(space_of(0), noted * PAGE_SIZE, false) && noted < 10000)
        noted++;
    assert_in_range(path_waiting(), noted - 32, noted);
    for (unsigned i = 0; i < 9; i++)
        assert_false(path_note(space_of(0), PAGE_SIZE, false));
    assert_int_equal(log_account().lost, 11);
    while (page_log_earliest(logs, count, UINT64_MAX))
        page_log_taken(logs[0]);
    assert_true(path_note(space_of(0), PAGE_SIZE, false));
}

static void what_is_hot_is_asked_of_every_cpu_and_forgotten_by_every_one(void **state)
{
    const struct path_ops *ops = path_hardware(&unit_caps);

    (void)state;
    path_on(1);
    run_thread(0);
    access_page(5 * PAGE_SIZE, false);
    access_page(5 * PAGE_SIZE, false);
    access_page(6 * PAGE_SIZE, false);
    path_on(0);
    bool irq = arch_irq_save();
    assert_int_equal(ops->buffered(space_of(0), 5 * PAGE_SIZE + 123), BUFFER_USED);
    assert_int_equal(ops->buffered(space_of(0), 5 * PAGE_SIZE), BUFFER_KEPT); /* not used since */
    /* BUFFER_USED is returned once */
    assert_int_equal(ops->buffered(space_of(0), 6 * PAGE_SIZE), BUFFER_KEPT);
    assert_int_equal(ops->buffered(space_of(1), 5 * PAGE_SIZE), BUFFER_NOT_KEPT);
    assert_int_equal(ops->buffered(space_of(0), 7 * PAGE_SIZE), BUFFER_NOT_KEPT);
    ops->forget(space_of(0), 5 * PAGE_SIZE);
    arch_irq_restore(irq);
    path_on(1);
    assert_int_equal(access_page(5 * PAGE_SIZE, false), PATH_LOGGED); /* logged anew */
    assert_int_equal(access_page(6 * PAGE_SIZE, false), PATH_KNOWN);
    path_on(0);
    irq = arch_irq_save();
    ops->forget_space(space_of(1));
    arch_irq_restore(irq);
    path_on(1);
    assert_int_equal(access_page(6 * PAGE_SIZE, false), PATH_KNOWN);
    irq = arch_irq_save();
    ops->forget_space(space_of(0));
    arch_irq_restore(irq);
    assert_int_equal(access_page(6 * PAGE_SIZE, false), PATH_LOGGED);
    expect_nothing_lost();
}

static void a_smaller_sample_is_followed_from_the_next_switch_on(void **state)
{
    (void)state;
    run_thread(0);
    access_page(PAGE_SIZE, false);
    path_sample(4);
    assert_int_equal(path_sample_shift(), 4);
    run_thread(1);
    assert_int_equal(path_double[0].sample_shift, 4);
    unsigned in_sample = 0;
    for (unsigned i = 2; i < 2000; i++)
        in_sample += access_page((vaddr_t)i << PAGE_SHIFT, false) == PATH_LOGGED;
    assert_in_range(in_sample, 60, 190);
    path_sample(99);
    assert_int_equal(path_sample_shift(), MACHINE_PATH_SAMPLE_SHIFT_MAX);
    path_double_spurious();
    assert_int_equal(path_double[0].sample_shift, MACHINE_PATH_SAMPLE_SHIFT_MAX);
    path_hardware_stop();
    assert_int_equal(path_hardware_start(&unit_config), 0);
    assert_int_equal(path_double[0].sample_shift,
                     MACHINE_PATH_SAMPLE_SHIFT_MAX); /* a unit starts at shift 0 and is told */
    expect_nothing_lost();
}

static void a_larger_sample_is_followed_at_once_by_all_CPUs(void **state)
{
    (void)state;
    path_sample(4);
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++) {
        path_on(c);
        run_thread((int)c);
        assert_int_equal(path_double[c].sample_shift, 4);
    }
    path_sample(1);
    for (unsigned c = 0; c < PATH_DOUBLE_CPUS; c++)
        assert_int_equal(path_double[c].sample_shift, 1);
    expect_nothing_lost();
}

static void what_units_were_told_before_they_stopped_is_forgotten(void **state)
{
    (void)state;
    path_sample(4);
    run_thread(0);
    path_hardware_stop();
    watch_space(0, false);
    path_sample(0);
    assert_int_equal(path_hardware_start(&unit_config), 0);
    assert_int_equal(path_double_access(PAGE_SIZE, false), PATH_UNSEEN);
    run_thread(1);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(access_page(i << PAGE_SHIFT, false), PATH_LOGGED);
    expect_nothing_lost();
}

static void without_message_interrupts_it_says_so_and_switches_drain(void **state)
{
    (void)state;
    path_double_no_msi = true;
    assert_int_equal(path_hardware_start(&unit_config), 0);
    assert_non_null(strstr(said, "cannot interrupt"));
    watch_space(0, true);
    run_thread(0);
    for (unsigned i = 0; i < 5000; i++) {
        access_page((vaddr_t)i << PAGE_SHIFT, false);
        if (i % 100 == 99) {
            run_thread(NO_THREAD);
            take_all();
            run_thread(0);
        }
    }
    assert_int_equal(path_double[0].interrupts, 0);
    expect_nothing_lost();
}

static void a_unit_that_refuses_leaves_all_of_them_off(void **state)
{
    (void)state;
    watch_space(0, true);
    path_double_refuses = 2;
    assert_int_equal(path_hardware_start(&unit_config), -EIO);
    run_thread(0);
    assert_int_equal(path_double_access(PAGE_SIZE, false), PATH_UNSEEN);
    run_thread(NO_THREAD);
    path_double_refuses = -1;
    assert_int_equal(path_hardware_start(&unit_config), 0);
    run_thread(0);
    assert_int_equal(access_page(PAGE_SIZE, false), PATH_LOGGED);
    assert_string_equal(said, "");
    expect_nothing_lost();
    struct path_config wrong = unit_config;
    wrong.pab_entries = 100;
    path_hardware_stop();
    EXPECT_PANIC(path_hardware_start(&wrong));
    host_irqs_on = true;
    path_on(0);
}

static void without_memory_there_are_no_logs(void **state)
{
    (void)state;
    path_kernel_end();
    path_kernel_boot();
    path_frames_max = PATH_DOUBLE_CPUS - 1;
    assert_int_equal(path_logs_init(), -ENOMEM);
    /* memory taken for the last CPU was freed */
    assert_int_equal(path_heap, PATH_DOUBLE_CPUS - 1);
    path_frames_max = 256;
    path_kernel_end();
    begin();
}

/* A thread leaves while the log is full: what its unit still holds is never attributed to the next
 * thread. */
static void what_a_thread_leaves_in_the_unit_is_not_the_next_ones(void **state)
{
    (void)state;
    run_thread(0);
    for (unsigned i = 0; path_double[0].lost == 0; i++)
        access_page((vaddr_t)i << PAGE_SHIFT, false);
    assert_int_equal(path_double[0].logged, ENTRIES_MAX);
    run_thread(1);
    path_double_access(PAGE_SIZE, false);
    take_all();
    uint64_t before = taken;
    path_flush();
    access_page(4 * PAGE_SIZE, false);
    path_flush();
    take_all();
    assert_int_equal(taken, before + 1); /* once the unit is empty it works as before */
    run_thread(2);
    access_page(2 * PAGE_SIZE, false);
    run_thread(0);
    access_page(3 * PAGE_SIZE, false);
    expect_nothing_uncounted();
}

/* A program that never enters the kernel finds the log full: its unit does not interrupt, whichever
 * CPU makes room. */
static void a_unit_that_found_no_room_goes_on_when_there_is_some(void **state)
{
    unsigned page = 0;

    (void)state;
    run_thread(0);
    while (path_double[0].lost == 0)
        access_page((vaddr_t)page++ << PAGE_SHIFT, false);
    path_on(1);
    take_all();
    path_resume();
    path_on(0);
    uint64_t lost = path_double[0].lost;
    for (unsigned i = 0; i < 2000; i++)
        access_page((vaddr_t)page++ << PAGE_SHIFT, false);
    assert_int_equal(path_double[0].lost, lost);
    uint64_t registers = path_double[0].registers;
    path_resume(); /* no CPU waits for it */
    assert_int_equal(path_double[0].registers, registers);
    expect_nothing_uncounted();
}

static void what_units_hold_when_they_stop_is_counted(void **state)
{
    (void)state;
    run_thread(0);
    for (unsigned i = 0; path_double[0].lost < 5; i++)
        access_page((vaddr_t)i << PAGE_SHIFT, false);
    path_hardware_stop();
    take_all();
    /* The unit hands over those five when it next drains. */
    assert_int_equal(log_account().lost, ENTRIES_MAX);
    assert_int_equal(path_hardware_start(&unit_config), 0);
    access_page(PAGE_SIZE, false);
    expect_nothing_uncounted();
}

/* There is room for entries, but not for batches. */
static void more_batches_than_there_is_room_for_are_lost(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PAGE_BATCHES; i++) {
        run_thread((int)(i % 3));
        access_page((vaddr_t)i << PAGE_SHIFT, false);
    }
    run_thread(4);
    for (unsigned i = 0; i < 4 * unit_config.threshold; i++)
        access_page((vaddr_t)i << PAGE_SHIFT, false);
    for (unsigned i = 0; i < 3; i++) {
        run_thread(3);
        access_page((vaddr_t)i << PAGE_SHIFT, false);
        run_thread(4);
    }
    check_logs();
    expect_nothing_uncounted();
}

/* ---- At random ------------------------------------------------------------------------------- */

static void step(bool starved)
{
    unsigned what = below(1000), space = below(SPACES);
    int thread = (int)below(THREADS);

    path_on(below(PATH_DOUBLE_CPUS));
    host_ticks += below(50);
    if (what < 60 && !is_running(thread))
        run_thread(thread);
    else if (what < 80)
        run_thread(NO_THREAD);
    else if (what < 85)
        watch_space(space, below(4));
    else if (what < 90)
        path_sample(below(3));
    else if (what < 100)
        path_flush();
    else if (what < 110)
        path_double_spurious();
    else if (what < (starved ? 111 : 200))
        starved ? take_all() : (void)take_one();
    else if (on_cpu[host_cpu->index] != NO_THREAD) {
        bool late = below(50) == 0;
        unsigned n = 1 + below(starved ? 60 : 20);
        if (late)
            arch_irq_save();
        for (unsigned i = 0; i < n; i++)
            access_page(some_page(), below(2));
        if (late)
            arch_irq_restore(true);
    }
}

static void many_threads(bool starved, uint64_t from, uint32_t spill)
{
    struct path_config c = unit_config;

    begin();
    random_state = from;
    c.spill = spill;
    for (unsigned s = 0; s < SPACES; s++)
        watch_space(s, true);
    assert_int_equal(path_hardware_start(&c), 0);
    for (unsigned i = 0; i < 30000; i++) {
        step(starved);
        if (i % 500 == 0)
            check_logs();
    }
    if (starved)
        assert_true(path_double_lost() > 0);
    if (starved)
        expect_nothing_uncounted();
    else
        expect_nothing_lost();
    assert_true(taken > 5000);
    end_threads(NULL);
}

static void random_threads_lose_nothing_where_there_is_room(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 6; i++)
        many_threads(false, i, i % 2 ? unit_config.spill : 0);
    begin();
}

static void random_threads_lose_nothing_uncounted_where_there_is_none(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 6; i++)
        many_threads(true, i, i % 2 ? unit_config.spill : 0);
    begin();
}

#define TEST(setup, name) cmocka_unit_test_setup_teardown(name, setup, end_threads)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(boot_threads, the_unit_is_as_the_machine_says),
        TEST(boot_threads, nothing_is_asked_of_units_that_are_off),
        TEST(start_threads, accesses_come_out_with_their_thread_and_space),
        TEST(start_threads, a_thread_that_moves_keeps_its_order),
        TEST(start_threads, an_unwatched_space_costs_no_register_of_the_unit_but_one_store),
        TEST(start_threads, the_kernel_in_between_costs_the_unit_nothing),
        TEST(start_threads, a_watch_begins_and_ends_on_every_cpu_at_once),
        TEST(start_threads, the_unit_spills_by_itself_and_then_interrupts),
        TEST(start_threads, a_unit_that_does_not_spill_interrupts_in_time),
        TEST(start_threads, interrupts_for_nothing_change_nothing),
        TEST(start_threads, what_idles_has_not_run),
        TEST(start_threads, software_logs_too_and_a_foreign_space_is_a_batch_of_its_own),
        TEST(start_threads, what_is_hot_is_asked_of_every_cpu_and_forgotten_by_every_one),
        TEST(start_threads, a_smaller_sample_is_followed_from_the_next_switch_on),
        TEST(start_threads, a_larger_sample_is_followed_at_once_by_all_CPUs),
        TEST(start_threads, what_units_were_told_before_they_stopped_is_forgotten),
        TEST(boot_threads, without_message_interrupts_it_says_so_and_switches_drain),
        TEST(boot_threads, a_unit_that_refuses_leaves_all_of_them_off),
        TEST(boot_threads, without_memory_there_are_no_logs),
        TEST(start_threads, what_a_thread_leaves_in_the_unit_is_not_the_next_ones),
        TEST(start_threads, a_unit_that_found_no_room_goes_on_when_there_is_some),
        TEST(start_threads, what_units_hold_when_they_stop_is_counted),
        TEST(start_threads, more_batches_than_there_is_room_for_are_lost),
        TEST(boot_threads, random_threads_lose_nothing_where_there_is_room),
        TEST(boot_threads, random_threads_lose_nothing_uncounted_where_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
