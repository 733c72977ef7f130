/* See allocation_log.h. */
#include "apps/libc/allocation_log.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct allocations_head *allocation_log;
static struct allocations_record *records;
static uint64_t capacity;
static uint32_t pid;

void allocation_log_forked(void)
{
    pid = (uint32_t)getpid();
}

void allocation_log_begin(void)
{
    int file = open(ALLOCATIONS_PATH, O_RDWR | O_CLOEXEC);
    struct allocations_head first;
    struct stat is;

    if (file < 0)
        return;
    if (read(file, &first, sizeof first) == (ssize_t)sizeof first &&
        first.magic == ALLOCATIONS_MAGIC && !fstat(file, &is) &&
        first.capacity <= ((size_t)1 << 32) &&
        (uint64_t)is.st_size == sizeof first + first.capacity * sizeof *records) {
        void *at = mmap(NULL, (size_t)is.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at != MAP_FAILED) {
            allocation_log_forked();
            capacity = first.capacity;
            records = (struct allocations_record *)((struct allocations_head *)at + 1);
            __atomic_store_n(&allocation_log, at, __ATOMIC_RELEASE);
        }
    }
    close(file);
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
