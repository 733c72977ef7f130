/*
 * Futexes: sleeping on a word of user memory (Franke, Russell and Kirkwood 2002). Address space and
 * address name a futex; processes do not share memory. Any address is allowed and checked. Thread
 * context, no spinlock held.
 */
#pragma once
#include "kernel/lib/base.h"

struct space;

void futex_init(void);
/* Sleeps while the word holds `expected`, until woken or deadline_ns (arch_clock_ns; UINT64_MAX:
 * none). Returns 0; -EAGAIN: it holds another value; -ETIMEDOUT; -EINTR: the process is ending;
 * -EFAULT; -EINVAL: misaligned. */
int futex_wait(struct space *space, vaddr_t va, uint32_t expected, uint64_t deadline_ns);
/* Wakes up to `max` threads that sleep now, the longest sleeping first. Returns their number;
 * -EINVAL: misaligned; -EFAULT: outside user space. */
int futex_wake(struct space *space, vaddr_t va, uint32_t max);
