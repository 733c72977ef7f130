/* What a process sets of another one: CPUs, policies and nice values. Prints TAP; the same under
 * Linux, as root. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned count, failed;

static void check(bool right, const char *what)
{
    printf("%sok %u - %s\n", right ? "" : "not ", ++count, what);
    fflush(stdout);
    failed += !right;
}

static bool fails(int result, int with)
{
    return result == -1 && errno == with;
}

static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (!pid)
        for (;;)
            pause();
    setpgid(pid, pid);
    return pid;
}

static void test_cpus(pid_t pid)
{
    cpu_set_t own, one, got;

    sched_getaffinity(0, sizeof(own), &own);
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    check(!sched_setaffinity(pid, sizeof(one), &one) &&
              !sched_getaffinity(pid, sizeof(got), &got) && CPU_EQUAL(&got, &one),
          "the CPUs of another process are set");
    sched_getaffinity(0, sizeof(got), &got);
    check(CPU_EQUAL(&got, &own), "the caller's stay");
    CPU_ZERO(&one);
    check(fails(sched_setaffinity(pid, sizeof(one), &one), EINVAL), "EINVAL for no CPU");
    CPU_SET(0, &one);
    check(fails(sched_setaffinity(999999, sizeof(one), &one), ESRCH), "ESRCH for no process");
    check(fails(sched_setaffinity(-1, sizeof(one), &one), ESRCH), "ESRCH for a negative number");
}

static void test_policies(pid_t pid)
{
    struct sched_param p = {.sched_priority = 5}, none = {0};

    check(!sched_setscheduler(pid, SCHED_RR, &p) && sched_getscheduler(pid) == SCHED_RR &&
              sched_getscheduler(0) == SCHED_OTHER,
          "the policy of another process is set");
    p.sched_priority = 7;
    check(!sched_setparam(pid, &p) && !sched_getparam(pid, &none) && none.sched_priority == 7,
          "and its priority");
    none.sched_priority = 0;
    check(fails(sched_setscheduler(pid, SCHED_RR, &none), EINVAL), "EINVAL for a wrong priority");
    check(!sched_setscheduler(pid, SCHED_OTHER, &none), "and back");
    check(fails(sched_setscheduler(999999, SCHED_OTHER, &none), ESRCH), "ESRCH for no process");
}

static void test_nice(pid_t pid)
{
    check(!setpriority(PRIO_PROCESS, (id_t)pid, 3) && getpriority(PRIO_PROCESS, (id_t)pid) == 3 &&
              getpriority(PRIO_PROCESS, 0) == 0,
          "the nice value of another process is set");
    check(!setpriority(PRIO_PGRP, (id_t)pid, 4) && getpriority(PRIO_PGRP, (id_t)pid) == 4,
          "and of a group");
    errno = 0;
    check(getpriority(PRIO_PGRP, 999999) == -1 && errno == ESRCH, "ESRCH for no group");
    check(fails(setpriority(3, 0, 0), EINVAL), "EINVAL for another kind");
    check(getpriority(PRIO_USER, 0) <= 0, "the user's least value is among all processes");
}

int main(void)
{
    pid_t pid = sleeper();

    test_cpus(pid);
    test_policies(pid);
    test_nice(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    printf("1..%u\n", count);
    return failed != 0;
}
