/* System calls of Linux: limits of a process (getrlimit(2)). Children inherit them. They are kept
 * for programs that ask, and for those parts of the kernel that heed one: process_limit(). */
#include "kernel/file/file.h"
#include "kernel/proc/limits.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"

static int64_t exchange(const struct call *c, struct process *p, unsigned resource, vaddr_t new_at,
                        vaddr_t old_at)
{
    struct rlimit64 new, old;

    if (resource >= RLIM_NLIMITS)
        return -EINVAL;
    if (new_at && arch_copy_from_user(&new, new_at, sizeof(new)))
        return -EFAULT;
    if (new_at && new.rlim_cur > new.rlim_max)
        return -EINVAL;
    if (new_at && (p != c->p || (resource == RLIMIT_NOFILE && new.rlim_max > LIMIT_FILES_MAX)))
        return -EPERM;
    bool irq = spin_lock(&p->lock);
    old = p->limits[resource];
    if (new_at)
        p->limits[resource] = new;
    spin_unlock(&p->lock, irq);
    if (new_at && resource == RLIMIT_NOFILE)
        files_set_limit(p->files, new.rlim_cur);
    return old_at ? arch_copy_to_user(old_at, &old, sizeof(old)) : 0;
}

int64_t sys_prlimit64(const struct call *c)
{
    uint32_t pid = (uint32_t)c->a[0];
    struct process *p = process_to_read(c->p, pid == c->p->pid ? 0 : pid);

    if (!p)
        return -ESRCH;
    int64_t err = exchange(c, p, (unsigned)c->a[1], c->a[2], c->a[3]);
    process_put(p);
    return err;
}

int64_t sys_getrlimit(const struct call *c)
{
    return exchange(c, c->p, (unsigned)c->a[0], 0, c->a[1] ? c->a[1] : UINT64_MAX);
}

int64_t sys_setrlimit(const struct call *c)
{
    return exchange(c, c->p, (unsigned)c->a[0], c->a[1] ? c->a[1] : UINT64_MAX, 0);
}
