/* Copies between kernel and user memory, with every address checked and user access enabled as
 * briefly as possible. */
#include "kernel/arch/arch.h"
#include "kernel/core/lock.h"

int user_copy(void *dst, const void *src, size_t n);
int peek32(const void *src, uint32_t *out);
int peek64(const void *src, uint64_t *out);
int user_swap32(uint32_t *at, uint32_t old, uint32_t new, uint32_t *seen);

bool arch_user_range(vaddr_t va, uint64_t n)
{
    return va <= USER_MAX && n <= USER_MAX - va;
}

static int copy_checked(void *dst, const void *src, size_t n)
{
    may_wait("user memory copied");
    arch_user_access_begin();
    int err = user_copy(dst, src, n);
    arch_user_access_end();
    return err;
}

int arch_copy_from_user(void *dst, vaddr_t src, size_t n)
{
    return arch_user_range(src, n) ? copy_checked(dst, (const void *)src, n) : -EFAULT;
}

int arch_copy_to_user(vaddr_t dst, const void *src, size_t n)
{
    return arch_user_range(dst, n) ? copy_checked((void *)dst, src, n) : -EFAULT;
}

int arch_peek_user32(vaddr_t src, uint32_t *out)
{
    if (!arch_user_range(src, sizeof(*out)) || !IS_ALIGNED(src, sizeof(*out)))
        return -EFAULT;
    arch_user_access_begin();
    int err = peek32((const void *)src, out);
    arch_user_access_end();
    return err;
}

int arch_peek_user64(vaddr_t src, uint64_t *out)
{
    if (!arch_user_range(src, sizeof(*out)) || !IS_ALIGNED(src, sizeof(*out)))
        return -EFAULT;
    arch_user_access_begin();
    int err = peek64((const void *)src, out);
    arch_user_access_end();
    return err;
}

int arch_peek64(vaddr_t src, uint64_t *out)
{
    return IS_ALIGNED(src, sizeof(*out)) ? peek64((const void *)src, out) : -EFAULT;
}

int arch_swap_user32(vaddr_t at, uint32_t old, uint32_t new, uint32_t *seen)
{
    if (!arch_user_range(at, sizeof(new)) || !IS_ALIGNED(at, sizeof(new)))
        return -EFAULT;
    may_wait("user memory changed");
    arch_user_access_begin();
    int err = user_swap32((uint32_t *)at, old, new, seen);
    arch_user_access_end();
    return err;
}
