/* See user.h. */
#include "kernel/proc/user.h"
#include "kernel/mem/mem.h"

int user_copy_string(char *dst, size_t size, vaddr_t src)
{
    for (size_t i = 0; i < size; i++) {
        if (src + i < src || arch_copy_from_user(&dst[i], src + i, 1))
            return -EFAULT;
        if (!dst[i])
            return 0;
    }
    return -E2BIG;
}

int user_take_string(char **out, size_t size, vaddr_t src)
{
    char *text = kmalloc(size);
    int err = text ? user_copy_string(text, size, src) : -ENOMEM;

    if (err)
        kfree(text);
    else
        *out = text;
    return err;
}

int user_put_struct(vaddr_t dst, uint64_t bytes, const void *src, size_t full)
{
    if (!bytes)
        return -EINVAL;
    return arch_copy_to_user(dst, src, MIN(bytes, (uint64_t)full));
}
