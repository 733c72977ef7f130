/*
 * Makes a process as a copy of the caller's, with one thread, a copy of the caller: fork(2), and
 * vfork(2), whose child uses its parent's memory until it ends or makes an execve(2), while the
 * caller waits.
 */
#include "kernel/mem/mem.h"
#include "kernel/proc/exec.h"
#include "kernel/proc/family.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/pid_file.h"
#include "kernel/vdso/vdso.h"
#include <linux/signal.h>

/* ---- Borrowed memory ------------------------------------------------------------------------- */

static void borrow(struct process *p, struct process *lender)
{
    bool irq = spin_lock(&lender->lock);

    p->space = lender->space;
    p->lender = lender;
    lender->borrowers++;
    spin_unlock(&lender->lock, irq);
    process_get(lender);
}

static void give_back(struct process *p)
{
    struct process *lender = p->lender;
    bool irq = spin_lock(&lender->lock);

    p->lender = NULL;
    lender->borrowers--;
    wait_wake(&lender->returned, ~0u);
    spin_unlock(&lender->lock, irq);
    process_put(lender);
}

void space_give_up(struct process *p, struct space *s)
{
    if (p->lender) {
        give_back(p);
        return;
    }
    may_wait("wait for children that use the memory");
    bool irq = spin_lock(&p->lock);
    while (p->borrowers)
        wait_sleep_through(&p->returned, &p->lock, &irq);
    spin_unlock(&p->lock, irq);
    space_destroy(s);
}

/* Waits until the child has memory of its own, or none, or the caller ends. */
static void wait_for_return(struct process *self, struct process *child)
{
    int err = 0;
    bool irq = spin_lock(&self->lock);

    while (child->lender && !err)
        err = wait_sleep(&self->returned, &self->lock, &irq, UINT64_MAX);
    spin_unlock(&self->lock, irq);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static int copy_files(struct process *p, struct process *parent)
{
    int err;

    do
        err = files_copy(p->kernel, parent->files, &p->files);
    while (err == -EAGAIN);
    return err;
}

static int copy_space(struct process *p, struct process *parent, bool borrows)
{
    if (borrows) {
        borrow(p, parent);
        return 0;
    }
    int err = space_fork(parent->space, p->kernel, &p->space);
    if (!err && (err = vdso_map(p->space)))
        space_destroy(p->space);
    return err;
}

/* Copies what is the same in both. The program's members change by the caller's process alone,
 * which is in this call. */
static int copy_rest(struct process *p, struct process *parent, const struct fork_request *what)
{
    if (parent->command_bytes) {
        p->command = kmalloc(parent->command_bytes);
        if (!p->command)
            return -ENOMEM;
        memcpy(p->command, parent->command, parent->command_bytes);
        p->command_bytes = parent->command_bytes;
    }
    p->program = exec_get_program(parent->program);
    p->no_new_privs = parent->no_new_privs;
    p->no_dump = parent->no_dump;
    p->personality = parent->personality;
    p->groups = __atomic_load_n(&parent->groups, __ATOMIC_RELAXED);
    p->oom_score_adj = parent->oom_score_adj;
    p->capabilities = parent->capabilities;
    bool irq = spin_lock(&parent->lock);
    p->symbols = parent->symbols;
    memcpy(p->name, parent->name, sizeof(p->name));
    memcpy(p->signals.action, parent->signals.action, sizeof(p->signals.action));
    spin_unlock(&parent->lock, irq);
    if (what->resets_handlers)
        signals_reset_handlers(p->signals.action);
    return 0;
}

static int make_child(struct process *parent, const struct fork_request *what, struct process **out)
{
    int err = process_make(parent->name, parent->family, parent, out);

    if (err)
        return err;
    struct process *p = *out;
    err = copy_files(p, parent) ?: copy_rest(p, parent, what);
    if (!err)
        err = copy_space(p, parent, what->borrows);
    if (err) {
        process_unmake(p);
        return err;
    }
    process_enter(p, what->exit_signal);
    code_images_copy(p, parent);
    return 0;
}

/* Starts the child's thread. Returns its pid or an error. */
static int start_child(struct process *p, const struct fork_request *what)
{
    struct uthread_start *start = what->start;

    start->tid = p->pid;
    start->store_tid[0] = what->parent_tid;
    start->inherits = true;
    return uthread_create(p, start, thread_current());
}

/* Gives the parent a descriptor of the child. Returns 0 or an error. */
static int give_descriptor(struct process *parent, struct process *child, vaddr_t to)
{
    struct file *f;
    int err = pid_file_make(child, 0, &f);

    if (err)
        return err;
    int fd = files_add(parent->files, f, 0, true);
    if (fd < 0) {
        file_put(f);
        return fd;
    }
    if (!arch_copy_to_user(to, &fd, sizeof(fd)))
        return 0;
    files_close(parent->files, (uint32_t)fd);
    return -EFAULT;
}

int process_fork(const struct fork_request *what)
{
    struct process *self = thread_current()->process, *p;
    int err = family_stopped(self->family) ? -EINTR : make_child(self, what, &p);

    if (err) {
        kfree(what->start);
        return err == -EDQUOT || err == -EFAULT ? -ENOMEM : err;
    }
    process_get(p);
    int pid = what->pidfd ? give_descriptor(self, p, what->pidfd) : 0;
    if (!pid)
        pid = start_child(p, what);
    else
        kfree(what->start);
    if (pid < 0)
        process_abandon(p);
    else if (what->borrows)
        wait_for_return(self, p);
    process_put(p);
    return pid == -EDQUOT ? -ENOMEM : pid;
}
