/* See sys/mman.h. Its numbers are Linux's. */
#include <sys/mman.h>
#include "apps/libc/libc.h"

_Static_assert(PROT_READ == LINUX_PROT_READ && PROT_WRITE == LINUX_PROT_WRITE &&
                   PROT_EXEC == LINUX_PROT_EXEC,
               "rights");
_Static_assert(MAP_SHARED == LINUX_MAP_SHARED && MAP_PRIVATE == LINUX_MAP_PRIVATE &&
                   MAP_FIXED == LINUX_MAP_FIXED && MAP_ANONYMOUS == LINUX_MAP_ANONYMOUS,
               "flags");
_Static_assert(MADV_SEQUENTIAL == LINUX_MADV_SEQUENTIAL && MADV_RANDOM == LINUX_MADV_RANDOM &&
                   MADV_WILLNEED == LINUX_MADV_WILLNEED && MADV_DONTNEED == LINUX_MADV_DONTNEED,
               "advice");

void *pages_map(size_t bytes, const char *name, int flags)
{
    int64_t at = syscall6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | (uint64_t)flags, (uint64_t)-1, 0);

    if (at > 0 && name)
        syscall5(SYS_prctl, LINUX_PR_SET_VMA, LINUX_PR_SET_VMA_ANON_NAME, at, bytes, name);
    return at > 0 ? (void *)at : NULL;
}

POSIX void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    int64_t at = syscall6(SYS_mmap, (uint64_t)addr, bytes, (uint64_t)prot, (uint64_t)flags,
                          (uint64_t)fd, (uint64_t)offset);

    if (at >= 0)
        return (void *)at;
    posix_result(at);
    return MAP_FAILED;
}

POSIX int munmap(void *addr, size_t bytes)
{
    return posix_result(syscall2(SYS_munmap, addr, bytes));
}

POSIX int mprotect(void *addr, size_t bytes, int prot)
{
    return posix_result(syscall3(SYS_mprotect, addr, bytes, prot));
}

POSIX int madvise(void *addr, size_t bytes, int advice)
{
    return posix_result(syscall3(SYS_madvise, addr, bytes, advice));
}
