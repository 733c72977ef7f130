/*
 * What the vDSO's functions do, in user mode: clocks are read by the processor's counter, with the
 * results of the system calls of the same names. isa.h supplies vdso_ticks() and vdso_call().
 */
#pragma once
#include <linux/time.h>
#include <stddef.h>
#include "isa.h"
#include "kernel/vdso/vdso_data.h"

#define NS_IN_S  1000000000ull
#define NS_IN_US 1000ull

extern const struct vdso_data vdso_data __attribute__((visibility("hidden")));

enum vdso_clock { CLOCK_BY_CALL, CLOCK_SINCE_BOOT, CLOCK_OF_DATE };

/* Says what a clock shows. Clocks of CPU time are the kernel's alone. */
static inline enum vdso_clock clock_kind(__kernel_clockid_t id)
{
    if (!vdso_data.readable)
        return CLOCK_BY_CALL;
    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        return CLOCK_OF_DATE;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        return CLOCK_SINCE_BOOT;
    default:
        return CLOCK_BY_CALL;
    }
}

static inline uint64_t clock_ns(enum vdso_clock kind)
{
    unsigned __int128 scaled =
        (unsigned __int128)(vdso_ticks() - vdso_data.ticks_base) * vdso_data.ticks_to_ns;

    return (uint64_t)(scaled >> VDSO_CLOCK_SHIFT) + (kind == CLOCK_OF_DATE ? vdso_data.date_ns : 0);
}

static inline int read_clock(__kernel_clockid_t id, struct timespec *out)
{
    enum vdso_clock kind = clock_kind(id);

    if (kind == CLOCK_BY_CALL)
        return (int)vdso_call(__NR_clock_gettime, id, (long)out);
    uint64_t ns = clock_ns(kind);
    out->tv_sec = (long)(ns / NS_IN_S);
    out->tv_nsec = (long)(ns % NS_IN_S);
    return 0;
}

static inline int read_resolution(__kernel_clockid_t id, struct timespec *out)
{
    if (clock_kind(id) == CLOCK_BY_CALL)
        return (int)vdso_call(__NR_clock_getres, id, (long)out);
    if (out)
        *out = (struct timespec){.tv_nsec = 1};
    return 0;
}

static inline int read_day(struct timeval *out, struct timezone *zone)
{
    if (!vdso_data.readable)
        return (int)vdso_call(__NR_gettimeofday, (long)out, (long)zone);
    if (out) {
        uint64_t ns = clock_ns(CLOCK_OF_DATE);
        out->tv_sec = (long)(ns / NS_IN_S);
        out->tv_usec = (long)(ns % NS_IN_S / NS_IN_US);
    }
    if (zone)
        *zone = (struct timezone){0};
    return 0;
}
