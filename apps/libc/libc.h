/* Shared between the files of this folder only: the thread descriptor and what start, threads and
 * locks know of it. */
#pragma once
#include <pthread.h>
#include <reent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "apps/libc/names.h"
#include "apps/libc/syscall.h"

#define LIBC_PAGE 4096u

/*
 * One per thread. It begins at the thread pointer, with thread-local storage in front of it
 * (variant II of the ELF TLS ABI), or ends there, with thread-local storage behind (variant I).
 * tid is written by the kernel before the thread runs, and cleared by it, with a futex wake, when
 * the thread is gone.
 */
struct pthread {
    struct pthread *self; /* first: variant II wants the thread pointer there */
    uint32_t tid;
    uint32_t detached;  /* nobody will join */
    uint32_t tid_value; /* stays after tid is cleared */
    void *(*start)(void *);
    void *arg;
    void *result;
    void *map; /* stack, guard and this descriptor; 0: the first thread */
    size_t map_size;
    struct pthread *next; /* in the list of detached threads to free */
    struct key_value {
        const void *value;
        uint32_t number; /* of the key it was given */
    } specific[PTHREAD_KEYS_MAX];
    void *malloc_cache; /* malloc.c */
    char *kept;         /* malloc_map.c: a mapping it has freed, or NULL */
    size_t kept_size;
    cpu_set_t affinity; /* applied before start, if not empty */
    struct _reent reent;
};

static inline struct pthread *thread_self(void)
{
    return (struct pthread *)thread_pointer() - (TLS_VARIANT == 1);
}

/* Bytes that thread-local storage and the descriptor take together, and their set-up at the given
 * place (64-byte aligned). Returns the descriptor; *tp is the thread pointer. */
size_t tls_size(void) VIGIL(tls_size);
struct pthread *tls_init(void *at, uint64_t *tp) VIGIL(tls_init);

void keys_run_destructors(struct pthread *self) VIGIL(keys_run_destructors);
void malloc_thread_exit(struct pthread *self) VIGIL(malloc_thread_exit);
void mappings_thread_exit(struct pthread *self) VIGIL(mappings_thread_exit);

/* Futex: wait while *word == expected, until deadline_ns (UINT64_MAX: none). 0 or -Exxx. */
uint64_t clock_ns(void) VIGIL(clock_ns);
int futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns) VIGIL(futex_wait);
void futex_wake(uint32_t *word, uint32_t count) VIGIL(futex_wake);
/* Nanoseconds; 0 for what is negative, UINT64_MAX for what does not fit. */
uint64_t timespec_ns(const struct timespec *t) VIGIL(timespec_ns);

/* A plain lock for this library's own use: 0 free, 1 held, 2 contended. */
void lock_take(uint32_t *word) VIGIL(lock_take);
void lock_give(uint32_t *word) VIGIL(lock_give);
