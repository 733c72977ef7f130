/* What calls on clocks and on timers share. */
#pragma once
#include "kernel/lib/base.h"
#include <linux/time_types.h>

enum clock_kind { CLOCK_NONE, CLOCK_SINCE_BOOT, CLOCK_OF_DATE, CLOCK_OF_PROCESS, CLOCK_OF_THREAD };

/* A clock: what it shows, and of which process or thread, 0: the caller's. */
struct clock {
    enum clock_kind kind;
    uint32_t id;
};

/* Returns the clock that a call's argument names. */
struct clock clock_find(uint64_t argument);
/* Stores a struct timespec. Returns 0 or -EFAULT. */
int time_put(vaddr_t to, uint64_t ns);

static inline struct __kernel_old_timeval timeval_of(uint64_t ns)
{
    return (struct __kernel_old_timeval){.tv_sec = (long)(ns / NS_PER_S),
                                         .tv_usec = (long)(ns % NS_PER_S / NS_PER_US)};
}
