/*
 * Futexes: sleeping on a word of user memory (Franke, Russell and Kirkwood 2002). A futex is named
 * by address space and address; memory is not shared between processes. Thread context, no spinlock
 * held; the address may be anything.
 */
#pragma once
#include "kernel/lib/base.h"

struct space;

void futex_init(void);
/* Sleeps while the word holds expected, until woken. 0; -EAGAIN it holds something else;
 * -ETIMEDOUT; -EINTR the process is ending; -EFAULT; -EINVAL misaligned. deadline_ns as in
 * arch_clock_ns; UINT64_MAX: none. */
int futex_wait(struct space *space, vaddr_t va, uint32_t expected, uint64_t deadline_ns);
/* Wakes up to max of those that sleep now, the longest waiting first. Their number; -EINVAL
 * misaligned; -EFAULT outside user space. */
int futex_wake(struct space *space, vaddr_t va, uint32_t max);
