/* Waiting on a word, the primitive under every lock here; and the library's own lock. */
#include <errno.h>
#include "apps/libc/libc.h"

int futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    uint64_t timeout = UINT64_MAX;
    if (deadline_ns != UINT64_MAX) {
        uint64_t now = clock_ns();
        if (now >= deadline_ns)
            return -ETIMEDOUT;
        timeout = deadline_ns - now;
    }
    return (int)syscall3(SYS_FUTEX_WAIT, word, expected, timeout);
}

void futex_wake(uint32_t *word, uint32_t count)
{
    syscall2(SYS_FUTEX_WAKE, word, count);
}

/* With three states an uncontended release makes no system call (Drepper, "Futexes are tricky",
 * mutex 2). */
void lock_take(uint32_t *word)
{
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(word, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    if (seen != 2)
        seen = __atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE);
    while (seen) {
        futex_wait(word, 2, UINT64_MAX);
        seen = __atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE);
    }
}

void lock_give(uint32_t *word)
{
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
        futex_wake(word, 1);
}
