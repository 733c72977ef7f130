/*
 * Clocks and sleeping. Where the CPU allows it the clock is read in user mode, with the frequency
 * and the value at boot from the kernel; else by a system call.
 */
#include <errno.h>
#include <sched.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include "apps/libc/libc.h"

#define NS_PER_S 1000000000u

static struct sys_info info;
static uint32_t info_known; /* concurrent first calls all write the same */

uint64_t clock_ns(void)
{
    if (!__atomic_load_n(&info_known, __ATOMIC_ACQUIRE)) {
        syscall2(SYS_SYSINFO, &info, sizeof info);
        __atomic_store_n(&info_known, 1, __ATOMIC_RELEASE);
    }
    if (!info.ticks_hz)
        return (uint64_t)syscall0(SYS_CLOCK);
    return (uint64_t)((unsigned __int128)(ticks_now() - info.ticks_base) * NS_PER_S /
                      info.ticks_hz);
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

static uint64_t cpu_ns(int scope)
{
    return (uint64_t)syscall1(SYS_CPU_TIME, scope);
}

static uint64_t process_ns(void)
{
    return cpu_ns(SYS_SCOPE_PROCESS);
}

static uint64_t thread_ns(void)
{
    return cpu_ns(SYS_SCOPE_THREAD);
}

/* Returns the function that reads this clock, or NULL if there is no such clock. */
static uint64_t (*reader_of(clockid_t clock))(void)
{
    switch (clock) {
    case CLOCK_MONOTONIC:
    case CLOCK_REALTIME:
        return clock_ns;
    case CLOCK_PROCESS_CPUTIME_ID:
        return process_ns;
    case CLOCK_THREAD_CPUTIME_ID:
        return thread_ns;
    default:
        errno = EINVAL;
        return NULL;
    }
}

POSIX int clock_gettime(clockid_t clock, struct timespec *ts)
{
    uint64_t (*read)(void) = reader_of(clock);

    if (!read)
        return -1;
    uint64_t ns = read();
    ts->tv_sec = (time_t)(ns / NS_PER_S);
    ts->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}

POSIX int clock_getres(clockid_t clock, struct timespec *ts)
{
    if (!reader_of(clock))
        return -1;
    *ts = (struct timespec){.tv_nsec = 1};
    return 0;
}

#define NS_PER_TICK (NS_PER_S / CLOCKS_PER_SEC)

/* The kernel does not separate a program's own time from the kernel's on its behalf: all is user
 * time. */
POSIX clock_t times(struct tms *t)
{
    *t = (struct tms){.tms_utime = (clock_t)(process_ns() / NS_PER_TICK)};
    return (clock_t)(clock_ns() / NS_PER_TICK);
}
ALSO_UNDERSCORED(times);

clock_t clock(void)
{
    return (clock_t)(process_ns() / NS_PER_TICK);
}

POSIX int nanosleep(const struct timespec *want, struct timespec *left)
{
    if (want->tv_sec < 0 || want->tv_nsec < 0 || want->tv_nsec >= (long)NS_PER_S) {
        errno = EINVAL;
        return -1;
    }
    syscall1(SYS_SLEEP, timespec_ns(want));
    if (left)
        *left = (struct timespec){0};
    return 0;
}

POSIX unsigned sleep(unsigned seconds)
{
    syscall1(SYS_SLEEP, (uint64_t)seconds * NS_PER_S);
    return 0;
}

POSIX int usleep(useconds_t us)
{
    syscall1(SYS_SLEEP, (uint64_t)us * 1000);
    return 0;
}

POSIX int sched_yield(void)
{
    syscall0(SYS_YIELD);
    return 0;
}

POSIX int sched_getcpu(void)
{
    return (int)syscall0(SYS_GETCPU);
}
