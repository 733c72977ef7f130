/* Sessions of counts (hpm/count.h) that processes have open, with their earlier readings. */
#pragma once
#include "kernel/proc/abi.h"
#include "kernel/proc/process.h"

/* Opens a session. Returns its number, from 1; or, with the reason in `why`, an error of
 * hpm_session_open(), or -ENOSPC: too many sessions of the process, of its family, or of all. */
int counts_open(const struct process *owner, const char *names, char *why, size_t size);
/* Copies the first `room` values of a session to user memory; a reading with since_last counts as
 * made once they are there. Thread context. Returns the number of values that the session has.
 * -ESRCH: no such session of the owner's, or no such process or thread; -EACCES: the machine, with
 * proc.visible=own; -EINVAL: a field of `read`; -ENOSPC: too many objects are read since last;
 * -ENOMEM; -EFAULT. */
int counts_read(struct process *owner, const struct sys_hpm_read *read, vaddr_t to, size_t room);
/* Describes the turns of all that is counted, and of each name of a session, at most 64. Returns
 * the number of names, or -ESRCH: no such session of the owner's. Thread context. */
int counts_turns(const struct process *owner, uint32_t session, struct sys_hpm_turns *turns,
                 struct sys_hpm_turn *turn);
/* Returns how many groups more there would be if `name` were counted, too; SYS_LISTED_NEVER: it
 * cannot be beside what is counted now, or there is no memory to find out. Thread context. */
uint32_t counts_groups(const char *name);
/* Lets the calling thread, one of the owner's, read the session's counts in user mode
 * (hpm_user_open). Returns the address of its page. -ESRCH: no such session; -ENOTSUP: not on this
 * machine; -ENOMEM. */
int64_t counts_show(struct process *owner, uint32_t session);
/* Unmaps the page of the calling thread, which is about to end. */
void counts_hide(struct process *owner);
/* Starts the log of a session: SYS_HPM_LOG. Returns the figures of its records; or, with the reason
 * in `why`, -ESRCH: no such session of the owner's, or no such process; -EACCES: all threads, with
 * proc.visible=own; -EINVAL: a field of `what`, or the session has no events; -EBUSY: it has a log;
 * -ENOSPC: too many logs; -EDQUOT: what mem.kernel allows; -ENOMEM. Thread context. */
int counts_log(struct process *owner, uint32_t session, const struct sys_hpm_log *what, char *why,
               size_t size);
/* Takes records of the session's log: SYS_HPM_LOG_TAKE. Returns their number; -ESRCH: no such
 * session, or it has no log; -EINVAL: no room for a record; -EFAULT; -ENOMEM. Thread context. */
int64_t counts_log_take(const struct process *owner, uint32_t session, vaddr_t to, size_t bytes);
/* Closes a session, with its log, and gives back what they were charged: hpm_session_bytes() and
 * the log's. Returns 0 or -ESRCH. */
int counts_close(struct process *owner, uint32_t session);
/* Closes all sessions of a process that has ended. */
void counts_forget(const struct process *owner);
