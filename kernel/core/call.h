/* Running a function on another CPU, in an interrupt of its. */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

/* Runs fn(arg) on that CPU, which may be the caller's, interrupts off there, and waits until it has
 * returned. -ETIMEDOUT: the CPU did not begin within wait_ns, and will not. -EBUSY: somebody
 * else's call waits there. Thread context, no spinlock held. */
int call_cpu(struct cpu *cpu, void (*fn)(void *arg), void *arg, uint64_t wait_ns);
void call_ipi(void); /* IPI_CALL */
