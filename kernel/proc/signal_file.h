/* Files that signals are read from: signalfd. Thread context, no lock held. */
#pragma once
#include "kernel/file/file.h"

struct process;

/* Makes one for the signals of `set` that wait for p or its threads. `flags`: O_NONBLOCK. Returns 0
 * or -ENOMEM. */
int signal_file_make(struct process *p, uint64_t set, uint32_t flags, struct file **out);
/* Changes its signals. Returns false if f is no such file. */
bool signal_file_set(struct file *f, uint64_t set);
