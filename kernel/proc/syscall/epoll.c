/* System calls of Linux: epoll, and files of signals (epoll_ctl(2), signalfd(2)). */
#include "kernel/mem/mem.h"
#include "kernel/proc/deadline.h"
#include "kernel/proc/signal_file.h"
#include "kernel/proc/syscall/paths.h"
#include "kernel/proc/user.h"
#include <linux/eventpoll.h>
#include <linux/fcntl.h>
#include <linux/signalfd.h>

#define FOUND_MAX 256 /* told at once */

/* ---- epoll ----------------------------------------------------------------------------------- */

static int64_t make_epoll(const struct call *c, bool closes)
{
    struct file *f;
    int err = epoll_make(&f);

    return err ? err : file_give(c, f, closes);
}

int64_t sys_epoll_create(const struct call *c)
{
    return (int)c->a[0] <= 0 ? -EINVAL : make_epoll(c, false);
}

int64_t sys_epoll_create1(const struct call *c)
{
    uint32_t flags = (uint32_t)c->a[0];

    return flags & ~(uint32_t)EPOLL_CLOEXEC ? -EINVAL : make_epoll(c, flags & EPOLL_CLOEXEC);
}

int64_t sys_epoll_ctl(const struct call *c)
{
    struct epoll_event event = {0};
    unsigned op = (uint32_t)c->a[1];

    if (op != EPOLL_CTL_DEL && arch_copy_from_user(&event, c->a[3], sizeof(event)))
        return -EFAULT;
    struct file *epoll = files_find(c->p->files, (uint32_t)c->a[0]);
    struct file *f = files_find(c->p->files, (uint32_t)c->a[2]);
    int err = -EBADF;
    if (epoll && f)
        err = epoll_control(epoll, op, f, (uint32_t)c->a[2], event.events, event.data);
    file_put(f);
    file_put(epoll);
    return err;
}

static int64_t put_found(vaddr_t to, const struct epoll_found *found, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        struct epoll_event event = {.events = found[i].events, .data = found[i].data};
        if (arch_copy_to_user(to + (uint64_t)i * sizeof(event), &event, sizeof(event)))
            return i ? i : -EFAULT;
    }
    return n;
}

static int64_t wait_until(const struct call *c, uint64_t deadline_ns)
{
    int max = (int)c->a[2];
    vaddr_t to = c->a[1];
    int64_t result;

    deadline_ns = signals_deadline(deadline_ns);
    if (max <= 0 || max > INT32_MAX / (int)sizeof(struct epoll_event))
        return -EINVAL;
    if (!arch_user_range(to, (uint64_t)max * sizeof(struct epoll_event)))
        return -EFAULT;
    struct file *epoll = files_find(c->p->files, (uint32_t)c->a[0]);
    if (!epoll || !epoll_is(epoll)) {
        result = epoll ? -EINVAL : -EBADF;
        file_put(epoll);
        return result;
    }
    struct epoll_found *found = kmalloc(MIN(max, FOUND_MAX) * sizeof(*found));
    result = found ? epoll_wait(epoll, found, (unsigned)MIN(max, FOUND_MAX), deadline_ns) : -ENOMEM;
    file_put(epoll);
    if (result > 0)
        result = put_found(to, found, result);
    kfree(found);
    return result;
}

static uint64_t deadline_of_ms(uint64_t argument)
{
    int ms = (int)argument;

    return ms < 0 ? UINT64_MAX : deadline_after((uint64_t)ms * NS_PER_MS);
}

int64_t sys_epoll_wait(const struct call *c)
{
    return wait_until(c, deadline_of_ms(c->a[3]));
}

/* The signals of c->a[4] are blocked meanwhile; 0: the mask stays. */
static int64_t wait_masked(const struct call *c, uint64_t deadline_ns)
{
    uint64_t set;

    if (!c->a[4])
        return wait_until(c, deadline_ns);
    if (c->a[5] != sizeof(set))
        return -EINVAL;
    if (arch_copy_from_user(&set, c->a[4], sizeof(set)))
        return -EFAULT;
    signal_mask_for_call(set);
    int64_t result = wait_until(c, deadline_ns);
    signal_unmask_call(result);
    return result;
}

int64_t sys_epoll_pwait(const struct call *c)
{
    return wait_masked(c, deadline_of_ms(c->a[3]));
}

int64_t sys_epoll_pwait2(const struct call *c)
{
    uint64_t ns;

    if (!c->a[3])
        return wait_masked(c, UINT64_MAX);
    int err = user_get_time(c->a[3], &ns);
    return err ? err : wait_masked(c, deadline_after(ns));
}

/* ---- signalfd -------------------------------------------------------------------------------- */

static int64_t make_signal_file(const struct call *c, uint64_t flags)
{
    uint64_t set;
    struct file *f;

    if (c->a[2] != sizeof(set))
        return -EINVAL;
    if (arch_copy_from_user(&set, c->a[1], sizeof(set)))
        return -EFAULT;
    if (flags & ~(uint64_t)(SFD_CLOEXEC | SFD_NONBLOCK))
        return -EINVAL;
    if ((int)c->a[0] == -1) {
        int err = signal_file_make(c->p, set, (uint32_t)flags & SFD_NONBLOCK, &f);
        return err ? err : file_give(c, f, flags & SFD_CLOEXEC);
    }
    f = files_find(c->p->files, (uint32_t)c->a[0]);
    int64_t result = !f ? -EBADF : signal_file_set(f, set) ? (int64_t)(uint32_t)c->a[0] : -EINVAL;
    file_put(f);
    return result;
}

int64_t sys_signalfd(const struct call *c)
{
    return make_signal_file(c, 0);
}

int64_t sys_signalfd4(const struct call *c)
{
    return make_signal_file(c, (uint32_t)c->a[3]);
}
