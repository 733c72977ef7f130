/* Profiles (hpm/hpm.h) that processes open: who owns them, and the thread that collects their
 * samples. */
#pragma once
#include "kernel/proc/abi.h"
#include "kernel/proc/process.h"
#include "hpm/sampling.h"

/* Kernel memory that a session takes, a little beside. */
#define SAMPLES_SESSION_BYTES (512 * KIB)

/* Its number, from 1; or, with why, -ESRCH: no such process, that may be the owner's next child's
 * number; -EACCES: all processes, with proc.visible=own; -ENOSPC: the owner has as many as one
 * process may have, or all are open; or an error of hpm_profile_open. */
int samples_open(struct process *owner, const struct hpm_profiling *what, char *why, size_t size);
/* Copies samples, at most max, to user address `to`: how many. None is lost: one that cannot be
 * copied stays for the next call, and of threads that take at once each gets others. -ESRCH: no
 * such session of the owner's; -EFAULT; -ENOMEM. May fault: no gate or lock held. */
int64_t samples_take(const struct process *owner, uint32_t session, vaddr_t to, size_t max);
/* -ESRCH; -ENOENT: it has no such criterion. */
int samples_account(const struct process *owner, uint32_t session, uint32_t criterion,
                    struct sys_sample_account *out);
/* -ESRCH. */
int samples_close(const struct process *owner, uint32_t session);
/* The process is no more: closes all of its. */
void samples_forget(const struct process *owner);
