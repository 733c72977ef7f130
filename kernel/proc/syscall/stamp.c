/* System calls that set the times of files. */
#include "kernel/arch/arch.h"
#include "kernel/proc/syscall/paths.h"
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <linux/time.h>
#include <linux/time_types.h>

#define NOW  ((1l << 30) - 1l) /* UTIME_NOW */
#define OMIT ((1l << 30) - 2l) /* UTIME_OMIT */

/* Sets times in ns of what is at a path, or, if `path` is 0, of what dirfd has. */
static int64_t stamp_at(const struct call *c, uint64_t dirfd, vaddr_t path,
                        const struct __kernel_timespec t[2], uint64_t flags)
{
    struct vnode_time times[2];
    struct vnode *v;

    for (unsigned i = 0; i < 2; i++) {
        if (t[i].tv_nsec != NOW && t[i].tv_nsec != OMIT && (uint64_t)t[i].tv_nsec >= NS_PER_S)
            return -EINVAL;
        times[i] = (struct vnode_time){t[i].tv_sec, t[i].tv_nsec == NOW ? VNODE_TIME_NOW
                                                                        : (uint32_t)t[i].tv_nsec};
    }
    if (flags & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (t[0].tv_nsec == OMIT && t[1].tv_nsec == OMIT)
        return 0;
    if (!path) {
        struct file *f = files_find(c->p->files, dirfd);
        if (!f)
            return -EBADF;
        v = vnode_get(f->v);
        file_put(f);
    } else {
        int err = path_find(c, dirfd, path, flags, &v);
        if (err)
            return err;
    }
    int err = !v->mount || v->mount->read_only
                  ? -EROFS
                  : v->ops->stamp(v, t[0].tv_nsec == OMIT ? NULL : &times[0],
                                  t[1].tv_nsec == OMIT ? NULL : &times[1]);
    vnode_put(v);
    return err;
}

static const struct __kernel_timespec both_now[2] = {{0, NOW}, {0, NOW}};

int64_t sys_utimensat(const struct call *c)
{
    struct __kernel_timespec t[2];

    if (!c->a[1] && ((int)c->a[0] == AT_FDCWD || c->a[3]))
        return (int)c->a[0] == AT_FDCWD ? -EFAULT : -EINVAL;
    if (!c->a[2])
        return stamp_at(c, c->a[0], c->a[1], both_now, (uint32_t)c->a[3]);
    if (arch_copy_from_user(t, c->a[2], sizeof(t)))
        return -EFAULT;
    return stamp_at(c, c->a[0], c->a[1], t, (uint32_t)c->a[3]);
}

/* Sets times in microseconds. */
static int64_t stamp_us(const struct call *c, uint64_t dirfd, vaddr_t path, vaddr_t times)
{
    struct {
        int64_t s, us;
    } us[2];
    struct __kernel_timespec t[2];

    if (!times)
        return stamp_at(c, dirfd, path, both_now, 0);
    if (arch_copy_from_user(us, times, sizeof(us)))
        return -EFAULT;
    for (unsigned i = 0; i < 2; i++) {
        if ((uint64_t)us[i].us >= NS_PER_S / NS_PER_US)
            return -EINVAL;
        t[i] = (struct __kernel_timespec){us[i].s, us[i].us * (int64_t)NS_PER_US};
    }
    return stamp_at(c, dirfd, path, t, 0);
}

int64_t sys_utimes(const struct call *c)
{
    return c->a[0] ? stamp_us(c, (uint64_t)AT_FDCWD, c->a[0], c->a[1]) : -EFAULT;
}

int64_t sys_futimesat(const struct call *c)
{
    return stamp_us(c, c->a[0], c->a[1], c->a[2]);
}

int64_t sys_utime(const struct call *c)
{
    int64_t s[2];

    if (!c->a[0])
        return -EFAULT;
    if (!c->a[1])
        return stamp_at(c, (uint64_t)AT_FDCWD, c->a[0], both_now, 0);
    if (arch_copy_from_user(s, c->a[1], sizeof(s)))
        return -EFAULT;
    return stamp_at(c, (uint64_t)AT_FDCWD, c->a[0],
                    (struct __kernel_timespec[]){{s[0], 0}, {s[1], 0}}, 0);
}
