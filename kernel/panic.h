/*
 * The end after a broken invariant.  panic() itself is declared in kernel/base.h.
 */
#pragma once
#include "kernel/base.h"

struct arch_frame;

/* As panic, for an exception in the kernel: its registers are shown, the backtrace starts there.  Interrupts
 * off. */
NORETURN void panic_frame(const struct arch_frame *frame, const char *fmt, ...) PRINTF(2, 3);
/* What IPI_STOP calls, and what becomes of a CPU it cannot reach when that takes a lock or prints: shows this CPU's backtrace
 * when its turn comes, then spins for good. */
NORETURN void panic_stopped(void);
/* A backtrace of the caller on the console, for watchdogs. */
void panic_backtrace(const struct arch_frame *frame);
