/* Arguments that point into user memory. Thread context, no spinlock held; any address is allowed
 * and checked. */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"

/* A string of less than size bytes, NUL included in the copy. 0, -EFAULT, -E2BIG. */
int user_copy_string(char *dst, size_t size, vaddr_t src);
/* The same in memory of its own, the caller's to free. 0, -ENOMEM, and as above. */
int user_take_string(char **out, size_t size, vaddr_t src);
/* A result structure of full bytes into a caller's of bytes bytes: as much as it has room for. 0;
 * -EFAULT; -EINVAL when it has room for none. */
int user_put_struct(vaddr_t dst, uint64_t bytes, const void *src, size_t full);
