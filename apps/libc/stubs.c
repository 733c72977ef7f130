/*
 * The system calls newlib expects.  newlib names them with an underscore on AArch64 and without on x86-64;
 * both names exist here.  There is no file system: descriptors 0 to 2 are the console, everything else is an
 * error, never a success that did nothing.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>
#include "apps/libc/libc.h"

#define ALSO_UNDERSCORED(name) extern __typeof__(name) _##name __attribute__((alias(#name), copy(name)))

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

void __attribute__((noreturn)) _exit(int status)
{
    for (;;)
        syscall1(SYS_EXIT, status & 255);
}

_READ_WRITE_RETURN_TYPE write(int fd, const void *buf, size_t n)
{
    return result_of(syscall3(SYS_WRITE, fd, buf, n));
}
ALSO_UNDERSCORED(write);

_READ_WRITE_RETURN_TYPE read(int fd, void *buf, size_t n)
{
    return result_of(syscall3(SYS_READ, fd, buf, n));
}
ALSO_UNDERSCORED(read);

int open(const char *path, int flags, ...)
{
    (void)path, (void)flags;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(open);

int close(int fd)
{
    return fd >= 0 && fd <= 2 ? 0 : fail(EBADF);
}
ALSO_UNDERSCORED(close);

off_t lseek(int fd, off_t offset, int whence)
{
    (void)offset, (void)whence;
    return fail(fd >= 0 && fd <= 2 ? ESPIPE : EBADF);
}
ALSO_UNDERSCORED(lseek);

int fstat(int fd, struct stat *st)
{
    if (fd < 0 || fd > 2)
        return fail(EBADF);
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFCHR;
    st->st_blksize = 1024;
    return 0;
}
ALSO_UNDERSCORED(fstat);

int stat(const char *path, struct stat *st)
{
    (void)path, (void)st;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(stat);

int isatty(int fd)
{
    return fd >= 0 && fd <= 2 ? 1 : fail(EBADF);
}
ALSO_UNDERSCORED(isatty);

int unlink(const char *path)
{
    (void)path;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(unlink);

int link(const char *from, const char *to)
{
    (void)from, (void)to;
    return fail(ENOENT);
}
ALSO_UNDERSCORED(link);

int mkdir(const char *path, mode_t mode)
{
    (void)path, (void)mode;
    return fail(ENOSYS);
}
ALSO_UNDERSCORED(mkdir);

int getpid(void)
{
    return (int)syscall0(SYS_GETPID);
}
ALSO_UNDERSCORED(getpid);

/* Only abort() comes here: the process ends as if by that signal. */
int kill(int pid, int signal)
{
    if (pid != getpid())
        return fail(ESRCH);
    _exit(128 + signal);
}
ALSO_UNDERSCORED(kill);

int fork(void)
{
    return fail(ENOSYS);
}
ALSO_UNDERSCORED(fork);

int execve(const char *path, char *const argv[], char *const envp[])
{
    (void)path, (void)argv, (void)envp;
    return fail(ENOSYS);
}
ALSO_UNDERSCORED(execve);

int wait(int *status)
{
    (void)status;
    return fail(ECHILD);
}
ALSO_UNDERSCORED(wait);

int getentropy(void *buf, size_t n)
{
    (void)buf, (void)n;
    return fail(ENOSYS);
}
ALSO_UNDERSCORED(getentropy);

/* Heap memory comes from malloc.c, which maps its own. */
void *sbrk(ptrdiff_t increment)
{
    (void)increment;
    errno = ENOMEM;
    return (void *)-1;
}
ALSO_UNDERSCORED(sbrk);

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    uint64_t ns = clock_ns();
    tv->tv_sec = (time_t)(ns / 1000000000);
    tv->tv_usec = (suseconds_t)(ns % 1000000000 / 1000);
    return 0;
}
ALSO_UNDERSCORED(gettimeofday);

clock_t times(struct tms *t)
{
    memset(t, 0, sizeof *t);
    t->tms_utime = (clock_t)(clock_ns() / (1000000000 / CLOCKS_PER_SEC));
    return t->tms_utime;
}
ALSO_UNDERSCORED(times);

long sysconf(int name)
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
    default:
        return fail(EINVAL);
    }
}
