/* See user.h. */
#include "kernel/proc/user.h"
#include "kernel/mem/mem.h"
#include <linux/time_types.h>

#define STRING_PART 64 /* an aligned part lies in one page */

int user_copy_string(char *dst, size_t size, vaddr_t src)
{
    for (size_t at = 0; at < size;) {
        size_t n = MIN(size - at, (size_t)(STRING_PART - (src + at) % STRING_PART));
        if (src + at < src || arch_copy_from_user(dst + at, src + at, n))
            return -EFAULT;
        for (size_t end = at + n; at < end; at++)
            if (!dst[at])
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

/* Checks that n bytes at `src` are 0. */
static int check_zeros(vaddr_t src, uint64_t n)
{
    uint8_t part[64];

    for (; n; src += MIN(n, sizeof(part)), n -= MIN(n, sizeof(part))) {
        if (arch_copy_from_user(part, src, MIN(n, sizeof(part))))
            return -EFAULT;
        for (unsigned i = 0; i < MIN(n, sizeof(part)); i++)
            if (part[i])
                return -E2BIG;
    }
    return 0;
}

int user_get_struct(void *dst, size_t full, size_t least, vaddr_t src, uint64_t bytes)
{
    if (bytes < least)
        return -EINVAL;
    if (bytes > PAGE_SIZE)
        return -E2BIG;
    memset(dst, 0, full);
    if (arch_copy_from_user(dst, src, MIN(bytes, (uint64_t)full)))
        return -EFAULT;
    return bytes > full ? check_zeros(src + full, bytes - full) : 0;
}

int user_get_time(vaddr_t src, uint64_t *ns)
{
    struct __kernel_timespec t;

    if (arch_copy_from_user(&t, src, sizeof(t)))
        return -EFAULT;
    if (t.tv_sec < 0 || t.tv_nsec < 0 || (uint64_t)t.tv_nsec >= NS_PER_S)
        return -EINVAL;
    if (__builtin_mul_overflow((uint64_t)t.tv_sec, NS_PER_S, ns) ||
        __builtin_add_overflow(*ns, (uint64_t)t.tv_nsec, ns))
        *ns = UINT64_MAX;
    return 0;
}
