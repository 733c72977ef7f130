/* AArch64's vDSO: the functions and names that Linux's has (vdso(7)); sigreturn.S has one more. */
#include "kernel/vdso/clock.h"

int __kernel_clock_gettime(__kernel_clockid_t id, struct timespec *out);
int __kernel_clock_getres(__kernel_clockid_t id, struct timespec *out);
int __kernel_gettimeofday(struct timeval *out, struct timezone *zone);

int __kernel_clock_gettime(__kernel_clockid_t id, struct timespec *out)
{
    return read_clock(id, out);
}

int __kernel_clock_getres(__kernel_clockid_t id, struct timespec *out)
{
    return read_resolution(id, out);
}

int __kernel_gettimeofday(struct timeval *out, struct timezone *zone)
{
    return read_day(out, zone);
}
