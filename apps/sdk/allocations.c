/*
 * Logs where a program of Linux allocates memory, loaded before its libraries (LD_PRELOAD): each
 * call of malloc and its like is a record in the file ALLOCATIONS_PATH, if there is such a file
 * when the program begins. Memory itself is glibc's. For C++ the site is where new was used.
 * allocations_linked.c does so for programs that are linked statically.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "apps/libc/allocation_log.h"

#define PUBLIC __attribute__((visibility("default")))
#define SITE   ((uint64_t)__builtin_return_address(0))

/* glibc's own, under names that nothing stands before. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *__libc_valloc(size_t);
void *__libc_pvalloc(size_t);

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

PUBLIC void *reallocarray(void *p, size_t count, size_t size)
{
    size_t n;

    if (__builtin_mul_overflow(count, size, &n)) {
        errno = ENOMEM;
        return NULL;
    }
    return allocation_note(__libc_realloc(p, n), n, SITE);
}

PUBLIC void *valloc(size_t n)
{
    return allocation_note(__libc_valloc(n), n, SITE);
}

/* Whole pages are given. */
PUBLIC void *pvalloc(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return allocation_note(__libc_pvalloc(n), (n + page - 1) / page * page, SITE);
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

/* new and new[] of C++, which would else be where all its objects come from. Without memory the
 * library's own is asked: it calls the program's handler, throws, or returns NULL. */
#define NEW(name, given, words, types, ...)            \
    PUBLIC void *name words;                           \
    PUBLIC void *name words                            \
    {                                                  \
        void *p = given, *(*own)types;                 \
        if (p)                                         \
            return allocation_note(p, n, SITE);        \
        own = (void *(*)types)dlsym(RTLD_NEXT, #name); \
        return own ? own(__VA_ARGS__) : NULL;          \
    }
#define PLAIN   __libc_malloc(n ? n : 1)
#define ALIGNED __libc_memalign(align, n ? n : 1)
NEW(_Znwm, PLAIN, (size_t n), (size_t), n)
NEW(_Znam, PLAIN, (size_t n), (size_t), n)
NEW(_ZnwmRKSt9nothrow_t, PLAIN, (size_t n, const void *tag), (size_t, const void *), n, tag)
NEW(_ZnamRKSt9nothrow_t, PLAIN, (size_t n, const void *tag), (size_t, const void *), n, tag)
NEW(_ZnwmSt11align_val_t, ALIGNED, (size_t n, size_t align), (size_t, size_t), n, align)
NEW(_ZnamSt11align_val_t, ALIGNED, (size_t n, size_t align), (size_t, size_t), n, align)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, ALIGNED, (size_t n, size_t align, const void *tag),
    (size_t, size_t, const void *), n, align, tag)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, ALIGNED, (size_t n, size_t align, const void *tag),
    (size_t, size_t, const void *), n, align, tag)
