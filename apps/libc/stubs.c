/* Processes and the system, for newlib and by its names with an underscore; the names without are
 * weak, for programs. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "apps/libc/libc.h"

static int fail(int error)
{
    errno = error;
    return -1;
}

long syscall(long number, ...);

/* Makes a system call of Linux's or Vigil's, by its number. */
POSIX long syscall(long number, ...)
{
    uint64_t a[6];
    va_list rest;

    va_start(rest, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(rest, uint64_t);
    va_end(rest);
    int64_t r = syscall6((uint64_t)number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (r >= 0)
        return r;
    errno = (int)-r;
    return -1;
}

void __attribute__((noreturn)) _exit(int status)
{
    for (;;)
        syscall1(SYS_exit_group, status & 255);
}

POSIX int getpid(void)
{
    return (int)syscall0(SYS_getpid);
}
ALSO_UNDERSCORED(getpid);

/* Programs are started by application_start() (hpm.h). */
POSIX int fork(void)
{
    return fail(ENOSYS);
}
ALSO_UNDERSCORED(fork);

POSIX int execve(const char *path, char *const argv[], char *const envp[])
{
    (void)path, (void)argv, (void)envp;
    return fail(ENOSYS);
}
ALSO_UNDERSCORED(execve);

POSIX int wait(int *status)
{
    (void)status;
    return fail(ECHILD);
}
ALSO_UNDERSCORED(wait);

#define ENTROPY_MAX 256

POSIX int getentropy(void *buf, size_t n)
{
    return n > ENTROPY_MAX ? fail(EIO) : -(posix_result(syscall3(SYS_getrandom, buf, n, 0)) < 0);
}
ALSO_UNDERSCORED(getentropy);

/* malloc.c maps its own memory. */
POSIX void *sbrk(ptrdiff_t increment)
{
    (void)increment;
    errno = ENOMEM;
    return (void *)-1;
}
ALSO_UNDERSCORED(sbrk);

/* The layout of sysinfo(2). */
struct system_values {
    int64_t uptime;
    uint64_t loads[3], memory, free_memory, shared, buffers, swap, free_swap;
    uint16_t processes, spare;
    uint32_t spare_too;
    uint64_t high, free_high;
    uint32_t unit, more;
};
_Static_assert(sizeof(struct system_values) == 112, "sysinfo's layout");

static long memory_pages(bool free)
{
    struct system_values v = {0};

    syscall1(SYS_sysinfo, &v);
    return (long)((free ? v.free_memory : v.memory) * v.unit / LIBC_PAGE);
}

/* Counts the CPUs of a list like "0-3,6". */
static long count_cpus(const char *list)
{
    long n = 0;

    while (*list >= '0' && *list <= '9') {
        char *at;
        long first = strtol(list, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        n += last - first + 1;
        list = at + (*at == ',');
    }
    return n ? n : 1;
}

static long cpus_online(void)
{
    char list[256] = "";
    int64_t fd =
        syscall3(SYS_openat, LINUX_AT_FDCWD, "/sys/devices/system/cpu/online", LINUX_O_CLOEXEC);

    if (fd >= 0) {
        syscall3(SYS_read, fd, list, sizeof list - 1);
        syscall1(SYS_close, fd);
    }
    return count_cpus(list);
}

POSIX long sysconf(int name)
{
    switch (name) {
    case _SC_PAGESIZE:
        return LIBC_PAGE;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return cpus_online();
    case _SC_PHYS_PAGES:
        return memory_pages(false);
    case _SC_AVPHYS_PAGES:
        return memory_pages(true);
    case _SC_CLK_TCK:
        return CLOCKS_PER_SEC;
    default:
        return fail(EINVAL);
    }
}
