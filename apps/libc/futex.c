/* Waiting on a word, the primitive under every lock here; and the library's own lock. */
#include <errno.h>
#include "apps/libc/libc.h"

#define NS_PER_S 1000000000u

int futex_wait_until(uint32_t *word, uint32_t expected, clockid_t clock, uint64_t deadline_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                   .tv_nsec = (long)(deadline_ns % NS_PER_S)};
    int by_date = clock == CLOCK_REALTIME ? LINUX_FUTEX_CLOCK_REALTIME : 0;

    return (int)syscall6(SYS_futex, (uint64_t)word,
                         LINUX_FUTEX_WAIT_BITSET | LINUX_FUTEX_PRIVATE_FLAG | by_date, expected,
                         deadline_ns == UINT64_MAX ? 0 : (uint64_t)&until, 0,
                         LINUX_FUTEX_BITSET_MATCH_ANY);
}

int futex_wait(uint32_t *word, uint32_t expected)
{
    return (int)syscall4(SYS_futex, word, LINUX_FUTEX_WAIT | LINUX_FUTEX_PRIVATE_FLAG, expected, 0);
}

void futex_wake(uint32_t *word, uint32_t count)
{
    syscall3(SYS_futex, word, LINUX_FUTEX_WAKE | LINUX_FUTEX_PRIVATE_FLAG, count);
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
        futex_wait(word, 2);
        seen = __atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE);
    }
}

void lock_give(uint32_t *word)
{
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
        futex_wake(word, 1);
}
