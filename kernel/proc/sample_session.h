/* Sessions of samples (hpm/sampling.h) that processes have open, and the thread that collects their
 * samples. */
#pragma once
#include "kernel/proc/abi.h"
#include "kernel/proc/process.h"
#include "hpm/sampling.h"

/* Kernel memory charged for a session: its buffer. */
#define SAMPLES_SESSION_BYTES (512 * KIB)

/* Opens a session. Returns its number, from 1; or, with the reason in `why`, an error of
 * hpm_profile_open(); -ESRCH: no such process (that of children_next_pid() is allowed); -EACCES:
 * all processes, with proc.visible=own; -ENOSPC: too many sessions of the process, of its family,
 * or of all. */
int samples_open(struct process *owner, const struct hpm_profiling *what, char *why, size_t size);
/* Copies up to `max` samples to the user address `to`. Samples that cannot be copied stay for the
 * next call. Threads that take at the same time get different samples. May fault: no gate or lock
 * held. Returns the number copied; -ESRCH: no such session of the owner's; -EFAULT; -ENOMEM. */
int64_t samples_take(const struct process *owner, uint32_t session, vaddr_t to, size_t max);
/* Returns 0; -ESRCH: no such session; -ENOENT: no such criterion. */
int samples_account(const struct process *owner, uint32_t session, uint32_t criterion,
                    struct sys_sample_account *out);
/* Reads a chain of calls. Returns the number of its addresses; -ESRCH: no such session; -ENOENT: no
 * such chain. */
int samples_chain(const struct process *owner, uint32_t session, uint32_t chain,
                  uint64_t out[SYS_CHAIN_MAX]);
/* Returns 0 or -ESRCH. */
int samples_close(const struct process *owner, uint32_t session);
/* Closes all sessions of a process that has ended. */
void samples_forget(const struct process *owner);
