/* See memory.h. */
#include "apps/libc/memory.h"
#include "apps/libc/libc.h"

static size_t whole_pages(size_t bytes)
{
    return (bytes + LIBC_PAGE - 1) / LIBC_PAGE * LIBC_PAGE;
}

void *memory_map(const char *name, size_t bytes)
{
    return pages_map(whole_pages(bytes), name, 0);
}

const void *memory_map_disk(const char *name, size_t *bytes)
{
    int64_t at = syscall5(SYS_MMAP_DISK, name, 0, 0, LINUX_PROT_READ, bytes);

    return at < 0 ? NULL : (const void *)at;
}

void memory_unmap(void *at, size_t bytes)
{
    syscall2(SYS_munmap, at, whole_pages(bytes));
}

int memory_advise(void *at, size_t bytes, int advice)
{
    return (int)syscall3(SYS_madvise, at, bytes, advice);
}

int memory_read(int pid, struct sys_memory *out)
{
    return (int)syscall3(SYS_MEMORY, pid, out, sizeof(*out));
}

int memory_regions(int pid, struct sys_memory_region *out, size_t room)
{
    return (int)syscall3(SYS_REGIONS, pid, out, room * sizeof(*out));
}

int memory_curve(int pid, struct sys_curve *out)
{
    return (int)syscall3(SYS_CURVE, pid, out, sizeof(*out));
}

int symbol_of(int pid, uint64_t address, struct sys_symbol *out)
{
    return (int)-syscall4(SYS_SYMBOL, pid, address, out, sizeof(*out));
}
