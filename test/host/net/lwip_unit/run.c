/* lwIP's own tests of what the kernel uses of it, with the kernel's options as far as they allow
 * (lwipopts.h). Tests of protocols that the kernel does not build (DNS, IPv6, mDNS, MQTT, PPP,
 * sockets), and of lwIP's heap, which the kernel replaces, are left out. */
#include <stdio.h>
#include "lwip_check.h"
#include "core/test_def.h"
#include "core/test_netif.h"
#include "core/test_pbuf.h"
#include "core/test_timers.h"
#include "dhcp/test_dhcp.h"
#include "etharp/test_etharp.h"
#include "ip4/test_ip4.h"
#include "lwip/init.h"
#include "lwip/stats.h"
#include "tcp/test_tcp.h"
#include "tcp/test_tcp_oos.h"
#include "tcp/test_tcp_state.h"
#include "udp/test_udp.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

/* There is no thread whose messages would be waited for. */
int tcpip_thread_poll_one(void)
{
    return 0;
}

/* Tests that are not run, as they need IPv6. */
static bool is_left_out(testfunc test)
{
    return !strcmp(test->name, "test_udp_bind");
}

/* Part of lwIP's runner, which takes tests of everything. */
Suite *create_suite(const char *name, testfunc *tests, size_t n, SFun setup, SFun teardown)
{
    Suite *s = suite_create(name);

    for (size_t i = 0; i < n; i++) {
        if (is_left_out(tests[i]))
            continue;
        TCase *tc = tcase_create(name);
        if (setup || teardown)
            tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_named_test(tc, tests[i]);
        suite_add_tcase(s, tc);
    }
    return s;
}

/* `skip`: a bit for each pool that is not looked at. */
void lwip_check_ensure_no_alloc(unsigned skip)
{
    if (!(skip & SKIP_HEAP))
        fail_unless(lwip_stats.mem.used == 0);
    for (unsigned i = 0; i < MEMP_MAX; i++)
        if (!(skip & SKIP_POOL(i)))
            fail_unless(lwip_stats.memp[i]->used == 0);
}

int main(void)
{
    static suite_getter_fn *const suites[] = {
        udp_suite,   tcp_suite,  tcp_oos_suite, tcp_state_suite, def_suite,
        netif_suite, pbuf_suite, timers_suite,  etharp_suite,    dhcp_suite};
    SRunner *runner = srunner_create(ip4_suite());
    int failed;

    lwip_init();
    for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
        srunner_add_suite(runner, suites[i]());
    srunner_set_tap(runner, "-"); /* for prove */
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
