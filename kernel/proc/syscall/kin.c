/* System calls of Linux: waiting for children, groups and sessions. */
#include "kernel/proc/pid_file.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/syscall/clocks.h"
#include <linux/fcntl.h>
#include <linux/resource.h>
#include <linux/signal.h>
#include <linux/wait.h>

#define WAIT4_OPTIONS (WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL)
#define WAITID_OPTIONS \
    (WNOHANG | WEXITED | WSTOPPED | WCONTINUED | WNOWAIT | __WNOTHREAD | __WCLONE | __WALL)

/* ---- Waiting --------------------------------------------------------------------------------- */

static int put_usage(vaddr_t to, const struct proctree_report *report)
{
    struct rusage r = {.ru_maxrss = (long)report->resident_kb};

    r.ru_utime = timeval_of(cpu_time_user_ns(report->time));
    r.ru_stime = timeval_of(report->time.system_ns);
    return to && arch_copy_to_user(to, &r, sizeof(r)) ? -EFAULT : 0;
}

static void take_options(struct kin_wait *want, uint64_t options)
{
    want->exited = options & WEXITED;
    want->stopped = options & WSTOPPED;
    want->continued = options & WCONTINUED;
    want->clones = options & __WCLONE;
    want->all = options & __WALL;
}

/* Which children wait4(2) means by a number. */
static struct kin_wait which_of(const struct call *c, int pid)
{
    if (pid == -1)
        return (struct kin_wait){.which = KIN_ANY};
    if (pid > 0)
        return (struct kin_wait){.which = KIN_PID, .id = (uint32_t)pid};
    return (struct kin_wait){.which = KIN_GROUP, .id = pid ? (uint32_t)-pid : proctree_group(c->p)};
}

int64_t sys_wait4(const struct call *c)
{
    struct proctree_report report = {0};
    int pid = (int)c->a[0];
    uint32_t options = (uint32_t)c->a[2];

    if (options & ~(uint32_t)WAIT4_OPTIONS)
        return -EINVAL;
    if (pid == INT32_MIN)
        return -ESRCH;
    struct kin_wait want = which_of(c, pid);
    take_options(&want, options | WEXITED);
    int err = proctree_wait(&want, options & WNOHANG, false, &report);
    if (err)
        return err == -EAGAIN ? 0 : err;
    uint32_t status = kin_wait_status(report.news, report.end, report.signal);
    if (c->a[1] && arch_copy_to_user(c->a[1], &status, sizeof(status)))
        return -EFAULT;
    return put_usage(c->a[3], &report) ?: (int64_t)report.pid;
}

/* A descriptor that does not wait makes the call not wait: *now. */
static int pid_of_descriptor(const struct call *c, uint32_t fd, struct kin_wait *want, bool *now)
{
    struct file *f = files_find(c->p->files, fd);
    const struct process *p = f ? pid_file_process(f) : NULL;

    if (p) {
        *want = (struct kin_wait){.which = KIN_PID, .id = p->pid};
        *now = __atomic_load_n(&f->flags, __ATOMIC_RELAXED) & O_NONBLOCK;
    }
    file_put(f);
    return p ? 0 : -EBADF;
}

static int waitid_which(const struct call *c, struct kin_wait *want, bool *now)
{
    int id = (int)c->a[1];

    switch ((uint32_t)c->a[0]) {
    case P_ALL:
        *want = (struct kin_wait){.which = KIN_ANY};
        return 0;
    case P_PID:
        *want = (struct kin_wait){.which = KIN_PID, .id = (uint32_t)id};
        return id <= 0 ? -EINVAL : 0;
    case P_PGID:
        *want =
            (struct kin_wait){.which = KIN_GROUP, .id = id ? (uint32_t)id : proctree_group(c->p)};
        return id < 0 ? -EINVAL : 0;
    case P_PIDFD:
        return id < 0 ? -EINVAL : pid_of_descriptor(c, (uint32_t)id, want, now);
    default:
        return -EINVAL;
    }
}

/* Describes what was learnt, or that there was nothing. */
static int put_info(vaddr_t to, const struct proctree_report *report)
{
    siginfo_t info;

    if (!to)
        return 0;
    memset(&info, 0, sizeof(info));
    if (report) {
        info.si_signo = SIGCHLD;
        info.si_code = kin_code(report->news, report->end, report->signal, &info.si_status);
        info.si_pid = (int)report->pid;
    }
    /* Linux stores these members alone. */
    return arch_copy_to_user(to, &info, offsetof(siginfo_t, si_status) + sizeof(int)) ? -EFAULT : 0;
}

int64_t sys_waitid(const struct call *c)
{
    struct proctree_report report = {0};
    struct kin_wait want;
    uint32_t options = (uint32_t)c->a[3];

    if (options & ~(uint32_t)WAITID_OPTIONS || !(options & (WEXITED | WSTOPPED | WCONTINUED)))
        return -EINVAL;
    bool now = false;
    int err = waitid_which(c, &want, &now);
    if (err)
        return err;
    take_options(&want, options);
    err = proctree_wait(&want, now || (options & WNOHANG), options & WNOWAIT, &report);
    if (err == -EAGAIN && (options & WNOHANG))
        return put_info(c->a[2], NULL);
    return err ?: put_usage(c->a[4], &report) ?: put_info(c->a[2], &report);
}

/* ---- Groups and sessions --------------------------------------------------------------------- */

int64_t sys_setpgid(const struct call *c)
{
    int pid = (int)c->a[0], group = (int)c->a[1];

    if (group < 0)
        return -EINVAL;
    uint32_t of = pid ? (uint32_t)pid : c->p->pid;
    return pid < 0 ? -ESRCH : proctree_set_group(c->p, of, group ? (uint32_t)group : of);
}

int64_t sys_setsid(const struct call *c)
{
    return proctree_new_session(c->p);
}

/* Returns a number of the process with this pid, 0: the caller. */
static int64_t number_of_process(const struct call *c, uint64_t pid,
                                 uint32_t (*read)(const struct process *p))
{
    struct process *p = (int32_t)pid < 0 ? NULL : process_to_read(c->p, (uint32_t)pid);

    if (!p)
        return -ESRCH;
    int64_t number = read(p);
    process_put(p);
    return number;
}

int64_t sys_getpgid(const struct call *c)
{
    return number_of_process(c, c->a[0], proctree_group);
}

int64_t sys_getpgrp(const struct call *c)
{
    return proctree_group(c->p);
}

int64_t sys_getsid(const struct call *c)
{
    return number_of_process(c, c->a[0], proctree_session);
}
