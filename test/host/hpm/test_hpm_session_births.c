/* Logical counts that are born again: a session shows no counts of its number's predecessor. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_session_truth.h"

static void run_thread_0(enum machine_event event, uint64_t n)
{
    move_to(0, 0);
    for (unsigned i = 0; i < 100; i++) {
        double_execute(1000, 300000);
        double_count(event, n);
    }
    move_to(0, -1);
}

static void assert_nothing(const struct hpm_session *s, const struct hpm_sums *sums)
{
    struct hpm_value v = value(s, 0, sums);

    assert_int_equal(v.estimate.count, 0);
    assert_int_equal(v.estimate.low, 0);
    assert_int_equal(v.seen_permille, 0);
}

static void a_number_born_again_shows_nothing_of_its_predecessor(void **state)
{
    struct hpm_sums before = {0}, ended = {0}, machine = {0}, thread = {0};

    (void)state;
    begin_truth();
    struct hpm_session *first = open_names("L1I_MISSES:u");
    uint64_t number = hpm_session_counts(first);
    run_thread_0(MACHINE_EVENT_L1I_MISSES, 1000);
    assert_true(value_of_thread(first, 0, 0).estimate.count > 50000);
    hpm_sum_thread(&threads[0], UINT64_MAX, &before);
    hpm_sum_thread(&threads[0], UINT64_MAX, &ended);
    hpm_session_close(first);

    struct hpm_session *second = open_names("TLB_MISSES:u");
    assert_int_equal(hpm_session_counts(second), number);
    assert_nothing(second, &before); /* read under the plan before */
    assert_nothing(second, &ended);
    hpm_sum_thread(&threads[0], number, &thread); /* the thread has not run since */
    assert_nothing(second, &thread);
    hpm_sum_thread(&threads[1], number, &ended); /* added to an older sum */
    assert_nothing(second, &ended);
    hpm_sum_machine(number, &machine);
    assert_int_equal(value(second, 0, &machine).estimate.count, 0);

    run_thread_0(MACHINE_EVENT_TLB_MISSES, 7);
    assert_in_range(value_of_thread(second, 0, 0).estimate.count, 1, 100 * 7 * 3);
    hpm_sum_thread(&threads[0], number, &ended);
    assert_in_range(value(second, 0, &ended).estimate.count, 1, 100 * 7 * 3);
    hpm_session_close(second);
}

static void a_thread_that_slept_through_a_session_has_nothing_of_it(void **state)
{
    (void)state;
    begin_truth();
    run_thread_0(MACHINE_EVENT_STORES, 3);
    struct hpm_session *kept = open_names("instructions,STORES"),
                       *other = open_names("LOADS:u,STORES:k");
    struct hpm_value v = value_of_thread(kept, 0, 0);
    assert_int_equal(v.estimate.count, 0);
    hpm_session_close(other);
    other = open_names("ipc,L1I_MISSES:k");
    uint64_t began = truth_of(0, MACHINE_EVENT_INSTRUCTIONS);
    run_thread_0(MACHINE_EVENT_STORES, 3);
    v = value_of_thread(kept, 0, 0);
    assert_exact(&v, truth_of(0, MACHINE_EVENT_INSTRUCTIONS) - began);
    assert_int_equal(value_of_thread(kept, 0, 1).estimate.count, 0);
    hpm_session_close(other);
    hpm_session_close(kept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sessions_set_up, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_number_born_again_shows_nothing_of_its_predecessor),
        TEST(a_thread_that_slept_through_a_session_has_nothing_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
