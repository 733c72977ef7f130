/*
 * Locks on files: records by process (fcntl), records by opening (F_OFD_*), and whole files by
 * opening (flock). Those of an opening and of a process know nothing of each other's owner, but
 * conflict; flock's are apart. They are advice: reading and writing do not look at them.
 *
 * Thread context, no lock held.
 */
#pragma once
#include "kernel/file/file.h"
#include "kernel/file/ranges.h"

#define LOCK_NO_PID UINT32_MAX /* of an opening's records, which know no deadlock */

enum lock_kind { LOCK_RECORDS, LOCK_WHOLE };

/* Locks or, without `locks`, unlocks a range of the file of `f`. `want` has owner, range and kind.
 * Returns 0; -EAGAIN: another owner's is in the way, and `waits` is false; -EDEADLK: owners would
 * wait for each other; -ERESTARTSYS: a signal; -ENOMEM. */
int lock_set(struct file *f, enum lock_kind kind, const struct range_lock *want, bool locks,
             bool waits);
/* Finds what is in the way of `want`. Returns false if nothing is. */
bool lock_test(struct file *f, const struct range_lock *want, struct range_lock *out);
/* Releases the owner's locks on a vnode, NULL: on all: of a process that closes it, of an opening
 * that ends. */
void lock_release(const struct vnode *v, const void *owner);
