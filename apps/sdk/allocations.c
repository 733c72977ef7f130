/*
 * Logs where a program of Linux allocates memory, loaded before its libraries (LD_PRELOAD): each
 * call of malloc and its like is a record in the file ALLOCATIONS_PATH, if there is such a file
 * when the program begins. Memory itself is glibc's. For C++ the site is where new was used.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "apps/sdk/allocations.h"

#define PUBLIC __attribute__((visibility("default")))
#define SITE   ((uint64_t)__builtin_return_address(0))

/* glibc's own, under names that nothing stands before. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static struct allocations_head *head; /* NULL: nothing is logged */
static struct allocations_record *records;
static uint64_t capacity;
static uint32_t pid;

static void note_fork(void)
{
    pid = (uint32_t)getpid();
}

__attribute__((constructor)) static void begin(void)
{
    int file = open(ALLOCATIONS_PATH, O_RDWR | O_CLOEXEC);
    struct allocations_head first;
    struct stat is;

    if (file < 0)
        return;
    if (read(file, &first, sizeof first) == sizeof first && first.magic == ALLOCATIONS_MAGIC &&
        !fstat(file, &is) && first.capacity <= ((size_t)1 << 32) &&
        (uint64_t)is.st_size == sizeof first + first.capacity * sizeof *records) {
        void *at = mmap(NULL, (size_t)is.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at != MAP_FAILED) {
            note_fork();
            pthread_atfork(NULL, NULL, note_fork);
            capacity = first.capacity;
            records = (struct allocations_record *)((struct allocations_head *)at + 1);
            __atomic_store_n(&head, at, __ATOMIC_RELEASE);
        }
    }
    close(file);
}

static void *note(void *at, size_t bytes, uint64_t site)
{
    struct allocations_head *h = __atomic_load_n(&head, __ATOMIC_ACQUIRE);

    if (!h || !at)
        return at;
    uint64_t n = __atomic_fetch_add(&h->count, 1, __ATOMIC_RELAXED);
    if (n < capacity) {
        records[n] = (struct allocations_record){(uint64_t)at, bytes, site, pid, 0};
        __atomic_store_n(&records[n].whole, 1, __ATOMIC_RELEASE);
    }
    return at;
}

PUBLIC void *malloc(size_t n)
{
    return note(__libc_malloc(n), n, SITE);
}

PUBLIC void *calloc(size_t count, size_t size)
{
    return note(__libc_calloc(count, size), count * size, SITE);
}

PUBLIC void *realloc(void *p, size_t n)
{
    return note(__libc_realloc(p, n), n, SITE);
}

PUBLIC void *memalign(size_t align, size_t n)
{
    return note(__libc_memalign(align, n), n, SITE);
}

PUBLIC void *aligned_alloc(size_t align, size_t n)
{
    return note(__libc_memalign(align, n), n, SITE);
}

PUBLIC int posix_memalign(void **out, size_t align, size_t n)
{
    if (align < sizeof(void *) || align & (align - 1))
        return EINVAL;
    void *p = __libc_memalign(align, n);
    if (!p)
        return ENOMEM;
    *out = note(p, n, SITE);
    return 0;
}

/* new and new[] of C++, which would else be where all its objects come from. Without memory they
 * are as in a program without exceptions. */
PUBLIC void *_Znwm(size_t n);
PUBLIC void *_Znwm(size_t n)
{
    void *p = __libc_malloc(n ? n : 1);

    if (!p)
        abort();
    return note(p, n, SITE);
}

PUBLIC void *_Znam(size_t n);
PUBLIC void *_Znam(size_t n)
{
    void *p = __libc_malloc(n ? n : 1);

    if (!p)
        abort();
    return note(p, n, SITE);
}
