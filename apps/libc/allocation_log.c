/* See allocation_log.h. A part of Vigil's C library, and of a library for programs of Linux: so it
 * calls the kernel itself. */
#include "apps/libc/allocation_log.h"
#include <stdbool.h>
#if __has_include(<sys/syscall.h>)
#include <sys/syscall.h> /* for isa.h */
#include "isa.h"
#else
#include "apps/libc/syscall.h"
#endif

/* Linux's, of asm-generic/fcntl.h, linux/fcntl.h and asm-generic/mman-common.h. */
enum {
    FROM_HERE = -100, /* AT_FDCWD */
    READ_WRITE = 2,
    CLOSE_ON_EXEC = 02000000,
    TO_END = 2, /* SEEK_END */
    ACCESS_READ_WRITE = 3,
    SHARED = 1
};

static int64_t call(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    return syscall_raw(number, a, b, c, 0, 0, 0);
}

struct allocations_head *allocation_log;
static struct allocations_record *records;
static uint64_t capacity;
static uint32_t pid;

void allocation_log_forked(void)
{
    pid = (uint32_t)call(SYS_getpid, 0, 0, 0);
}

void allocation_log_begin(void)
{
    struct allocations_head first;
    int64_t file = call(SYS_openat, (uint64_t)FROM_HERE, (uint64_t)ALLOCATIONS_PATH,
                        READ_WRITE | CLOSE_ON_EXEC);

    if (file < 0)
        return;
    uint64_t f = (uint64_t)file;
    bool is = call(SYS_read, f, (uint64_t)&first, sizeof first) == (int64_t)sizeof first &&
              first.magic == ALLOCATIONS_MAGIC && first.capacity <= (uint64_t)1 << 32;
    uint64_t bytes = is ? sizeof first + first.capacity * sizeof *records : 0;
    int64_t at = is && call(SYS_lseek, f, 0, TO_END) == (int64_t)bytes
                     ? syscall_raw(SYS_mmap, 0, bytes, ACCESS_READ_WRITE, SHARED, f, 0)
                     : -1;
    if (at > 0) {
        allocation_log_forked();
        capacity = first.capacity;
        records = (struct allocations_record *)((struct allocations_head *)at + 1);
        __atomic_store_n(&allocation_log, (struct allocations_head *)at, __ATOMIC_RELEASE);
    }
    call(SYS_close, f, 0, 0);
}

void *allocation_note(void *at, size_t bytes, uint64_t site)
{
    struct allocations_head *h = __atomic_load_n(&allocation_log, __ATOMIC_ACQUIRE);

    if (!h || !at)
        return at;
    uint64_t n = __atomic_fetch_add(&h->count, 1, __ATOMIC_RELAXED);
    if (n < capacity) {
        records[n] = (struct allocations_record){(uint64_t)at, bytes, site, pid, 0};
        __atomic_store_n(&records[n].whole, 1, __ATOMIC_RELEASE);
    }
    return at;
}
