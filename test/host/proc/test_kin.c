/* Rules of processes among each other. */
#include "test/host/double/expect_panic.h"
#include "kernel/proc/kin.h"
#include <sys/wait.h>

static const struct kin_child running = {.pid = 7, .group = 5},
                              ended = {.pid = 7, .group = 5, .ended = true},
                              stopped = {.pid = 7, .group = 5, .stop = 19},
                              resumed = {.pid = 7, .group = 5, .goes_on = true};

static void a_wait_is_for_any_one_or_a_group(void **state)
{
    (void)state;
    struct kin_wait any = {.exited = true}, one = {.which = KIN_PID, .id = 7, .exited = true},
                    group = {.which = KIN_GROUP, .id = 5, .exited = true};

    assert_int_equal(kin_look(&any, &ended), KIN_EXITED);
    assert_int_equal(kin_look(&one, &ended), KIN_EXITED);
    assert_int_equal(kin_look(&group, &ended), KIN_EXITED);
    one.id = 5;
    group.id = 7;
    assert_int_equal(kin_look(&one, &ended), KIN_NOT_ITS);
    assert_int_equal(kin_look(&group, &ended), KIN_NOT_ITS);
}

static void a_wait_learns_what_it_asks_for(void **state)
{
    (void)state;
    struct kin_wait exits = {.exited = true}, stops = {.stopped = true},
                    resumes = {.continued = true};

    assert_int_equal(kin_look(&exits, &running), KIN_NONE);
    assert_int_equal(kin_look(&exits, &stopped), KIN_NONE);
    assert_int_equal(kin_look(&stops, &stopped), KIN_STOPPED);
    assert_int_equal(kin_look(&stops, &resumed), KIN_NONE);
    assert_int_equal(kin_look(&resumes, &resumed), KIN_CONTINUED);
    /* What has ended can neither stop nor go on. */
    assert_int_equal(kin_look(&stops, &ended), KIN_NOT_ITS);
    struct kin_child waited = ended;
    waited.waited = true;
    assert_int_equal(kin_look(&exits, &waited), KIN_NOT_ITS);
}

static void clones_are_waited_for_by_those_that_ask(void **state)
{
    (void)state;
    struct kin_wait want = {.exited = true};
    struct kin_child clone = ended;

    clone.clone = true;
    assert_int_equal(kin_look(&want, &clone), KIN_NOT_ITS);
    want.clones = true;
    assert_int_equal(kin_look(&want, &clone), KIN_EXITED);
    assert_int_equal(kin_look(&want, &ended), KIN_NOT_ITS);
    want.all = true;
    assert_int_equal(kin_look(&want, &ended), KIN_EXITED);
}

static void statuses_are_as_wait_has_them(void **state)
{
    (void)state;
    for (int n = 0; n < 256; n++) {
        int status = (int)kin_wait_status(KIN_EXITED, (struct kin_end){(uint8_t)n, false}, 0), told;
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == n);
        assert_int_equal(kin_code(KIN_EXITED, (struct kin_end){(uint8_t)n, false}, 0, &told), 1);
        assert_int_equal(told, n);
    }
    for (int n = 1; n <= 64; n++) {
        struct kin_end end = {(uint8_t)(128 + n), true};
        int status = (int)kin_wait_status(KIN_EXITED, end, 0), told;
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == n);
        assert_int_equal(kin_code(KIN_EXITED, end, 0, &told), 2);
        assert_int_equal(told, n);
        status = (int)kin_wait_status(KIN_STOPPED, (struct kin_end){0}, (uint8_t)n);
        assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == n);
    }
    assert_true(WIFCONTINUED((int)kin_wait_status(KIN_CONTINUED, (struct kin_end){0}, 0)));
}

static void groups_are_joined_in_ones_session_alone(void **state)
{
    (void)state;
    const struct kin_move child = {.child = true, .same_session = true, .group_in_session = true};
    struct kin_move m = child;

    assert_int_equal(kin_may_move(&m), 0);
    m.child = false;
    assert_int_equal(kin_may_move(&m), -ESRCH);
    m = child;
    m.same_session = false;
    assert_int_equal(kin_may_move(&m), -EPERM);
    m = child;
    m.runs_another = true;
    assert_int_equal(kin_may_move(&m), -EACCES);
    m = child;
    m.group_in_session = false;
    assert_int_equal(kin_may_move(&m), -EPERM);
    m.own_group = true;
    assert_int_equal(kin_may_move(&m), 0);
    m.leads_session = true;
    assert_int_equal(kin_may_move(&m), -EPERM);
    m = (struct kin_move){.self = true, .runs_another = true, .own_group = true};
    assert_int_equal(kin_may_move(&m), 0);
}

static void a_parent_in_another_group_of_the_session_connects(void **state)
{
    (void)state;
    assert_true(kin_connects(5, 1, 4, 1));
    assert_false(kin_connects(5, 1, 5, 1));
    assert_false(kin_connects(5, 1, 4, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_for_any_one_or_a_group),
        cmocka_unit_test(a_wait_learns_what_it_asks_for),
        cmocka_unit_test(clones_are_waited_for_by_those_that_ask),
        cmocka_unit_test(statuses_are_as_wait_has_them),
        cmocka_unit_test(groups_are_joined_in_ones_session_alone),
        cmocka_unit_test(a_parent_in_another_group_of_the_session_connects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
