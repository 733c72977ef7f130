/* Arguments that point into user memory. Any address is allowed and checked. Thread context, no
 * spinlock held. */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"

/* Copies a string of less than `size` bytes, including its NUL. Returns 0, -EFAULT or -E2BIG. */
int user_copy_string(char *dst, size_t size, vaddr_t src);
/* Copies such a string to memory that the caller frees. Returns 0, -ENOMEM, -EFAULT or -E2BIG. */
int user_take_string(char **out, size_t size, vaddr_t src);
/* Copies a structure of `full` bytes to a user's of `bytes` bytes, as far as it has room. Returns
 * 0; -EFAULT; -EINVAL: bytes is 0. */
int user_put_struct(vaddr_t dst, uint64_t bytes, const void *src, size_t full);
/* Copies a user's structure of `bytes` bytes, at least `least`, to one of `full` bytes, whose rest
 * becomes 0. Returns 0; -EFAULT; -EINVAL: too short; -E2BIG: bytes behind `full` are not 0. */
int user_get_struct(void *dst, size_t full, size_t least, vaddr_t src, uint64_t bytes);
/* Reads Linux's struct timespec, and returns it in nanoseconds, UINT64_MAX if it is more. Returns
 * 0; -EFAULT; -EINVAL: it is negative, or has a second of nanoseconds or more. */
int user_get_time(vaddr_t src, uint64_t *ns);
