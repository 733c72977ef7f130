/*
 * The end after a broken invariant. panic() itself is declared in kernel/lib/base.h.
 */
#pragma once
#include "kernel/lib/base.h"

struct arch_frame;

/* As panic, for an exception in the kernel: its registers are shown, the backtrace starts there.
 * Interrupts off. */
NORETURN void panic_frame(const struct arch_frame *frame, const char *fmt, ...) PRINTF(2, 3);
/* IPI_STOP: shows this CPU's backtrace when its turn comes, then spins for good. Returns where the
 * CPU must first finish something (end.h), or, having taken a lock or printed,
 * has found out by itself and was interrupted in doing that. */
void panic_stop_asked(void);
