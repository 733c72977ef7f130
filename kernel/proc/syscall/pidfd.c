/* System calls of Linux: processes by descriptors (pidfd_open(2)). */
#include "kernel/proc/pid_file.h"
#include "kernel/proc/procfs.h"
#include "kernel/proc/signal.h"
#include "kernel/proc/syscall/paths.h"
#include <linux/fcntl.h>
#include <linux/pidfd.h>
#include <linux/signal.h>

/* A thread that is not its process's first has no such descriptor. */
int64_t sys_pidfd_open(const struct call *c)
{
    int pid = (int)c->a[0];
    struct file *f;

    if (c->a[1] & ~(uint64_t)PIDFD_NONBLOCK || pid <= 0)
        return -EINVAL;
    struct process *p = process_to_read(c->p, (uint32_t)pid);
    if (!p)
        return -ESRCH;
    int err = pid_file_make(p, (uint32_t)c->a[1], &f);
    process_put(p);
    return err ? err : file_give(c, f, true);
}

static int send_to(const struct call *c, struct process *p, int number, vaddr_t from)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_USER};

    info.si_pid = (int)c->p->pid;
    if (from && arch_copy_from_user(&info, from, sizeof(info)))
        return -EFAULT;
    if (info.si_signo != number || number < 0 || number > SIGNALS)
        return -EINVAL;
    if (from && p != c->p && (info.si_code >= 0 || info.si_code == SI_TKILL))
        return -EPERM;
    return !proctree_is_in(p) ? -ESRCH : number ? signal_send(p, &info) : 0;
}

/* Returns the process that a file stands for, also as its folder in /proc; referenced, or NULL. */
static struct process *process_of(const struct call *c, const struct file *f)
{
    struct process *p = pid_file_process(f);
    uint32_t pid = p ? 0 : procfs_pid_of(f->v);

    if (p)
        process_get(p);
    return p || !pid ? p : process_to_read(c->p, pid);
}

int64_t sys_pidfd_send_signal(const struct call *c)
{
    if ((uint32_t)c->a[3])
        return -EINVAL;
    struct file *f = files_find(c->p->files, c->a[0]);
    struct process *p = f ? process_of(c, f) : NULL;
    int err = p ? send_to(c, p, (int)c->a[1], c->a[2]) : -EBADF;
    if (p)
        process_put(p);
    file_put(f);
    return err;
}
