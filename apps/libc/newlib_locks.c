/* newlib's own locks (stdio, atexit, environment) by its retargetable-lock interface: recursive
 * futex locks. */
#include <stdlib.h>
#include <sys/lock.h>
#include "apps/libc/libc.h"

struct __lock {
    uint32_t word, owner, depth;
};

struct __lock __lock___sinit_recursive_mutex, __lock___sfp_recursive_mutex,
    __lock___atexit_recursive_mutex, __lock___at_quick_exit_mutex, __lock___malloc_recursive_mutex,
    __lock___env_recursive_mutex, __lock___tz_mutex, __lock___dd_hash_mutex,
    __lock___arc4random_mutex;

void __retarget_lock_init(_LOCK_T *lock)
{
    *lock = calloc(1, sizeof **lock);
    if (!*lock)
        abort();
}

void __retarget_lock_close(_LOCK_T lock)
{
    free(lock);
}

void __retarget_lock_acquire(_LOCK_T lock)
{
    lock_take(&lock->word);
}

int __retarget_lock_try_acquire(_LOCK_T lock)
{
    uint32_t free_word = 0;
    return __atomic_compare_exchange_n(&lock->word, &free_word, 1, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void __retarget_lock_release(_LOCK_T lock)
{
    lock_give(&lock->word);
}

void __retarget_lock_init_recursive(_LOCK_T *lock)
{
    __retarget_lock_init(lock);
}

void __retarget_lock_close_recursive(_LOCK_T lock)
{
    __retarget_lock_close(lock);
}

/* `owner` equals the caller's id only if the caller wrote it, so no lock is needed to read it. */
static int held_by_me(struct __lock *lock)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == thread_self()->tid_value;
}

static void now_mine(struct __lock *lock)
{
    __atomic_store_n(&lock->owner, thread_self()->tid_value, __ATOMIC_RELAXED);
    lock->depth = 1;
}

void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
    if (held_by_me(lock)) {
        lock->depth++;
        return;
    }
    lock_take(&lock->word);
    now_mine(lock);
}

int __retarget_lock_try_acquire_recursive(_LOCK_T lock)
{
    if (held_by_me(lock)) {
        lock->depth++;
        return 1;
    }
    if (!__retarget_lock_try_acquire(lock))
        return 0;
    now_mine(lock);
    return 1;
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
    if (--lock->depth)
        return;
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    lock_give(&lock->word);
}
