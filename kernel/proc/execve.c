/*
 * A process that goes on with another program: execve(2). The new address space is complete before
 * other threads end and the old one goes, so that an error leaves the process as it was.
 */
#include "kernel/core/printf.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/exec.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/perf.h"

/* Ends all threads of the caller's process but the caller. Returns 0, or -EINTR: the process ends,
 * or another thread does the same. */
static int end_others(struct process *p, struct thread *self)
{
    may_wait("wait for threads to end");
    int err = 0;
    bool irq = spin_lock(&p->lock);

    if (p->ending || p->only) {
        spin_unlock(&p->lock, irq);
        return -EINTR;
    }
    __atomic_store_n(&p->only, self, __ATOMIC_RELEASE);
    list_for_each (it, &p->threads) {
        struct thread *t = container_of(it, struct thread, siblings);
        if (t != self)
            sched_interrupt_thread(t);
    }
    while (p->thread_count > 1 && !err)
        err = wait_sleep(&p->alone, &p->lock, &irq, UINT64_MAX);
    __atomic_store_n(&p->only, NULL, __ATOMIC_RELEASE);
    spin_unlock(&p->lock, irq);
    return err;
}

/* Lets go of what belongs to the old program. */
static void leave_program(struct process *p, struct thread *self)
{
    counts_hide(p);
    futex_release_robust(self, p->space);
    self->robust_list = self->clear_tid = 0;
    timers_new_program(p);
    signals_new_program(p);
    files_close_at_exec(p->files);
    proctree_ran_another(p);
}

/* Makes p's names those of the program. The old file and arguments are the caller's. */
static void rename_locked(struct process *p, struct thread *self, struct program *program,
                          const struct symbols *symbols)
{
    struct vnode *file = p->program;
    char *command = p->command;

    p->program = program->file;
    p->command = program->command;
    p->command_bytes = program->command ? program->command_bytes : 0;
    program->file = file;
    program->command = command;
    p->symbols = *symbols;
    __atomic_store_n(&self->hpm.symbols, symbols->table, __ATOMIC_RELAXED);
    ksnprintf(p->name, sizeof(p->name), "%s", text_base(program->name));
    memcpy(self->name, p->name, sizeof(p->name));
    self->tid = p->pid;
}

/* Frees what a process has had of a program. */
static void free_program(struct program *program)
{
    exec_put_program(program->file);
    kfree(program->command);
}

static void enter_program(struct process *p, struct thread *self, struct program *program)
{
    struct symbols symbols = {0};

    if (program->file && bundle_has(program->file->data))
        symbols_load(&symbols, text_base(program->name));
    leave_program(p, self);
    struct space *old = process_change_space(p, program->space);
    thread_enter_space(space_arch(p->space), space_number(p->space));
    bool irq = spin_lock(&p->lock);
    rename_locked(p, self, program, &symbols);
    spin_unlock(&p->lock, irq);
    process_wait_lookers(p);
    space_give_up(p, old);
    free_program(program);
}

int process_exec(const struct exec_request *what, struct arch_frame *frame)
{
    struct thread *self = thread_current();
    struct process *p = self->process;
    struct program program = {.p = p};
    int err = space_create(p->space, p->kernel, &program.space);

    if (err)
        return -ENOMEM;
    space_set_pid(program.space, p->pid);
    err = exec_load(&program, what);
    if (!err && (err = end_others(p, self)))
        free_program(&program);
    if (err) {
        space_destroy(program.space);
        return err == -EDQUOT ? -ENOMEM : err;
    }
    enter_program(p, self, &program);
    p->no_dump = false;
    code_images_begin(p);
    perf_exec(self);
    arch_user_restart(frame, program.entry, program.sp);
    return 0;
}
