/* See timers.h. */
#include "kernel/proc/timers.h"
#include "kernel/core/cpu.h"
#include "kernel/lib/period.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/deadline.h"
#include "kernel/proc/internal.h"
#include <linux/signal.h>
#include <linux/time.h>

#define OVERRUN_MAX 0x7fffffffull /* DELAYTIMER_MAX */
#define ID_INTERVAL (-1)          /* of timers of setitimer(2) */

struct timer {
    struct list link; /* among its process's */
    struct ktimer ktimer;
    struct process *process; /* [-] */
    int32_t id;              /* [-] */
    enum timer_clock clock;  /* [-] */
    uint32_t thread;         /* [-] whose CPU time */
    uint32_t tid;            /* [-] the thread that gets the signal; 0: any */
    bool silent;             /* [-] it tells nothing */
    uint64_t at_ns;          /* the next time, of its clock, or the one that came; 0: not set */
    uint64_t interval_ns;
    uint64_t look_ns, seen_ns; /* of CPU time: the longest wait, what the clock was */
    struct signal_entry entry;
    bool waits;        /* the signal was not taken yet ... */
    bool stale;        /* ... and is of a time before the timer was set anew */
    uint64_t overruns; /* times that came while it waited */
    uint64_t last_overrun;
};

/* ---- Clocks ---------------------------------------------------------------------------------- */

static bool is_cpu_time(const struct timer *t)
{
    return t->clock == TIMER_OF_PROCESS || t->clock == TIMER_OF_THREAD;
}

/* Returns whether the clock is still there. Timers of a date keep their times since boot. */
static bool read_clock(const struct timer *t, uint64_t *ns)
{
    if (!is_cpu_time(t)) {
        *ns = arch_clock_ns();
        return true;
    }
    if (t->clock == TIMER_OF_PROCESS) {
        *ns = process_time_locked(t->process).run_ns;
        return true;
    }
    struct thread *thread = uthread_find_locked(t->process, t->thread);
    *ns = thread ? sched_time(thread).run_ns : 0;
    return thread;
}

/* Looks at the clock of CPU time again when it can have come so far, on all CPUs at once; less
 * often while it stands still. */
static void look_later(struct timer *t, uint64_t clock_ns)
{
    unsigned runs = t->clock == TIMER_OF_THREAD ? 1 : MIN(cpu_count(), t->process->thread_count);
    uint64_t wait_ns = (t->at_ns - clock_ns) / MAX(runs, 1u);
    bool moved = clock_ns != t->seen_ns;

    t->look_ns = moved ? TIMER_LOOK_MIN_NS : MIN(2 * t->look_ns, TIMER_LOOK_MAX_NS);
    t->seen_ns = clock_ns;
    wait_ns = MAX(wait_ns, t->look_ns);
    uint64_t now_ns = arch_clock_ns();
    ktimer_set(&t->ktimer, wait_ns > UINT64_MAX / 2 ? UINT64_MAX : now_ns + wait_ns);
}

/* Waits for at_ns, or no more. */
static void start(struct timer *t, uint64_t clock_ns)
{
    if (!t->at_ns || t->silent)
        ktimer_set(&t->ktimer, UINT64_MAX);
    else if (!is_cpu_time(t))
        ktimer_set(&t->ktimer, t->at_ns);
    else if (t->at_ns <= clock_ns)
        ktimer_set(&t->ktimer, arch_clock_ns());
    else
        look_later(t, clock_ns);
}

/* ---- Its time has come ----------------------------------------------------------------------- */

/* Nothing will take a signal: goes on to the next time, which comes no sooner than the next look
 * at a clock. */
static void skip(struct timer *t, uint64_t clock_ns)
{
    if (t->interval_ns)
        period_forward(&t->at_ns, MAX(t->interval_ns, TIMER_LOOK_MIN_NS), clock_ns);
    else
        t->at_ns = 0;
    start(t, clock_ns);
}

static void come(struct timer *t, uint64_t clock_ns)
{
    struct process *p = t->process;
    int number = t->entry.info.si_signo;

    if (t->waits) {
        t->overruns++;
        t->stale = false;
    } else if ((t->id == ID_INTERVAL && p->signals.pending.set & SIGNAL_BIT(number)) ||
               !signal_send_entry_locked(p, t->tid, &t->entry)) {
        skip(t, clock_ns);
        return;
    } else {
        t->waits = true;
    }
    if (!t->interval_ns)
        t->at_ns = 0;
}

static void expire(struct ktimer *k)
{
    struct timer *t = container_of(k, struct timer, ktimer);
    bool irq = spin_lock(&t->process->lock);
    uint64_t now_ns;

    if (t->at_ns && !read_clock(t, &now_ns))
        t->at_ns = 0;
    if (t->at_ns && now_ns >= t->at_ns)
        come(t, now_ns);
    else if (t->at_ns && is_cpu_time(t))
        look_later(t, now_ns);
    spin_unlock(&t->process->lock, irq);
}

/* The signal was taken, or dropped: a timer that comes again goes on. */
static void take(UNUSED struct process *p, struct signal_entry *e, siginfo_t *info)
{
    struct timer *t = container_of(e, struct timer, entry);
    uint64_t overruns = t->overruns, now_ns;

    if (!t->stale && t->at_ns && read_clock(t, &now_ns)) {
        overruns += period_forward(&t->at_ns, t->interval_ns, MAX(now_ns, t->at_ns)) - 1;
        start(t, now_ns);
    }
    t->waits = t->stale = false;
    t->overruns = 0;
    if (!info)
        return;
    t->last_overrun = MIN(overruns, OVERRUN_MAX);
    if (t->id != ID_INTERVAL)
        info->si_overrun = (int)t->last_overrun;
}

/* ---- Making and deleting --------------------------------------------------------------------- */

void timers_init(struct process_timers *timers)
{
    list_init(&timers->all);
}

static struct timer *make_timer(struct process *p, enum timer_clock clock, int number)
{
    if (process_charge(p, sizeof(struct timer)))
        return NULL;
    struct timer *t = kmalloc(sizeof(*t));
    if (!t) {
        process_uncharge(p, sizeof(*t));
        return NULL;
    }
    ktimer_init(&t->ktimer, expire);
    list_init(&t->link);
    t->process = p;
    t->clock = clock;
    t->silent = !number;
    t->entry.info.si_signo = number;
    t->entry.taken = take;
    return t;
}

/* Stops a timer that no call finds any more, and frees it. No lock held. */
static void free_timer(struct timer *t)
{
    ktimer_finish(&t->ktimer);
    process_uncharge(t->process, sizeof(*t));
    kfree(t);
}

static void unlink_locked(struct process *p, struct timer *t)
{
    list_remove(&t->link);
    p->timers.count--;
    t->at_ns = 0;
    signal_queue_remove(&t->entry);
}

/* Returns a timer of p, or, if `made`, one of timer_create(2), or NULL. */
static struct timer *any_locked(struct process *p, bool made)
{
    list_for_each (it, &p->timers.all) {
        struct timer *t = container_of(it, struct timer, link);
        if (!made || t->id != ID_INTERVAL)
            return t;
    }
    return NULL;
}

static void delete_all(struct process *p, bool made)
{
    for (;;) {
        bool irq = spin_lock(&p->lock);
        struct timer *t = any_locked(p, made);
        if (t)
            unlink_locked(p, t);
        spin_unlock(&p->lock, irq);
        if (!t)
            return;
        free_timer(t);
    }
}

void timers_end(struct process *p)
{
    delete_all(p, false);
}

void timers_new_program(struct process *p)
{
    delete_all(p, true);
}

static struct timer *find_locked(struct process *p, int32_t id)
{
    list_for_each (it, &p->timers.all) {
        struct timer *t = container_of(it, struct timer, link);
        if (t->id == id && id != ID_INTERVAL)
            return t;
    }
    return NULL;
}

/* Gives a timer a number that no other has, and lists it. Returns 0, -EAGAIN or -EINVAL. */
static int enlist_locked(struct process *p, struct timer *t)
{
    if (p->timers.count == TIMERS_MAX)
        return -EAGAIN;
    if (t->tid && !uthread_find_locked(p, t->tid))
        return -EINVAL;
    while (find_locked(p, p->timers.next_id))
        p->timers.next_id = (p->timers.next_id + 1) & INT32_MAX;
    t->id = p->timers.next_id;
    p->timers.next_id = (t->id + 1) & INT32_MAX;
    p->timers.count++;
    list_push_back(&p->timers.all, &t->link);
    return 0;
}

int timer_make(enum timer_clock clock, uint32_t thread, const struct timer_notice *notice)
{
    struct process *p = thread_current()->process;
    struct timer *t = make_timer(p, clock, notice->signal);

    if (!t)
        return -EAGAIN;
    t->thread = thread;
    t->tid = notice->tid;
    bool irq = spin_lock(&p->lock);
    int err = enlist_locked(p, t);
    int32_t id = t->id;
    if (!err) {
        t->entry.info.si_code = SI_TIMER;
        t->entry.info.si_tid = id;
        t->entry.info.si_value.sival_ptr = (void *)(notice->own_id ? (uint64_t)id : notice->value);
    }
    spin_unlock(&p->lock, irq);
    if (err) {
        free_timer(t);
        return err;
    }
    return id;
}

int timer_delete(int32_t id)
{
    struct process *p = thread_current()->process;
    bool irq = spin_lock(&p->lock);
    struct timer *t = find_locked(p, id);

    if (t)
        unlink_locked(p, t);
    spin_unlock(&p->lock, irq);
    if (!t)
        return -EINVAL;
    free_timer(t);
    return 0;
}

/* ---- Setting and reading --------------------------------------------------------------------- */

static struct timer_times times_of(const struct timer *t)
{
    struct timer_times times = {.interval_ns = t->interval_ns};
    uint64_t now_ns;

    if (!t->at_ns || !read_clock(t, &now_ns))
        return times;
    times.left_ns = period_left(t->at_ns, t->interval_ns, now_ns);
    if (!times.left_ns && !t->silent)
        times.left_ns = 1; /* it is set, and about to come */
    return times;
}

static void set_locked(struct timer *t, bool absolute, struct timer_times times)
{
    uint64_t now_ns = 0;
    bool there = read_clock(t, &now_ns);

    if (!is_cpu_time(t))
        t->at_ns = deadline_of_timer(times.left_ns, absolute, t->clock == TIMER_OF_DATE);
    else if (!times.left_ns || !there)
        t->at_ns = 0;
    else
        t->at_ns = absolute ? times.left_ns : now_ns + MIN(times.left_ns, UINT64_MAX - now_ns);
    t->interval_ns = times.interval_ns;
    t->stale = t->waits;
    t->overruns = 0;
    t->look_ns = TIMER_LOOK_MIN_NS;
    t->seen_ns = now_ns;
    start(t, now_ns);
}

int timer_set(int32_t id, bool absolute, struct timer_times times, struct timer_times *old)
{
    struct process *p = thread_current()->process;
    bool irq = spin_lock(&p->lock);
    struct timer *t = find_locked(p, id);

    if (t) {
        *old = times_of(t);
        set_locked(t, absolute, times);
    }
    spin_unlock(&p->lock, irq);
    return t ? 0 : -EINVAL;
}

int timer_read(int32_t id, struct timer_times *out)
{
    struct process *p = thread_current()->process;
    bool irq = spin_lock(&p->lock);
    const struct timer *t = find_locked(p, id);

    if (t)
        *out = times_of(t);
    spin_unlock(&p->lock, irq);
    return t ? 0 : -EINVAL;
}

int timer_overrun(int32_t id)
{
    struct process *p = thread_current()->process;
    bool irq = spin_lock(&p->lock);
    const struct timer *t = find_locked(p, id);
    int overrun = t ? (int)t->last_overrun : -EINVAL;

    spin_unlock(&p->lock, irq);
    return overrun;
}

/* ---- setitimer ------------------------------------------------------------------------------- */

static const struct {
    enum timer_clock clock;
    int signal;
} kinds[] = {
    [ITIMER_REAL] = {TIMER_SINCE_BOOT, SIGALRM},
    [ITIMER_VIRTUAL] = {TIMER_OF_PROCESS, SIGVTALRM},
    [ITIMER_PROF] = {TIMER_OF_PROCESS, SIGPROF},
};

/* Makes the timer, unless another thread was faster. Returns 0 or an error. */
static int make_interval(struct process *p, unsigned which)
{
    struct timer *t = make_timer(p, kinds[which].clock, kinds[which].signal);

    if (!t)
        return -ENOMEM;
    t->id = ID_INTERVAL;
    t->entry.info.si_code = SI_KERNEL;
    bool irq = spin_lock(&p->lock);
    bool first = !p->timers.interval[which];
    if (first) {
        p->timers.interval[which] = t;
        p->timers.count++;
        list_push_back(&p->timers.all, &t->link);
    }
    spin_unlock(&p->lock, irq);
    if (!first)
        free_timer(t);
    return 0;
}

int timer_interval(unsigned which, const struct timer_times *new, struct timer_times *old)
{
    struct process *p = thread_current()->process;
    int err = 0;

    *old = (struct timer_times){0};
    if (!__atomic_load_n(&p->timers.interval[which], __ATOMIC_RELAXED)) {
        if (!new || !new->left_ns)
            return 0;
        err = make_interval(p, which);
    }
    if (err)
        return err;
    bool irq = spin_lock(&p->lock);
    struct timer *t = p->timers.interval[which];
    *old = times_of(t);
    if (new)
        set_locked(t, false, *new);
    spin_unlock(&p->lock, irq);
    return 0;
}
