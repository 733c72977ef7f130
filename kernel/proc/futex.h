/*
 * Futexes: sleeping on a word of user memory (Franke, Russell and Kirkwood 2002; futex(2)). Address
 * space and address name a futex; processes do not share memory. Any address is allowed and
 * checked. Thread context, no spinlock held.
 */
#pragma once
#include "kernel/lib/base.h"

struct space;
struct thread;

#define FUTEX_ANY UINT32_MAX /* every bit */

void futex_init(void);
/* Sleeps while the word holds `expected`, until woken for one of `bits` or deadline_ns
 * (arch_clock_ns; UINT64_MAX: none). Returns 0; -EAGAIN: it holds another value; -ETIMEDOUT;
 * -ERESTARTSYS: a signal, or the end of the process; -EFAULT; -EINVAL: misaligned. */
int futex_wait(struct space *space, vaddr_t va, uint32_t expected, uint32_t bits,
               uint64_t deadline_ns);
/* Wakes up to `max` threads that sleep now for one of `bits`, the longest sleeping first. Returns
 * their number; -EINVAL: misaligned; -EFAULT: outside user space. */
int futex_wake(struct space *space, vaddr_t va, uint32_t max, uint32_t bits);
/* What futex_requeue() does. */
struct futex_requeue {
    vaddr_t from, to;
    uint32_t wake, move; /* threads, at most */
    bool compares;       /* only if the word at `from` holds `expected` */
    uint32_t expected;
};
/* Wakes threads that sleep on the word at `from` now; further ones sleep on that at `to` instead.
 * Returns the number of both together; -EAGAIN: another value; -EFAULT; -EINVAL: misaligned. */
int futex_requeue(struct space *space, const struct futex_requeue *what);
/* Marks the words of the robust list of the caller, which ends, as without an owner, and wakes a
 * thread that waits for each (Linux, Documentation/locking/robust-futex-ABI.rst). */
void futex_release_robust(struct thread *self, struct space *space);
