/*
 * What follows a broken invariant. panic() itself is declared in kernel/lib/base.h.
 */
#pragma once
#include "kernel/lib/base.h"

struct arch_frame;

/* Panics at an exception in the kernel: prints the registers of `frame`, and a backtrace that
 * starts there. Interrupts off. */
NORETURN void panic_frame(const struct arch_frame *frame, const char *fmt, ...) PRINTF(2, 3);
/* Handles IPI_STOP: prints this CPU's backtrace when its turn comes, then spins for ever. Returns
 * only if the CPU must first finish a change (end_whole_begin), or if it had already noticed the
 * panic when it took a lock or printed, and was interrupted there. */
void panic_stop_asked(void);
