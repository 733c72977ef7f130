/* The room of a pipe, in bytes. */
#pragma once
#include "kernel/file/file.h"

#define PIPE_ROOM_MAX 1048576

/* Returns how many bytes an open pipe holds, or -EBADF: it is no pipe. */
int64_t pipe_room(const struct file *f);
/* Gives it room for `bytes`, rounded up to pages by a power of 2. Returns the room; -EBADF;
 * -EINVAL; -EPERM: more than PIPE_ROOM_MAX; -EBUSY: it holds more now; -ENOMEM. Thread context. */
int64_t pipe_set_room(struct file *f, uint64_t bytes);
