/* Files that stand for processes: pidfd_open(2). One can be read, as poll(2) says, once its process
 * has ended. Thread context, no lock held. */
#pragma once
#include "kernel/file/file.h"

struct process;

/* Makes one for p. `flags`: O_NONBLOCK. Returns 0 or -ENOMEM. */
int pid_file_make(struct process *p, uint32_t flags, struct file **out);
/* Returns its process, which is as long as the file, or NULL: f is no such file. */
struct process *pid_file_process(const struct file *f);
