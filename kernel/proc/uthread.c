/* User threads: their start in the kernel, their entry to user mode, their end. */
#include "kernel/mem/mem.h"
#include "kernel/proc/count_session.h"
#include "kernel/proc/family.h"
#include "kernel/proc/futex.h"
#include "kernel/proc/asked.h"
#include "kernel/proc/internal.h"
#include "kernel/proc/perf.h"
#include "hpm/log.h"

static uint32_t threads_alive; /* atomic; of all processes */

static inline bool ends(const struct thread *t)
{
    const struct thread *only = __atomic_load_n(&t->process->only, __ATOMIC_ACQUIRE);

    return process_ending(t->process) || (only && only != t);
}

bool uthread_ends(void)
{
    return ends(thread_current());
}

/* Frees `arg`, a struct uthread_start. */
static void enter_user(void *arg)
{
    struct uthread_start *start = arg;
    struct thread *self = thread_current();
    bool cancelled = start->cancelled || uthread_ends();

    arch_user_load(&start->user);
    self->clear_tid = start->clear_tid;
    if (start->set_tid && !cancelled)
        arch_copy_to_user(start->set_tid, &self->tid, sizeof(self->tid));
    kfree(start);
    if (cancelled) {
        self->clear_tid = 0;
        uthread_exit();
    }
    arch_user_enter();
}

static int reserve_slot(struct process *p)
{
    if (__atomic_add_fetch(&threads_alive, 1, __ATOMIC_RELAXED) > THREADS_MAX) {
        __atomic_sub_fetch(&threads_alive, 1, __ATOMIC_RELAXED);
        return -EAGAIN;
    }
    bool irq = spin_lock(&p->lock);
    bool refused = p->ending || p->only || p->thread_count == PROCESS_THREADS_MAX;
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
    if (p->thread_count == 1)
        wait_wake(&p->alone, 1);
    spin_unlock(&p->lock, irq);
    return last;
}

/* Kernel memory charged for a thread. */
#define THREAD_BYTES (KSTACK_SIZE + sizeof(struct thread))

/* What a process must be able to be charged for beside a new thread: page tables of its stack. */
#define THREAD_RESERVE (4 * PAGE_SIZE)

static int charge_thread(struct process *p)
{
    int err = process_charge(p, THREAD_BYTES + THREAD_RESERVE);

    if (!err)
        process_uncharge(p, THREAD_RESERVE);
    return err;
}

/* Keeps the counts of a thread that will run no more. */
static void count_gone(struct thread *t)
{
    struct process *p = t->process;
    bool irq = spin_lock(&p->lock);

    list_remove(&t->siblings);
    hpm_sum_ended(&t->hpm, UINT64_MAX, &p->past);
    p->past_time = cpu_time_add(p->past_time, sched_time(t));
    spin_unlock(&p->lock, irq);
    signals_free(p, t);
    process_uncharge(p, THREAD_BYTES);
    process_put(p);
}

static int make_thread(struct process *p, struct uthread_start *start, const struct thread *like,
                       struct thread **out)
{
    const struct thread_asked asked = like ? asked_by_child(like->asked) : (struct thread_asked){0};
    struct thread_params params = {
        .name = p->name,
        .entry = enter_user,
        .arg = start,
        .process = p,
        .pid = p->pid,
        .tid = start->tid,
        .space = space_arch(p->space),
        .space_number = space_number(p->space),
        .gone = count_gone,
        .freed = family_leave,
        .freed_arg = p->family,
        .affinity = like ? &like->affinity : NULL,
        .prio = like && !like->asked.resets ? like->own_prio : asked_priority(&asked),
        .group = GROUP_NONE,
    };
    struct thread_signals *signals = signals_make(start->blocked);
    int err = signals ? thread_create(&params, out) : -ENOMEM;

    if (err) {
        kfree(signals);
        return err;
    }
    (*out)->signals = signals;
    (*out)->asked = asked;
    (*out)->hpm.symbols = p->symbols.table;
    (*out)->hpm.images = &p->code.list;
    if (start->inherits) {
        memcpy((*out)->name, like->name, sizeof(like->name));
        signals->alt_sp = like->signals->alt_sp;
        signals->alt_bytes = like->signals->alt_bytes;
        signals->alt_flags = like->signals->alt_flags;
    }
    return 0;
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

static int store_tids(const struct uthread_start *start, uint32_t tid)
{
    for (unsigned i = 0; i < ARRAY_SIZE(start->store_tid); i++)
        if (start->store_tid[i] && arch_copy_to_user(start->store_tid[i], &tid, sizeof(tid)))
            return -EFAULT;
    return 0;
}

int uthread_create(struct process *p, struct uthread_start *start, const struct thread *like)
{
    struct thread *t;
    int err = reserve_slot(p);

    if (err) {
        kfree(start);
        return err;
    }
    err = charge_thread(p);
    if (!err) {
        err = make_thread(p, start, like, &t);
        if (err)
            process_uncharge(p, THREAD_BYTES);
    }
    if (err) {
        kfree(start);
        release_slot(p);
        return err;
    }
    process_get(p);
    family_join(p->family);
    int tid = (int)t->tid;
    const struct thread *parent = like ? like : thread_current();
    hpm_watch_inherit(&t->hpm, &parent->hpm);
    err = store_tids(start, t->tid) ?: perf_inherit(parent, t);
    start->cancelled = err;
    bool irq = spin_lock(&p->lock);
    enlist_locked(p, t);
    if (p->signals.stopped)
        sched_signal_thread(t);
    spin_unlock(&p->lock, irq);
    sharing_thread_added(t);
    thread_start(t);
    thread_put(t);
    return err ? err : tid;
}

int uthread_first(struct process *p, vaddr_t pc, vaddr_t sp)
{
    struct uthread_start *start = kmalloc(sizeof(*start));

    if (!start)
        return -ENOMEM;
    arch_user_init(&start->user, pc, sp, 0, 0);
    start->tid = p->pid;
    int tid = uthread_create(p, start, NULL);
    return MIN(tid, 0);
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

/* Clears the word at `at`, and wakes a thread that waits for that. */
static void clear_tid(struct process *p, vaddr_t at)
{
    const uint32_t zero = 0;

    if (at && !arch_copy_to_user(at, &zero, sizeof(zero)))
        futex_wake(p->space, at, 1, FUTEX_ANY);
}

void uthread_exit(void)
{
    struct thread *self = thread_current();
    struct process *p = self->process;

    sharing_thread_removed(self);
    if (!process_ending(p)) {
        futex_release_robust(self, p->space);
        clear_tid(p, self->clear_tid);
    }
    counts_hide(p);
    thread_leave_space();
    bool irq = spin_lock(&p->lock);
    list_remove(&self->siblings);
    list_push_back(&p->leaving, &self->siblings);
    signals_pass_on_locked(p);
    spin_unlock(&p->lock, irq);
    code_images_leave(self);
    perf_leave(self); /* not found as a thread any more: no event begins to count it */
    if (release_slot(p))
        process_reap(p);
    thread_exit();
}

static __attribute__((noinline)) void do_what_is_due(struct arch_frame *frame, bool perf)
{
    arch_irq_restore(true);
    if (perf)
        perf_deliver();
    signals_deliver(frame);
    if (uthread_ends())
        uthread_exit();
    arch_irq_save();
}

bool process_user_return(struct arch_frame *frame)
{
    const struct thread *t = thread_current();

    may_wait("return to user mode");
    if (!t->process)
        return false;
    bool perf = __atomic_load_n(&t->perf, __ATOMIC_RELAXED) && perf_is_due();
    if (!perf && !ends(t) && !__atomic_load_n(&t->signalled, __ATOMIC_RELAXED))
        return false;
    do_what_is_due(frame, perf);
    return true;
}
