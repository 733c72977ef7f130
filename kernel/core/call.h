/* Runs functions on other CPUs, in an interrupt. */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

/* Runs fn(arg) on `cpu`, which may be the caller's, with interrupts off there, and waits until it
 * has returned. Thread context, no spinlock held. Returns 0; -ETIMEDOUT: the CPU did not begin
 * within `wait_ns`, and will not; -EBUSY: another CPU's call is waiting there. */
int call_cpu(struct cpu *cpu, void (*fn)(void *arg), void *arg, uint64_t wait_ns);
void call_ipi(void); /* handles IPI_CALL */
