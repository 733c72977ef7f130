/* System calls of Linux: policies, priorities and CPUs of threads (sched(7)); asked.h says what
 * becomes of them. */
#include "kernel/core/cpu.h"
#include "kernel/proc/asked.h"
#include "kernel/proc/syscall/syscall.h"
#include "kernel/proc/user.h"
#include <linux/resource.h>
#include <linux/sched/types.h>

#define REALTIME_MAX 99 /* the highest priority of SCHED_FIFO and SCHED_RR; 1 is the lowest */
#define NICE_ANSWER  20 /* getpriority(2) returns this less the nice value */

/* ---- Threads by number ----------------------------------------------------------------------- */

/* Returns the caller's thread with this tid, the caller for 0; NULL: there is none. Lock of c->p
 * held. */
static struct thread *own_thread_locked(const struct call *c, uint64_t tid)
{
    return (uint32_t)tid ? uthread_find_locked(c->p, (uint32_t)tid) : c->t;
}

/* Returns why own_thread_locked() found no thread. */
static int refused_thread(const struct call *c, uint64_t tid)
{
    struct process *p = (int32_t)tid > 0 ? process_find((uint32_t)tid) : NULL;

    if (!p)
        return -ESRCH;
    process_put(p);
    return p == c->p ? -ESRCH : -EPERM;
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

static int64_t set_policy(const struct call *c, uint32_t policy, vaddr_t param, bool keeps)
{
    int32_t priority;
    int err = 0;

    if ((int32_t)c->a[0] < 0 || !param)
        return -EINVAL;
    if (arch_copy_from_user(&priority, param, sizeof(priority)))
        return -EFAULT;
    bool irq = spin_lock(&c->p->lock);
    struct thread *t = own_thread_locked(c, c->a[0]);
    if (t) {
        struct thread_asked asked = t->asked;
        if (keeps)
            policy = asked.policy | (asked.resets ? SCHED_RESET_ON_FORK : 0);
        err = check_policy(policy, priority);
        asked.policy = (uint8_t)(policy & ~(uint32_t)SCHED_RESET_ON_FORK);
        asked.resets = policy & SCHED_RESET_ON_FORK;
        asked.realtime = (uint8_t)priority;
        if (!err)
            ask_locked(t, asked);
    }
    spin_unlock(&c->p->lock, irq);
    return t ? err : refused_thread(c, c->a[0]);
}

/* Calls visit(t, out) for the thread with this tid, of the caller's process, or the first of any
 * that the caller may see; 0: the caller. The lock of its process is held. Returns 0 or an
 * error. */
static int read_thread(const struct call *c, uint64_t tid,
                       void (*visit)(const struct thread *t, void *out), void *out)
{
    if ((int32_t)tid < 0)
        return -EINVAL;
    bool irq = spin_lock(&c->p->lock);
    const struct thread *t = own_thread_locked(c, tid);
    if (t)
        visit(t, out);
    spin_unlock(&c->p->lock, irq);
    if (t)
        return 0;
    struct process *p = process_find((uint32_t)tid);
    if (!p)
        return -ESRCH;
    if (visible_process(c->p, p)) {
        irq = spin_lock(&p->lock);
        t = uthread_find_locked(p, (uint32_t)tid);
        if (t)
            visit(t, out);
        spin_unlock(&p->lock, irq);
    }
    process_put(p);
    return t ? 0 : -ESRCH;
}

static void put_asked(const struct thread *t, void *out)
{
    *(struct thread_asked *)out = t->asked;
}

/* Reads what was asked for a thread. Returns 0 or an error. */
static int get_asked(const struct call *c, uint64_t tid, struct thread_asked *out)
{
    return read_thread(c, tid, put_asked, out);
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

/* Calls visit(t, arg) for the threads that (which, who) of getpriority(2) names: one, or all of the
 * caller's process for its user. Returns 0 or an error. */
static int each_named(const struct call *c, void (*visit)(struct thread *t, int *value), int *value)
{
    bool of_one = (int32_t)c->a[0] == PRIO_PROCESS, irq;

    if ((int32_t)c->a[0] < PRIO_PROCESS || (int32_t)c->a[0] > PRIO_USER)
        return -EINVAL;
    irq = spin_lock(&c->p->lock);
    struct thread *t = of_one ? own_thread_locked(c, c->a[1]) : c->t;
    if (of_one && t)
        visit(t, value);
    if (!of_one && !(uint32_t)c->a[1])
        for (struct list *l = c->p->threads.next; l != &c->p->threads; l = l->next)
            visit(container_of(l, struct thread, siblings), value);
    spin_unlock(&c->p->lock, irq);
    if (!of_one && (uint32_t)c->a[1])
        return -ESRCH;
    return t ? 0 : refused_thread(c, c->a[1]);
}

static void set_nice_locked(struct thread *t, int *value)
{
    struct thread_asked asked = t->asked;

    asked.nice = (int8_t)*value;
    ask_locked(t, asked);
}

static void least_nice_locked(struct thread *t, int *value)
{
    *value = MIN(*value, (int)t->asked.nice);
}

int64_t sys_setpriority(const struct call *c)
{
    int nice = MAX(MIN((int32_t)c->a[2], NICE_MAX), NICE_MIN);

    return each_named(c, set_nice_locked, &nice);
}

int64_t sys_getpriority(const struct call *c)
{
    int nice = NICE_MAX;
    int err = each_named(c, least_nice_locked, &nice);

    return err ? err : NICE_ANSWER - nice;
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

int64_t sys_sched_setaffinity(const struct call *c)
{
    uint64_t bytes = (uint32_t)c->a[1];
    struct cpuset set = {0};
    int err = 0;

    if (arch_copy_from_user(&set, c->a[2], MIN(bytes, (uint64_t)sizeof(set))))
        return -EFAULT;
    bool some = cut_to_present(&set), irq = spin_lock(&c->p->lock);
    struct thread *t = own_thread_locked(c, c->a[0]);
    if (t)
        err = some ? sched_set_affinity(t, &set) : -EINVAL;
    spin_unlock(&c->p->lock, irq);
    sched_point();
    return t ? err : refused_thread(c, c->a[0]);
}

static void put_affinity(const struct thread *t, void *out)
{
    *(struct cpuset *)out = t->affinity;
}

/* Returns, as Linux's call does, the bytes that were written: libraries make zeros of the rest. */
int64_t sys_sched_getaffinity(const struct call *c)
{
    uint64_t bytes = (uint32_t)c->a[1];
    struct cpuset set = {0};

    if (bytes * 8 < cpu_count() || !IS_ALIGNED(bytes, sizeof(uint64_t)))
        return -EINVAL;
    int err = read_thread(c, c->a[0], put_affinity, &set);
    if (err)
        return err;
    cut_to_present(&set);
    bytes = MIN(bytes, (uint64_t)sizeof(set));
    return arch_copy_to_user(c->a[2], &set, bytes) ? -EFAULT : (int64_t)bytes;
}
