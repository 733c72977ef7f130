/* What delivering signals to the caller (signal_deliver.c) takes from signal.c. Thread context. */
#pragma once
#include "kernel/proc/signal.h"

/* `_locked`: lock of p held. */
bool signal_is_ignored(const struct process *p, int number);
/* Takes a signal of `set` that waits for t, the caller, or its process. Returns its number, or
 * 0. */
int signal_take_locked(struct process *p, struct thread *t, uint64_t set, siginfo_t *info);
/* Sets t->signalled of the caller as its mask and what waits want it. */
void signals_settle_locked(struct process *p, struct thread *t);
/* Sets the caller's mask. Others take what waits for the process and the caller now blocks. */
void signal_set_mask_locked(struct process *p, struct thread *t, uint64_t mask);
/* Says on the console that a signal has ended p, which was not ending before. Another process's
 * descriptors may be gone by now: its last thread writes out what is left. No lock held. */
void signal_report_end(struct process *p, int number);
