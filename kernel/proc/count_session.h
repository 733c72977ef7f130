/* Sessions of counting (hpm/hpm.h) that processes open: who owns them, and what their earlier
 * readings were. */
#pragma once
#include "kernel/proc/abi.h"
#include "kernel/proc/process.h"

/* Its number, from 1; or with why an error of hpm_session_open, or -ENOSPC: the owner has as many
 * as one process may have, its family as many as one may have, or all are open. */
int counts_open(const struct process *owner, const char *names, char *why, size_t size);
/* Copies the first room values of the session to user memory; a reading since last counts as made
 * when they are there. Thread context. Returns how many values the session has. -ESRCH: no such
 * session of the owner's, process or thread; -EACCES: the machine, with proc.visible=own; -EINVAL:
 * a field of read; -ENOSPC: too many things are read since last; -ENOMEM; -EFAULT. */
int counts_read(struct process *owner, const struct sys_hpm_read *read, vaddr_t to, size_t room);
/* The calling thread, of the owner, may read the session's counts by itself (hpm_user_open): where.
 * -ESRCH: no such session; -ENOTSUP: not on this machine; -ENOMEM. */
int64_t counts_show(struct process *owner, uint32_t session);
/* The calling thread is about to end, in its space still. */
void counts_hide(struct process *owner);
/* -ESRCH. */
int counts_close(const struct process *owner, uint32_t session);
/* The process is no more: closes all of its. */
void counts_forget(const struct process *owner);
