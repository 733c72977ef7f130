/*
 * Does one thing over and over between the marks costs-begin and costs-end, for who measures what it costs.
 *
 *   costs none N     nothing: what the others' loops take
 *   costs read N     readings of two counts of the calling thread
 *   costs switch N   switches between two threads that give way to each other; on one CPU
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"

static unsigned long times;
static int over; /* atomic */

static void *give_way(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        sched_yield();
    return unused;
}

static void read_counts(int session, unsigned long n)
{
    const struct sys_hpm_read own = {.session = (uint32_t)session, .scope = SYS_SCOPE_THREAD};
    static struct sys_hpm_value values[2];

    while (n--)
        hpm_values(&own, values, 2);
}

static int measure(const char *what, int session)
{
    pthread_t other;
    int switches = !strcmp(what, "switch");

    if (switches && pthread_create(&other, NULL, give_way, NULL))
        return 1;
    sched_yield();
    hpm_mark("costs-begin");
    if (switches) /* there and back */
        for (unsigned long n = times / 2; n; n--)
            sched_yield();
    else if (!strcmp(what, "read"))
        read_counts(session, times);
    hpm_mark("costs-end");
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    return switches && pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    char why[160];
    int session = 0;

    if (argc != 3 || !(times = strtoul(argv[2], NULL, 10)))
        return 2;
    if (!strcmp(argv[1], "read"))
        session = hpm_open("cycles,instructions", why, sizeof why);
    if (session < 0 || measure(argv[1], session))
        return 1;
    printf("RESULT app=costs what=%s times=%lu check=ok\n", argv[1], times);
    return 0;
}
