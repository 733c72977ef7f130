/*
 * Logs where a program of Linux allocates memory that is linked statically, by any C library: the
 * linker turns its calls of malloc and its like to these, and gives these the library's own
 * (--wrap). See allocations.c.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "apps/sdk/allocations_linked.h"

__attribute__((constructor(101))) static void begin(void)
{
    allocation_log_begin();
    pthread_atfork(NULL, NULL, allocation_log_forked);
}

WRAPPED(malloc, n, (size_t n), (n))
WRAPPED(calloc, count *size, (size_t count, size_t size), (count, size))
WRAPPED(realloc, n, (void *p, size_t n), (p, n))
WRAPPED(reallocarray, count *size, (void *p, size_t count, size_t size), (p, count, size))
WRAPPED(memalign, n, (size_t align, size_t n), (align, n))
WRAPPED(aligned_alloc, n, (size_t align, size_t n), (align, n))
WRAPPED(valloc, n, (size_t n), (n))

int __real_posix_memalign(void **out, size_t align, size_t n);
int __wrap_posix_memalign(void **out, size_t align, size_t n);
int __wrap_posix_memalign(void **out, size_t align, size_t n)
{
    int error = __real_posix_memalign(out, align, n);

    if (!error)
        allocation_note(*out, n, SITE);
    return error;
}
