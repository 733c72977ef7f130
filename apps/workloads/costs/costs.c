/*
 * Does one thing repeatedly between the marks costs-begin and costs-end, so that its cost can be
 * measured.
 *
 *   costs none N     nothing: the cost of the loops themselves
 *   costs read N     reads two counts of the calling thread
 *   costs switch N   switches between two threads that yield to each other; on one CPU
 *   costs open N     opens and closes a session of four names
 *   costs counted N, counted-8 N     switches while a session counts one name, or eight
 *   costs logged N, logged-8 N       and logs them: a record a switch, for some 5,000
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/hpm.h"

#define TIMES_MAX 1000000000ul

/* Return 0 or a negative error. */
static int do_nothing(unsigned long n);
static int do_read(unsigned long n);
static int do_switch(unsigned long n);
static int do_open(unsigned long n);
static int do_counted(unsigned long n);
static int do_counted_8(unsigned long n);
static int do_logged(unsigned long n);
static int do_logged_8(unsigned long n);

static const struct cost {
    const char *name;
    int (*run)(unsigned long n);
} costs[] = {{"none", do_nothing},  {"read", do_read},        {"switch", do_switch},
             {"open", do_open},     {"counted", do_counted},  {"counted-8", do_counted_8},
             {"logged", do_logged}, {"logged-8", do_logged_8}};
#define WORDS "none, read, switch, open, counted, counted-8, logged or logged-8"

static char why[160];

static _Noreturn __attribute__((format(printf, 3, 4))) void
refuse(const char *argument, const char *reason, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "costs: argument=%s reason=%s: ", argument, reason);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(2);
}

static int do_nothing(unsigned long n)
{
    (void)n;
    hpm_mark("costs-begin");
    return 0;
}

static int do_read(unsigned long n)
{
    static struct sys_hpm_value values[2];
    struct sys_hpm_read own = {.scope = SYS_SCOPE_THREAD};
    int session = hpm_open("cycles,instructions", why, sizeof why), err = 0;

    if (session < 0)
        return session;
    own.session = (uint32_t)session;
    hpm_mark("costs-begin");
    while (n-- && err >= 0)
        err = hpm_values(&own, values, 2);
    return err < 0 ? err : 0;
}

static void *give_way(void *unused)
{
    for (;;)
        sched_yield();
    return unused;
}

static int do_switch(unsigned long n)
{
    pthread_t other; /* ends with the program */
    int err = pthread_create(&other, NULL, give_way, NULL);

    if (err)
        return -err;
    sched_yield();
    hpm_mark("costs-begin");
    for (n /= 2; n; n--) /* there and back */
        sched_yield();
    return 0;
}

static int do_open(unsigned long n)
{
    int session = 0;

    hpm_mark("costs-begin");
    while (n-- && session >= 0) {
        session = hpm_open("cycles,ipc,mem.remote,l1d.miss", why, sizeof why);
        if (session >= 0)
            hpm_close(session);
    }
    return session < 0 ? session : 0;
}

static int switch_while(const char *names, bool logged, unsigned long n)
{
    const struct sys_hpm_log what = {.scope = SYS_SCOPE_PROCESS, .bytes = 1 << 20};
    int session = hpm_open(names, why, sizeof why), err = 0;

    if (session >= 0 && logged)
        err = hpm_log(session, &what, why, sizeof why);
    if (session < 0 || err < 0)
        return session < 0 ? session : err;
    return do_switch(n);
}

/* Counted anyhow, so that no group is more. */
#define EIGHT "instructions,cycles,LOADS,STORES,L1D_MISSES,TLB_MISSES,MISPREDICTS,COMPLETION"

static int do_counted(unsigned long n)
{
    return switch_while("instructions", false, n);
}

static int do_counted_8(unsigned long n)
{
    return switch_while(EIGHT, false, n);
}

static int do_logged(unsigned long n)
{
    return switch_while("instructions", true, n);
}

static int do_logged_8(unsigned long n)
{
    return switch_while(EIGHT, true, n);
}

static const struct cost *find_cost(const char *name)
{
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++)
        if (!strcmp(costs[i].name, name))
            return &costs[i];
    refuse("what", "value", "'%s' is not accepted; use " WORDS, name);
}

static unsigned long number(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || !n || n > TIMES_MAX)
        refuse("times", "range", "'%s' is not accepted; a number from 1 to %lu is expected", text,
               TIMES_MAX);
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        refuse("what", "missing",
               "%d arguments are given; two are expected: " WORDS ", and how often", argc - 1);
    const struct cost *cost = find_cost(argv[1]);
    unsigned long times = number(argv[2]);
    int err = cost->run(times);

    hpm_mark("costs-end");
    if (err)
        refuse("%s: %s", cost->name, why[0] ? why : strerror(-err));
    printf("RESULT app=costs what=%s times=%lu check=ok\n", cost->name, times);
    return 0;
}
