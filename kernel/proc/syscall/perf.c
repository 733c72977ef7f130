/* System calls of Linux: perf_event_open(2). */
#include "kernel/mem/mem.h"
#include "kernel/proc/perf.h"
#include "kernel/proc/syscall/paths.h"
#include <linux/fcntl.h>

#define FLAGS \
    (PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC)

/* Tells which size this kernel knows. */
static int refuse_size(vaddr_t from)
{
    const uint32_t known = sizeof(struct perf_event_attr);

    return arch_copy_to_user(from + offsetof(struct perf_event_attr, size), &known, sizeof(known))
               ? -EFAULT
               : -E2BIG;
}

static int take_attr(vaddr_t from, struct perf_event_attr *out)
{
    uint32_t size;

    if (arch_copy_from_user(&size, from + offsetof(struct perf_event_attr, size), sizeof(size)))
        return -EFAULT;
    int bytes = perf_attr_bytes(size);
    if (bytes < 0)
        return refuse_size(from);
    void *copy = kmalloc((size_t)bytes);
    if (!copy)
        return -ENOMEM;
    int err = arch_copy_from_user(copy, from, (size_t)bytes)
                  ? -EFAULT
                  : perf_attr_take(copy, (size_t)bytes, out);
    kfree(copy);
    return err == -E2BIG ? refuse_size(from) : err;
}

/* Finds the event of descriptor `fd`; -1: none. */
static int take_leader(const struct call *c, int32_t fd, struct file **out)
{
    *out = NULL;
    if (fd == -1)
        return 0;
    struct file *f = files_find(c->p->files, (uint32_t)fd);
    if (f && perf_is(f)) {
        *out = f;
        return 0;
    }
    file_put(f);
    return -EBADF;
}

static int64_t open_event(const struct call *c, struct perf_asked *asked, uint64_t flags)
{
    struct file *group, *f;
    int err = take_leader(c, (int32_t)c->a[3], &group);

    if (err)
        return err;
    asked->leader = flags & PERF_FLAG_FD_NO_GROUP ? NULL : group;
    err = perf_open(c->p, asked, &f);
    file_put(group);
    return err ? err : file_give(c, f, flags & PERF_FLAG_FD_CLOEXEC);
}

int64_t sys_perf_event_open(const struct call *c)
{
    struct perf_asked asked = {.pid = (int32_t)c->a[1], .cpu = (int32_t)c->a[2]};
    uint64_t flags = c->a[4];

    if (flags & ~(uint64_t)FLAGS)
        return -EINVAL;
    int err = take_attr(c->a[0], &asked.attr) ?: perf_attr_check_rate(&asked.attr);
    if (err)
        return err;
    /* There are no groups of processes as cgroups are. */
    if (flags & PERF_FLAG_PID_CGROUP)
        return -EINVAL;
    return open_event(c, &asked, flags);
}
