/* Shared by the files of this folder only: the thread descriptor, futexes and the library's own
 * lock. */
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
 * The descriptor of a thread. It begins at the thread pointer, with thread-local storage in front
 * of it (variant II of the ELF TLS ABI), or ends there, with thread-local storage behind (variant
 * I). The kernel writes `tid` before the thread runs, and clears it with a futex wake, which is not
 * a private one, when the thread has ended.
 */
struct pthread {
    struct pthread *self; /* first, as variant II requires */
    uint32_t tid;
    uint32_t detached;  /* no thread will join it */
    uint32_t tid_value; /* tid, kept after tid is cleared */
    void *(*start)(void *);
    void *arg;
    void *result;
    void *map; /* stack, guard and this descriptor; NULL: the first thread */
    size_t map_size;
    struct pthread *next; /* in the list of detached threads with mappings to be freed */
    struct key_value {
        const void *value;
        uint32_t number; /* the key's number when the value was set */
    } specific[PTHREAD_KEYS_MAX];
    void *malloc_cache; /* malloc.c */
    char *kept;         /* malloc_map.c: a mapping that the thread has freed, or NULL */
    size_t kept_size;
    cpu_set_t affinity; /* set before start() is called, if not empty */
    struct _reent reent;
};

static inline struct pthread *thread_self(void)
{
    return (struct pthread *)thread_pointer() - (TLS_VARIANT == 1);
}

/* tls_size() returns the bytes of thread-local storage and descriptor together. tls_init() sets
 * both up `at` a 64-byte aligned address, sets `tp` to the thread pointer and returns the
 * descriptor. */
size_t tls_size(void) VIGIL(tls_size);
struct pthread *tls_init(void *at, uint64_t *tp) VIGIL(tls_init);

void keys_run_destructors(struct pthread *self) VIGIL(keys_run_destructors);
void malloc_thread_exit(struct pthread *self) VIGIL(malloc_thread_exit);
void mappings_thread_exit(struct pthread *self) VIGIL(mappings_thread_exit);

/* Makes a thread with these flags, stack, word that its number is stored in, and thread pointer, by
 * the call of this number (start.S). Returns the thread's number or an error of Linux. The thread
 * calls thread_main(). */
int64_t clone_thread(uint64_t flags, void *stack_top, uint32_t *tid, uint64_t tp, uint64_t number)
    VIGIL(clone);
void restore_signal(void) VIGIL(restore);

/* The values that the kernel has given the program about itself and the machine; 0: none. */
uint64_t auxiliary_value(uint64_t type) VIGIL(auxiliary_value);
/* Returns the address of a function of the vDSO whose name ends like this, or NULL. */
void *vdso_function(const char *end) VIGIL(vdso_function);
/* Looks up what clocks are read by. Called once, before there are threads. */
void clock_start(void) VIGIL(clock_start);

/* Maps zeroed memory of whole pages; flags: of Linux's mmap, more than anonymous and private. Names
 * it, where the kernel names memory, if name is not NULL. Returns NULL if there is none. */
void *pages_map(size_t bytes, const char *name, int flags) VIGIL(pages_map);

/* Returns what a POSIX function returns for a system call's result: that, or -1 with errno. */
int posix_result(int64_t result) VIGIL(posix_result);

/* Returns ns since boot. */
uint64_t clock_ns(void) VIGIL(clock_ns);
/* Sleeps while *word == expected, until it is woken. Returns 0 or -Exxx. */
int futex_wait(uint32_t *word, uint32_t expected) VIGIL(futex_wait);
/* The same, until deadline_ns passes, by CLOCK_REALTIME or CLOCK_MONOTONIC; UINT64_MAX: never. */
int futex_wait_until(uint32_t *word, uint32_t expected, clockid_t clock, uint64_t deadline_ns)
    VIGIL(futex_wait_until);
void futex_wake(uint32_t *word, uint32_t count) VIGIL(futex_wake);
/* Sleeps this long, or until a signal comes. */
void sleep_ns(uint64_t ns) VIGIL(sleep_ns);
/* Converts to nanoseconds: 0 if negative, UINT64_MAX if too large. */
uint64_t timespec_ns(const struct timespec *t) VIGIL(timespec_ns);

/* A lock for the library's own use. The word is 0 if free, 1 if held, 2 if contended. */
void lock_take(uint32_t *word) VIGIL(lock_take);
void lock_give(uint32_t *word) VIGIL(lock_give);
