/* x86-64's vDSO: the functions and names that Linux's has (vdso(7)). */
#include "kernel/arch/x86_64/cpu_segment.h"
#include "kernel/vdso/clock.h"

/* Linux gives each function a second name, without the prefix. */
#define SECOND_NAME(name) __attribute__((weak, alias("__vdso_" #name)))

int __vdso_clock_gettime(__kernel_clockid_t id, struct timespec *out);
int __vdso_clock_getres(__kernel_clockid_t id, struct timespec *out);
int __vdso_gettimeofday(struct timeval *out, struct timezone *zone);
long __vdso_time(long *out);
long __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused);

int __vdso_clock_gettime(__kernel_clockid_t id, struct timespec *out)
{
    return read_clock(id, out);
}
int clock_gettime(__kernel_clockid_t id, struct timespec *out) SECOND_NAME(clock_gettime);

int __vdso_clock_getres(__kernel_clockid_t id, struct timespec *out)
{
    return read_resolution(id, out);
}
int clock_getres(__kernel_clockid_t id, struct timespec *out) SECOND_NAME(clock_getres);

int __vdso_gettimeofday(struct timeval *out, struct timezone *zone)
{
    return read_day(out, zone);
}
int gettimeofday(struct timeval *out, struct timezone *zone) SECOND_NAME(gettimeofday);

long __vdso_time(long *out)
{
    struct timeval now;
    long err = read_day(&now, NULL);

    if (!err && out)
        *out = now.tv_sec;
    return err ? err : now.tv_sec;
}
long time(long *out) SECOND_NAME(time);

/* The kernel writes the CPU's number and its node's into the limit of a segment of the CPU's own
 * descriptor table, which LSL reads. */
long __vdso_getcpu(unsigned *cpu, unsigned *node, __attribute__((unused)) void *unused)
{
    uint64_t limit;

    __asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"((uint64_t)SEL_CPU_NUMBER) : "cc");
    if (cpu)
        *cpu = (unsigned)limit & CPU_NUMBER_MASK;
    if (node)
        *node = (unsigned)limit >> CPU_NUMBER_BITS;
    return 0;
}
long getcpu(unsigned *cpu, unsigned *node, void *unused) SECOND_NAME(getcpu);
