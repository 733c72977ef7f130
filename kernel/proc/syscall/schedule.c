/* System calls of Linux: policies, priorities and CPUs of threads (sched(7)); asked.h says what
 * becomes of them. */
#include "kernel/core/cpu.h"
#include "kernel/proc/asked.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include <linux/ioprio.h>
#include <linux/resource.h>
#include <linux/sched/types.h>

#define REALTIME_MAX 99 /* the highest priority of SCHED_FIFO and SCHED_RR; 1 is the lowest */
#define NICE_ANSWER  20 /* getpriority(2) returns this less the nice value */

/* ---- Threads by number ----------------------------------------------------------------------- */

/* Called for a thread, the lock of whose process is held. Returns 0 or an error. */
typedef int visit_thread(struct thread *t, void *arg);

/* Visits the thread with this tid: of the caller's process, or the first of any that the caller may
 * see; 0: the caller. Returns an error, or what visit(t, arg) has. */
static int with_thread(const struct call *c, uint64_t tid, visit_thread *visit, void *arg)
{
    int err = -ESRCH;

    if ((int32_t)tid < 0)
        return -EINVAL;
    bool irq = spin_lock(&c->p->lock);
    struct thread *t = (uint32_t)tid ? uthread_find_locked(c->p, (uint32_t)tid) : c->t;
    if (t)
        err = visit(t, arg);
    spin_unlock(&c->p->lock, irq);
    struct process *p = t ? NULL : process_find((uint32_t)tid);
    if (!p)
        return err;
    if (visible_process(c->p, p)) {
        irq = spin_lock(&p->lock);
        t = uthread_find_locked(p, (uint32_t)tid);
        if (t)
            err = visit(t, arg);
        spin_unlock(&p->lock, irq);
    }
    process_put(p);
    return err;
}

/* ---- Policies and priorities ----------------------------------------------------------------- */

/* Applies what was asked for a thread. Lock of its process held. */
static void ask_locked(struct thread *t, struct thread_asked asked)
{
    t->asked = asked;
    sched_set_priority(t, asked_priority(&asked));
}

/* Checks a policy, whose flag may be set, and the priority that goes with it. */
static int check_policy(uint32_t policy, int32_t priority)
{
    policy &= ~(uint32_t)SCHED_RESET_ON_FORK;
    if (policy != SCHED_NORMAL && policy != SCHED_BATCH && policy != SCHED_IDLE &&
        !asked_realtime(policy))
        return -EINVAL;
    if (asked_realtime(policy) ? priority < 1 || priority > REALTIME_MAX : priority != 0)
        return -EINVAL;
    return 0;
}

/* What is to be set. */
struct policy_change {
    uint32_t policy; /* with its flag */
    int32_t priority;
    bool keeps; /* the policy stays */
};

static int change_policy(struct thread *t, void *arg)
{
    const struct policy_change *change = arg;
    struct thread_asked asked = t->asked;
    uint32_t policy =
        change->keeps ? asked.policy | (asked.resets ? SCHED_RESET_ON_FORK : 0) : change->policy;
    int err = check_policy(policy, change->priority);

    if (err)
        return err;
    asked.policy = (uint8_t)(policy & ~(uint32_t)SCHED_RESET_ON_FORK);
    asked.resets = policy & SCHED_RESET_ON_FORK;
    asked.realtime = (uint8_t)change->priority;
    ask_locked(t, asked);
    return 0;
}

static int64_t set_policy(const struct call *c, uint32_t policy, vaddr_t param, bool keeps)
{
    struct policy_change change = {.policy = policy, .keeps = keeps};

    if ((int32_t)c->a[0] < 0 || !param)
        return -EINVAL;
    if (arch_copy_from_user(&change.priority, param, sizeof(change.priority)))
        return -EFAULT;
    return with_thread(c, c->a[0], change_policy, &change);
}

static int put_asked(struct thread *t, void *out)
{
    *(struct thread_asked *)out = t->asked;
    return 0;
}

/* Reads what was asked for a thread. Returns 0 or an error. */
static int get_asked(const struct call *c, uint64_t tid, struct thread_asked *out)
{
    return with_thread(c, tid, put_asked, out);
}

int64_t sys_sched_setscheduler(const struct call *c)
{
    return (int32_t)c->a[1] < 0 ? -EINVAL : set_policy(c, (uint32_t)c->a[1], c->a[2], false);
}

int64_t sys_sched_setparam(const struct call *c)
{
    return set_policy(c, 0, c->a[1], true);
}

int64_t sys_sched_getscheduler(const struct call *c)
{
    struct thread_asked asked;
    int err = get_asked(c, c->a[0], &asked);

    return err ? err : asked.policy | (asked.resets ? SCHED_RESET_ON_FORK : 0);
}

int64_t sys_sched_getparam(const struct call *c)
{
    struct thread_asked asked;
    int err = c->a[1] ? get_asked(c, c->a[0], &asked) : -EINVAL;
    int32_t priority = err ? 0 : asked.realtime;

    return err ? err : arch_copy_to_user(c->a[1], &priority, sizeof(priority));
}

/* sched_get_priority_max and _min, of a policy. */
static int64_t realtime_or_zero(uint64_t policy, int64_t realtime)
{
    if ((uint32_t)policy == SCHED_DEADLINE) /* which no thread may have */
        return 0;
    if (check_policy((uint32_t)policy, asked_realtime((uint32_t)policy)) ||
        policy & SCHED_RESET_ON_FORK)
        return -EINVAL;
    return asked_realtime((uint32_t)policy) ? realtime : 0;
}

int64_t sys_sched_get_priority_max(const struct call *c)
{
    return realtime_or_zero(c->a[0], REALTIME_MAX);
}

int64_t sys_sched_get_priority_min(const struct call *c)
{
    return realtime_or_zero(c->a[0], 1);
}

/* Threads of all policies take turns, by slices of one length; only SCHED_FIFO's have none by
 * name. */
int64_t sys_sched_rr_get_interval(const struct call *c)
{
    struct thread_asked asked;
    int err = get_asked(c, c->a[0], &asked);
    uint64_t ns = err || asked.policy == SCHED_FIFO ? 0 : sched_slice_ns();
    const int64_t interval[] = {(int64_t)(ns / NS_PER_S), (int64_t)(ns % NS_PER_S)};

    return err ? err : arch_copy_to_user(c->a[1], interval, sizeof(interval));
}

/* ---- Nice values ----------------------------------------------------------------------------- */

static int visit_all(struct process *p, visit_thread *visit, void *arg)
{
    bool irq = spin_lock(&p->lock), any = !list_empty(&p->threads);

    for (struct list *l = p->threads.next; l != &p->threads; l = l->next)
        visit(container_of(l, struct thread, siblings), arg);
    spin_unlock(&p->lock, irq);
    return any ? 0 : -ESRCH;
}

/* Returns the next process of a group behind `pid`; group 0: of all. Referenced, or NULL. */
static struct process *next_named(uint32_t group, uint32_t pid)
{
    return group ? proctree_next_of(group, pid) : proctree_after(pid);
}

/* Visits the threads that (which, who) of getpriority(2) names, of processes that the caller may
 * see. Returns 0 or an error. */
static int each_named(const struct call *c, int which, visit_thread *visit, void *arg)
{
    int err = -ESRCH;
    uint32_t who = (uint32_t)c->a[1], pid = 0;

    if (which < PRIO_PROCESS || which > PRIO_USER)
        return -EINVAL;
    if (which == PRIO_PROCESS)
        return (int32_t)who < 0 ? -ESRCH : with_thread(c, who, visit, arg);
    if (which == PRIO_USER && who)
        return -ESRCH;
    uint32_t group = which == PRIO_USER ? 0 : who ? who : proctree_group(c->p);
    for (struct process *p; (p = next_named(group, pid)); process_put(p)) {
        pid = p->pid;
        if (visible_process(c->p, p) && !visit_all(p, visit, arg))
            err = 0;
    }
    return err;
}

static int set_nice_locked(struct thread *t, void *arg)
{
    struct thread_asked asked = t->asked;

    asked.nice = (int8_t) * (const int *)arg;
    ask_locked(t, asked);
    return 0;
}

static int least_nice_locked(struct thread *t, void *arg)
{
    int *value = arg;

    *value = MIN(*value, (int)t->asked.nice);
    return 0;
}

int64_t sys_setpriority(const struct call *c)
{
    int nice = MAX(MIN((int32_t)c->a[2], NICE_MAX), NICE_MIN);

    return each_named(c, (int32_t)c->a[0], set_nice_locked, &nice);
}

int64_t sys_getpriority(const struct call *c)
{
    int nice = NICE_MAX;
    int err = each_named(c, (int32_t)c->a[0], least_nice_locked, &nice);

    return err ? err : NICE_ANSWER - nice;
}

/* ---- Priorities of input and output ---------------------------------------------------------- */

/* What ioprio_set(2) names; one less is what each_named() takes. */
_Static_assert(IOPRIO_WHO_PROCESS == PRIO_PROCESS + 1 && IOPRIO_WHO_PGRP == PRIO_PGRP + 1 &&
                   IOPRIO_WHO_USER == PRIO_USER + 1,
               "whose priority");

static int set_io_locked(struct thread *t, void *arg)
{
    t->asked.io = *(const uint16_t *)arg;
    return 0;
}

/* Finds the highest priority: the class with the lowest number, none last. */
static int best_io_locked(struct thread *t, void *arg)
{
    uint16_t *best = arg;

    *best = !*best || (t->asked.io && t->asked.io < *best) ? t->asked.io : *best;
    return 0;
}

int64_t sys_ioprio_set(const struct call *c)
{
    uint32_t wanted = (uint32_t)c->a[2], level = IOPRIO_PRIO_DATA(wanted);
    uint16_t io = (uint16_t)wanted;

    if (wanted > UINT16_MAX)
        return -EINVAL;
    switch (IOPRIO_PRIO_CLASS(wanted)) {
    case IOPRIO_CLASS_NONE:
        if (level)
            return -EINVAL;
        break;
    case IOPRIO_CLASS_RT:
    case IOPRIO_CLASS_BE:
        if (level >= IOPRIO_NR_LEVELS)
            return -EINVAL;
        break;
    case IOPRIO_CLASS_IDLE:
        break;
    default:
        return -EINVAL;
    }
    return each_named(c, (int32_t)c->a[0] - 1, set_io_locked, &io);
}

int64_t sys_ioprio_get(const struct call *c)
{
    uint16_t best = 0;

    return each_named(c, (int32_t)c->a[0] - 1, best_io_locked, &best) ?: best;
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

int64_t sys_sched_yield(UNUSED const struct call *c)
{
    sched_yield();
    return 0;
}

static struct cpuset cpus_that_run(void)
{
    struct cpuset all = {0};

    for (unsigned i = 0; i < cpu_count(); i++)
        all.bits[i / 64] |= (uint64_t)1 << i % 64;
    return all;
}

/* Removes CPUs that do not run. Returns whether any is left. */
static bool cut_to_present(struct cpuset *set)
{
    const struct cpuset present = cpus_that_run();
    uint64_t left = 0;

    for (unsigned i = 0; i < CPUSET_WORDS; i++)
        left |= set->bits[i] &= present.bits[i];
    return left;
}

static int change_affinity(struct thread *t, void *arg)
{
    return sched_set_affinity(t, arg);
}

static int put_affinity(struct thread *t, void *out)
{
    *(struct cpuset *)out = t->affinity;
    return 0;
}

int64_t sys_sched_setaffinity(const struct call *c)
{
    uint64_t bytes = (uint32_t)c->a[1];
    struct cpuset set = {0};

    if (arch_copy_from_user(&set, c->a[2], MIN(bytes, (uint64_t)sizeof(set))))
        return -EFAULT;
    if ((int32_t)c->a[0] < 0)
        return -ESRCH;
    bool some = cut_to_present(&set);
    int err = with_thread(c, c->a[0], some ? change_affinity : put_affinity, &set);
    sched_point();
    return err ? err : some ? 0 : -EINVAL;
}

/* Returns, as Linux's call does, the bytes that were written: libraries make zeros of the rest. */
int64_t sys_sched_getaffinity(const struct call *c)
{
    uint64_t bytes = (uint32_t)c->a[1];
    struct cpuset set = {0};

    if (bytes * 8 < cpu_count() || !IS_ALIGNED(bytes, sizeof(uint64_t)))
        return -EINVAL;
    int err = (int32_t)c->a[0] < 0 ? -ESRCH : with_thread(c, c->a[0], put_affinity, &set);
    if (err)
        return err;
    cut_to_present(&set);
    bytes = MIN(bytes, (uint64_t)sizeof(set));
    return arch_copy_to_user(c->a[2], &set, bytes) ? -EFAULT : (int64_t)bytes;
}
