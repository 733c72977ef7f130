/* timers.c: when lwIP's timers run. */
#include "test/host/double/expect_panic.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"
#include "test/host/double/lwip_host.h"

/* Must be the first test. */
static void no_timer_runs_before_lwip_has_begun(UNUSED void **state)
{
    assert_int_equal(sys_timeouts_sleeptime(), SYS_TIMEOUTS_SLEEPTIME_INFINITE);
    sys_check_timeouts();
    lwip_host_start();
    assert_int_not_equal(sys_timeouts_sleeptime(), SYS_TIMEOUTS_SLEEPTIME_INFINITE);
}

static void tcps_timer_runs_while_there_are_connections(UNUSED void **state)
{
    struct tcp_pcb *pcb;
    ip_addr_t to;

    lwip_pass(1000, 10);
    assert_true(sys_timeouts_sleeptime() > TCP_TMR_INTERVAL);
    IP4_ADDR(&to, 127, 0, 0, 1);
    pcb = tcp_new();
    tcp_connect(pcb, &to, 80, NULL);
    assert_true(sys_timeouts_sleeptime() <= TCP_TMR_INTERVAL);
    tcp_abort(pcb);
    lwip_end_all();
}

static void the_next_timer_is_never_overdue_after_a_check(UNUSED void **state)
{
    for (unsigned i = 0; i < 1000; i++) {
        lwip_sys_now += i * 7;
        sys_check_timeouts();
        assert_int_not_equal(sys_timeouts_sleeptime(), 0);
    }
}

static void time_may_wrap(UNUSED void **state)
{
    while (lwip_sys_now < UINT32_MAX - 500)
        lwip_pass(1, MIN(1000000000u, UINT32_MAX - 500 - lwip_sys_now));
    lwip_pass(3000, 10);
    assert_true(sys_timeouts_sleeptime() <= 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_timer_runs_before_lwip_has_begun),
        cmocka_unit_test(tcps_timer_runs_while_there_are_connections),
        cmocka_unit_test(the_next_timer_is_never_overdue_after_a_check),
        cmocka_unit_test(time_may_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
