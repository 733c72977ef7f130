/* Clocks and sleeping. The clocks are read by the vDSO, in user mode where the CPU allows it. */
#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include "apps/libc/libc.h"

#define NS_PER_S 1000000000u

static int (*read_by_vdso)(int clock, struct timespec *t);

void clock_start(void)
{
    read_by_vdso = (int (*)(int, struct timespec *))vdso_function("_clock_gettime");
}

/* Reads a clock of Linux's. Returns 0 or -Exxx. */
static int read_clock(int clock, struct timespec *t)
{
    return (int)(read_by_vdso ? syscall_result(read_by_vdso(clock, t))
                              : syscall2(SYS_clock_gettime, clock, t));
}

static uint64_t ns_of(int clock)
{
    struct timespec t = {0};

    read_clock(clock, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
    return ns_of(LINUX_CLOCK_MONOTONIC);
}

uint64_t timespec_ns(const struct timespec *t)
{
    uint64_t ns;

    if (t->tv_sec < 0)
        return 0;
    if (__builtin_mul_overflow((uint64_t)t->tv_sec, NS_PER_S, &ns) ||
        __builtin_add_overflow(ns, (uint64_t)t->tv_nsec, &ns))
        return UINT64_MAX;
    return ns;
}

/* Returns Linux's number of a clock, -1: none. */
static int linux_clock(clockid_t clock)
{
    switch (clock) {
    case CLOCK_MONOTONIC:
        return LINUX_CLOCK_MONOTONIC;
    case CLOCK_REALTIME:
        return LINUX_CLOCK_REALTIME;
    case CLOCK_PROCESS_CPUTIME_ID:
        return LINUX_CLOCK_PROCESS_CPUTIME_ID;
    case CLOCK_THREAD_CPUTIME_ID:
        return LINUX_CLOCK_THREAD_CPUTIME_ID;
    default:
        errno = EINVAL;
        return -1;
    }
}

POSIX int clock_gettime(clockid_t clock, struct timespec *t)
{
    int number = linux_clock(clock);

    return number < 0 ? -1 : posix_result(read_clock(number, t));
}

POSIX int clock_getres(clockid_t clock, struct timespec *t)
{
    int number = linux_clock(clock);

    return number < 0 ? -1 : posix_result(syscall2(SYS_clock_getres, number, t));
}

POSIX int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    uint64_t ns = ns_of(LINUX_CLOCK_REALTIME);

    (void)zone;
    *t = (struct timeval){.tv_sec = (time_t)(ns / NS_PER_S),
                          .tv_usec = (suseconds_t)(ns % NS_PER_S / 1000)};
    return 0;
}
ALSO_UNDERSCORED(gettimeofday);

#define NS_PER_TICK (NS_PER_S / CLOCKS_PER_SEC)

clock_t clock(void)
{
    return (clock_t)(ns_of(LINUX_CLOCK_PROCESS_CPUTIME_ID) / NS_PER_TICK);
}

/* A program's own time is not separated from the kernel's on its behalf: all is user time. */
POSIX clock_t times(struct tms *t)
{
    *t = (struct tms){.tms_utime = clock()};
    return (clock_t)(clock_ns() / NS_PER_TICK);
}
ALSO_UNDERSCORED(times);

POSIX int nanosleep(const struct timespec *want, struct timespec *left)
{
    int64_t r = syscall2(SYS_nanosleep, want, left);

    if (!r && left)
        *left = (struct timespec){0};
    return posix_result(r);
}

void sleep_ns(uint64_t ns)
{
    const struct timespec want = {.tv_sec = (time_t)(ns / NS_PER_S),
                                  .tv_nsec = (long)(ns % NS_PER_S)};

    syscall2(SYS_nanosleep, &want, 0);
}

/* Returns the seconds that are left if a signal came. */
POSIX unsigned sleep(unsigned seconds)
{
    struct timespec want = {.tv_sec = (time_t)seconds}, left = {0};

    if (!syscall2(SYS_nanosleep, &want, &left))
        return 0;
    return (unsigned)left.tv_sec + (left.tv_nsec != 0);
}

POSIX int usleep(useconds_t us)
{
    sleep_ns((uint64_t)us * 1000);
    return 0;
}

POSIX int sched_yield(void)
{
    syscall0(SYS_sched_yield);
    return 0;
}

POSIX int sched_getcpu(void)
{
    uint32_t cpu = 0;

    syscall3(SYS_getcpu, &cpu, 0, 0);
    return (int)cpu;
}
