/*
 * The system calls that newlib expects. It calls them by their names with an underscore; the names
 * without are weak, for programs. There is no file system: descriptors 0 to 2 are the console until
 * they are closed. Everything else is an error, never a success without effect.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "apps/libc/libc.h"

static int result_of(int64_t r)
{
    if (r >= 0)
        return (int)r;
    errno = (int)-r;
    return -1;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* Bit n: descriptor n is open; atomic. */
static uint32_t descriptors = 7;

static bool is_open(int fd)
{
    return fd >= 0 && fd <= 2 && __atomic_load_n(&descriptors, __ATOMIC_RELAXED) >> fd & 1;
}

void __attribute__((noreturn)) _exit(int status)
{
    for (;;)
        syscall1(SYS_EXIT, status & 255);
}

POSIX _READ_WRITE_RETURN_TYPE write(int fd, const void *buf, size_t n)
{
    return is_open(fd) ? result_of(syscall3(SYS_WRITE, fd, buf, n)) : fail(EBADF);
}
ALSO_UNDERSCORED(write);

POSIX _READ_WRITE_RETURN_TYPE read(int fd, void *buf, size_t n)
{
    return is_open(fd) ? result_of(syscall3(SYS_READ, fd, buf, n)) : fail(EBADF);
}
ALSO_UNDERSCORED(read);

POSIX int open(const char *path, int flags, ...)
{
    (void)path, (void)flags;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(open);

POSIX int close(int fd)
{
    uint32_t bit = is_open(fd) ? 1u << fd : 0;

    return __atomic_fetch_and(&descriptors, ~bit, __ATOMIC_RELAXED) & bit ? 0 : fail(EBADF);
}
ALSO_UNDERSCORED(close);

POSIX off_t lseek(int fd, off_t offset, int whence)
{
    (void)offset, (void)whence;
    return fail(is_open(fd) ? ESPIPE : EBADF);
}
ALSO_UNDERSCORED(lseek);

POSIX int fstat(int fd, struct stat *st)
{
    if (!is_open(fd))
        return fail(EBADF);
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFCHR;
    st->st_blksize = 1024;
    return 0;
}
ALSO_UNDERSCORED(fstat);

POSIX int stat(const char *path, struct stat *st)
{
    (void)path, (void)st;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(stat);

POSIX int isatty(int fd)
{
    if (is_open(fd))
        return 1;
    errno = EBADF;
    return 0;
}
ALSO_UNDERSCORED(isatty);

POSIX int unlink(const char *path)
{
    (void)path;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(unlink);

POSIX int link(const char *from, const char *to)
{
    (void)from, (void)to;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(link);

POSIX int mkdir(const char *path, mode_t mode)
{
    (void)path, (void)mode;
    return fail(ENOSYS);
}
ALSO_UNDERSCORED(mkdir);

POSIX int getpid(void)
{
    return (int)syscall0(SYS_GETPID);
}
ALSO_UNDERSCORED(getpid);

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

POSIX int getentropy(void *buf, size_t n)
{
    (void)buf, (void)n;
    return fail(ENOSYS);
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

POSIX int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    uint64_t ns = clock_ns();
    tv->tv_sec = (time_t)(ns / 1000000000);
    tv->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
    return 0;
}
ALSO_UNDERSCORED(gettimeofday);

POSIX long sysconf(int name)
{
    struct sys_info info = {0};
    syscall2(SYS_SYSINFO, &info, sizeof info);
    switch (name) {
    case _SC_PAGESIZE:
        return LIBC_PAGE;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return info.cpus;
    case _SC_PHYS_PAGES:
        return (long)(info.memory_bytes / LIBC_PAGE);
    case _SC_AVPHYS_PAGES:
        return (long)(info.free_bytes / LIBC_PAGE);
    case _SC_CLK_TCK:
        return CLOCKS_PER_SEC;
    default:
        return fail(EINVAL);
    }
}
