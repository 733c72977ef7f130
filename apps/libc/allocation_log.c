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

_Static_assert(sizeof(struct allocations_head) % ALLOCATIONS_LINE == 0 &&
                   ALLOCATIONS_BLOCK * sizeof(struct allocations_record) % ALLOCATIONS_LINE == 0,
               "blocks have lines of their own");

/* Descriptors of two threads are about as far apart, at least. */
enum { ALLOCATIONS_THREAD = 4096 };

static int64_t call(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    return syscall_raw(number, a, b, c, 0, 0, 0);
}

struct allocations_head *allocation_log;
static struct allocations_record *records;
static uint64_t capacity;
static uint32_t pid;
static __thread struct allocations_record *mine; /* the thread's next record */
static __thread unsigned left;                   /* in its block */
static __thread bool is_full;                    /* there was no block for it */

void allocation_log_forked(void)
{
    left = 0;
    pid = (uint32_t)call(SYS_getpid, 0, 0, 0);
}

void allocation_log_begin(void)
{
    struct {
        uint64_t magic, capacity;
    } first;
    int64_t file = call(SYS_openat, (uint64_t)FROM_HERE, (uint64_t)ALLOCATIONS_PATH,
                        READ_WRITE | CLOSE_ON_EXEC);

    if (file < 0)
        return;
    uint64_t f = (uint64_t)file;
    bool is = call(SYS_read, f, (uint64_t)&first, sizeof first) == (int64_t)sizeof first &&
              first.magic == ALLOCATIONS_MAGIC && first.capacity <= (uint64_t)1 << 32 &&
              first.capacity % ALLOCATIONS_BLOCK == 0;
    uint64_t bytes = is ? sizeof *allocation_log + first.capacity * sizeof *records : 0;
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

/* Gives the calling thread a block. Returns false if all are taken. */
static bool take_block(struct allocations_head *h)
{
    uint64_t n =
        is_full ? capacity : __atomic_fetch_add(&h->given, ALLOCATIONS_BLOCK, __ATOMIC_RELAXED);

    is_full = n >= capacity;
    if (is_full)
        return false;
    mine = records + n;
    left = ALLOCATIONS_BLOCK;
    return true;
}

void *allocation_note(void *at, size_t bytes, uint64_t site)
{
    struct allocations_head *h = __atomic_load_n(&allocation_log, __ATOMIC_ACQUIRE);

    if (!h || !at)
        return at;
    if (!left && !take_block(h)) {
        uint64_t group = thread_pointer() / ALLOCATIONS_THREAD % ALLOCATIONS_GROUPS;
        __atomic_fetch_add(&h->left_out[group][0], 1, __ATOMIC_RELAXED);
        return at;
    }
    struct allocations_record *r = mine++;
    left--;
    *r = (struct allocations_record){(uint64_t)at, bytes, site, time_stamp(), pid, 0};
    __atomic_store_n(&r->whole, 1, __ATOMIC_RELEASE);
    return at;
}
