/* The room of a pipe, in bytes, and what splice(2) does with the bytes. Thread context, no lock
 * held. */
#pragma once
#include "kernel/file/file.h"

#define PIPE_ROOM_MAX 1048576

/* Returns how many bytes an open pipe holds, or -EBADF: it is no pipe. */
int64_t pipe_room(const struct file *f);
/* Gives it room for `bytes`, rounded up to pages by a power of 2. Returns the room; -EBADF;
 * -EINVAL; -EPERM: more than PIPE_ROOM_MAX; -EBUSY: it holds more now; -ENOMEM. */
int64_t pipe_set_room(struct file *f, uint64_t bytes);

bool pipe_is(const struct file *f); /* returns whether it is an end of a pipe; the rest wants one */
/* Returns whether both are ends of one pipe. */
bool pipe_is_same(const struct file *a, const struct file *b);
/* Copy up to n bytes out of an end that is read. pipe_take() takes them out; but their room is kept
 * until pipe_settle() says how many of them were used: the others are put back, in front of the
 * rest. Return the number of bytes, 0: there is none, and no writer; -EAGAIN: none yet, and not
 * `waits`; -ERESTARTSYS. */
int64_t pipe_look(struct file *f, void *to, uint64_t n, bool waits);
int64_t pipe_take(struct file *f, void *to, uint64_t n, bool waits);
void pipe_settle(struct file *f, const void *bytes, uint64_t taken, uint64_t used);
/* Puts up to n bytes into an end that is written. Returns how many; -EAGAIN; -EPIPE;
 * -ERESTARTSYS. */
int64_t pipe_put(struct file *f, const void *from, uint64_t n, bool waits);
/* Returns how many bytes can be put, at least 1; errors as pipe_put. */
int64_t pipe_wait_room(struct file *f, bool waits);
