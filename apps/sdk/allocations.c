/*
 * Logs where a program of Linux allocates memory, loaded before its libraries (LD_PRELOAD): each
 * call of malloc and its like is a record in the file ALLOCATIONS_PATH, if there is such a file
 * when the program begins. Memory itself is glibc's. For C++ the site is where new was used.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "apps/libc/allocation_log.h"

#define PUBLIC __attribute__((visibility("default")))
#define SITE   ((uint64_t)__builtin_return_address(0))

/* glibc's own, under names that nothing stands before. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

__attribute__((constructor)) static void begin(void)
{
    allocation_log_begin();
    pthread_atfork(NULL, NULL, allocation_log_forked);
}

PUBLIC void *malloc(size_t n)
{
    return allocation_note(__libc_malloc(n), n, SITE);
}

PUBLIC void *calloc(size_t count, size_t size)
{
    return allocation_note(__libc_calloc(count, size), count * size, SITE);
}

PUBLIC void *realloc(void *p, size_t n)
{
    return allocation_note(__libc_realloc(p, n), n, SITE);
}

PUBLIC void *memalign(size_t align, size_t n)
{
    return allocation_note(__libc_memalign(align, n), n, SITE);
}

PUBLIC void *aligned_alloc(size_t align, size_t n)
{
    return allocation_note(__libc_memalign(align, n), n, SITE);
}

PUBLIC int posix_memalign(void **out, size_t align, size_t n)
{
    if (align < sizeof(void *) || align & (align - 1))
        return EINVAL;
    void *p = __libc_memalign(align, n);
    if (!p)
        return ENOMEM;
    *out = allocation_note(p, n, SITE);
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
    return allocation_note(p, n, SITE);
}

PUBLIC void *_Znam(size_t n);
PUBLIC void *_Znam(size_t n)
{
    void *p = __libc_malloc(n ? n : 1);

    if (!p)
        abort();
    return allocation_note(p, n, SITE);
}
