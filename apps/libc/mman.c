/* See sys/mman.h. Its numbers are the kernel's. */
#include <errno.h>
#include <sys/mman.h>
#include "apps/libc/libc.h"

_Static_assert(PROT_READ == SYS_PROT_READ && PROT_WRITE == SYS_PROT_WRITE &&
                   PROT_EXEC == SYS_PROT_EXEC,
               "rights");
_Static_assert(MADV_SEQUENTIAL == SYS_ADVICE_SEQUENTIAL && MADV_RANDOM == SYS_ADVICE_RANDOM &&
                   MADV_WILLNEED == SYS_ADVICE_WILLNEED && MADV_DONTNEED == SYS_ADVICE_DONTNEED,
               "advice");

static int result_of(int64_t r)
{
    if (r >= 0)
        return 0;
    errno = (int)-r;
    return -1;
}

POSIX void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    int64_t at = -EINVAL;

    if (!addr && flags == (MAP_PRIVATE | MAP_ANONYMOUS) && fd == -1 && !offset)
        at = syscall3(SYS_MMAP, bytes, prot, 0);
    if (at > 0)
        return (void *)at;
    errno = (int)-at;
    return MAP_FAILED;
}

POSIX int munmap(void *addr, size_t bytes)
{
    return result_of(syscall2(SYS_MUNMAP, addr, bytes));
}

POSIX int mprotect(void *addr, size_t bytes, int prot)
{
    return result_of(syscall3(SYS_MPROTECT, addr, bytes, prot));
}

POSIX int madvise(void *addr, size_t bytes, int advice)
{
    return result_of(syscall3(SYS_MADVISE, addr, bytes, advice));
}
