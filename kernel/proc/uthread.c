/* User threads: their start in the kernel, their entry to user mode, their end. */
#include "kernel/mem/mem.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/family.h"
#include "kernel/proc/internal.h"
#include "hpm/count.h"

/* Passed from the creator to the new thread, which frees it. */
struct launch {
    struct uthread_start start;
    bool cancelled;
};

static uint32_t threads_alive; /* atomic; of all processes */

static bool is_cancelled(const struct launch *l, const struct process *p)
{
    return l->cancelled || process_ending(p);
}

static void enter_user(void *arg)
{
    struct launch l = *(struct launch *)arg;

    kfree(arg);
    if (is_cancelled(&l, thread_current()->process))
        uthread_exit();
    arch_user_enter(l.start.pc, l.start.sp, l.start.arg, l.start.tls);
}

static int reserve_slot(struct process *p)
{
    if (__atomic_add_fetch(&threads_alive, 1, __ATOMIC_RELAXED) > THREADS_MAX) {
        __atomic_sub_fetch(&threads_alive, 1, __ATOMIC_RELAXED);
        return -EAGAIN;
    }
    bool irq = spin_lock(&p->lock);
    bool refused = p->ending || p->thread_count == PROCESS_THREADS_MAX;
    if (!refused)
        p->thread_count++;
    spin_unlock(&p->lock, irq);
    if (refused)
        __atomic_sub_fetch(&threads_alive, 1, __ATOMIC_RELAXED);
    return refused ? -EAGAIN : 0;
}

/* Returns true if the thread was the last of its process. */
static bool release_slot(struct process *p)
{
    __atomic_sub_fetch(&threads_alive, 1, __ATOMIC_RELAXED);
    bool irq = spin_lock(&p->lock);
    bool last = --p->thread_count == 0;
    spin_unlock(&p->lock, irq);
    return last;
}

/* Kernel memory charged for a thread. */
#define THREAD_BYTES (KSTACK_SIZE + sizeof(struct thread))

/* Keeps the counts of a thread that will run no more. */
static void count_gone(struct thread *t)
{
    struct process *p = t->process;
    bool irq = spin_lock(&p->lock);

    list_remove(&t->siblings);
    hpm_sum_ended(&t->hpm, UINT64_MAX, &p->past);
    p->past_run_ns += sched_run_ns(t);
    spin_unlock(&p->lock, irq);
    process_uncharge(p, THREAD_BYTES);
    process_put(p);
}

static int make_thread(struct process *p, struct launch *l, const struct thread *like,
                       struct thread **out)
{
    struct thread_params params = {
        .name = p->name,
        .entry = enter_user,
        .arg = l,
        .process = p,
        .pid = p->pid,
        .space = space_arch(p->space),
        .space_number = space_number(p->space),
        .gone = count_gone,
        .freed = family_leave,
        .freed_arg = p->family,
        .affinity = like ? &like->affinity : NULL,
        .prio = like ? like->own_prio : PRIO_NORMAL,
        .group = GROUP_NONE,
    };

    return thread_create(&params, out);
}

/* Lists t in the order of tids, in which most threads are created. */
static void enlist_locked(struct process *p, struct thread *t)
{
    struct list *next = &p->threads;

    while (next->prev != &p->threads &&
           container_of(next->prev, struct thread, siblings)->tid > t->tid)
        next = next->prev;
    list_push_back(next, &t->siblings);
}

int uthread_create(struct process *p, const struct uthread_start *start, const struct thread *like,
                   vaddr_t tid_addr, uint32_t *tid)
{
    struct thread *t;
    int err = reserve_slot(p);

    if (err)
        return err;
    struct launch *l = NULL;
    err = process_charge(p, THREAD_BYTES);
    if (!err) {
        l = kmalloc(sizeof(*l));
        err = l ? make_thread(p, l, like, &t) : -ENOMEM;
        if (err)
            process_uncharge(p, THREAD_BYTES);
    }
    if (err) {
        kfree(l);
        release_slot(p);
        return err;
    }
    process_get(p);
    family_join(p->family);
    l->start = *start;
    *tid = t->tid;
    if (tid_addr)
        err = arch_copy_to_user(tid_addr, tid, sizeof(*tid));
    l->cancelled = err;
    bool irq = spin_lock(&p->lock);
    enlist_locked(p, t);
    spin_unlock(&p->lock, irq);
    sharing_thread_added(t);
    thread_start(t);
    thread_put(t);
    return err;
}

struct thread *uthread_find_locked(struct process *p, uint32_t tid)
{
    list_for_each (it, &p->threads) {
        struct thread *t = container_of(it, struct thread, siblings);
        if (t->tid == tid)
            return t;
    }
    return NULL;
}

void uthread_exit(void)
{
    struct thread *self = thread_current();
    struct process *p = self->process;

    sharing_thread_removed(self);
    counts_hide(p);
    thread_leave_space();
    bool irq = spin_lock(&p->lock);
    list_remove(&self->siblings);
    list_push_back(&p->leaving, &self->siblings);
    spin_unlock(&p->lock, irq);
    if (release_slot(p))
        process_reap(p);
    thread_exit();
}

void process_user_return(void)
{
    const struct process *p = thread_current()->process;

    may_wait("return to user mode");
    if (p && process_ending(p)) {
        arch_irq_restore(true);
        uthread_exit();
    }
}
