/*
 * The core of the scheduler: switching, waking, giving way, the idle loop, the timer interrupt.
 *
 * The kernel is not preempted: a CPU changes threads only here, called where a thread blocks,
 * exits, yields, or reaches sched_point(), at the latest on its way back to user mode.
 * cpu->resched, set under the run queue's lock, asks for that. A timer interrupt comes only for a
 * deadline: of a sleeper, the end of a slice, or a busy CPU's balancing.
 */
#include "hpm/path/path.h"
#include "sched/cpuset.h"
#include "sched/quanta.h"
#include "sched/runqueue.h"

uint64_t sched_wanted_ns(struct thread *t)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);
    bool wants = t->state == THREAD_READY || t->state == THREAD_RUNNING;
    uint64_t wanted_ns = t->run_ns + t->ready_ns + (wants ? arch_clock_ns() - t->since_ns : 0);

    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
    return wanted_ns;
}

struct cpu_time sched_time(struct thread *t)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);
    uint64_t run_ns = t->run_ns + (t->state == THREAD_RUNNING ? arch_clock_ns() - t->since_ns : 0);
    struct cpu_time time = {run_ns, cpu_mode_system_ns(&t->mode, run_ns)};

    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
    return time;
}

struct cpu_time sched_cpu_time(unsigned cpu)
{
    struct runqueue *rq = &runqueues[cpu];
    const struct thread *idle = cpus[cpu].idle;
    bool irq = spin_lock(&rq->lock);
    uint64_t now_ns = arch_clock_ns();
    uint64_t idle_ns = idle->run_ns + (idle->state == THREAD_RUNNING ? now_ns - idle->since_ns : 0);
    uint64_t run_ns = now_ns - MIN(now_ns, idle_ns);
    struct cpu_time time = {run_ns, cpu_mode_system_ns(&rq->mode, run_ns)};

    spin_unlock(&rq->lock, irq);
    return time;
}

void sched_figures(struct thread *t, struct sched_figures *out)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);
    uint64_t since_ns = arch_clock_ns() - t->since_ns;

    *out = (struct sched_figures){
        .state = t->state,
        .cpu = t->cpu,
        .home = t->chip_home,
        .cluster = __atomic_load_n(&t->sharing.cluster, __ATOMIC_RELAXED),
        .group = __atomic_load_n(&t->group, __ATOMIC_RELAXED),
        .run_ns = t->run_ns + (t->state == THREAD_RUNNING ? since_ns : 0),
        .ready_ns = t->ready_ns + (t->state == THREAD_READY ? since_ns : 0),
        .migrations = t->migrations,
    };
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
}

/* Ends a switch, in the new thread's context. The old thread is saved now, so its run queue is
 * unlocked for others. */
static void finish_switch(void)
{
    struct runqueue *rq = rq_this();
    struct thread *left = rq->left;
    struct runqueue *also = rq->also;
    bool dead = left->state == THREAD_DEAD;

    rq->also = NULL;
    rq_unlock_two(rq, also ? also : rq);
    if (dead)
        thread_put(left);
}

void thread_entry(void)
{
    finish_switch();
    arch_irq_restore(true);
}

static void enter_space(struct cpu *cpu, struct arch_space *space)
{
    if (cpu->space == space)
        return;
    /* Set before the tables are loaded: a shootdown that does not see it has changed tables
     * that are loaded afterwards. */
    cpu->space = space;
    arch_space_switch(space);
}

void thread_enter_space(struct arch_space *space, uint16_t number)
{
    bool irq = arch_irq_save();

    thread_current()->space = space;
    thread_current()->space_number = number;
    path_switch(thread_current()->tid, number);
    enter_space(this_cpu(), space);
    arch_irq_restore(irq);
}

void thread_leave_space(void)
{
    thread_enter_space(NULL, 0);
}

/*
 * Returns the length of a slice: sched.slice_us, a quarter more or less at random. With slices of
 * equal length CPUs march in step: threads of a group that always run at different times fetch
 * their lines from each other never, or always. The generator is Knuth's MMIX.
 */
static uint64_t new_slice_ns(struct runqueue *rq, struct thread *t)
{
    uint64_t slice_ns = sched_slice_us * NS_PER_US;

    rq->random = rq->random * 6364136223846793005 + 1442695040888963407 + rq->cpu->index;
    return t->slice_ns = slice_ns * 3 / 4 + (rq->random >> 33) % (slice_ns / 2);
}

static enum trace_left why_left(const struct runqueue *rq, const struct thread *t,
                                enum give_way how)
{
    if (t == rq->cpu->idle)
        return TRACE_IDLE;
    if (t->state == THREAD_READY)
        return how == GIVE_WAY_PREEMPTED ? TRACE_PREEMPTED : TRACE_YIELDED;
    if (t->state == THREAD_DEAD)
        return TRACE_EXITED;
    return how == GIVE_WAY_SLEEP ? TRACE_SLEPT : TRACE_BLOCKED;
}

/* quanta: they are recorded. */
static inline __attribute__((always_inline)) void run_locked(struct runqueue *rq,
                                                             struct thread *prev,
                                                             struct thread *next, uint64_t now_ns,
                                                             bool quanta, enum trace_left left)
{
    struct cpu *cpu = rq->cpu;
    uint64_t ready_ns = next->since_ns;

    next->state = THREAD_RUNNING;
    prev->switches++;
    cpu->switches++;
    next->ready_ns += next == cpu->idle || now_ns < ready_ns ? 0 : now_ns - ready_ns;
    next->since_ns = now_ns;
    next->slice_end_ns =
        now_ns + (next->slice_left_ns ? next->slice_left_ns : new_slice_ns(rq, next));
    if (prev == cpu->idle)
        rq->last_timer_ns = now_ns; /* an idle CPU needs no timer: the watchdog counts from here */
    cpu->current = next;
    cpu->gate = next->gate ? next->gate->mutex.guard.name : NULL;
    rq_recount_locked(rq);
    rq->left = prev;
    path_switch(next->tid, next->space_number);
    hpm_switch(prev == cpu->idle ? NULL : &prev->hpm, next == cpu->idle ? NULL : &next->hpm);
    if (quanta)
        quanta_switch(prev == cpu->idle ? NULL : prev, next == cpu->idle ? NULL : next, now_ns,
                      ready_ns, left);
    sched_program_timer(); /* after hpm_switch: only busy CPUs are sampled by time */
    enter_space(cpu, next->space);
    arch_switch(&prev->context, &next->context);
    finish_switch();
}

/* As run_locked, and records it. Apart, so that a switch that is not recorded has one test for all
 * that might be. */
static __attribute__((noinline)) void run_recorded(struct runqueue *rq, struct thread *prev,
                                                   struct thread *next, enum give_way how,
                                                   uint64_t now_ns)
{
    enum trace_left left = why_left(rq, prev, how);

    telemetry_sched_switch(prev->tid, next->tid, next->hpm.pid, left);
    run_locked(rq, prev, next, now_ns, telemetry_wants(TELEMETRY_QUANTA), left);
}

/* Returns the run queue where a thread that goes on wanting to run must continue: its own CPU's, or
 * that of the CPU it is to migrate to, which is then locked, too, and noted in rq->also. rq itself
 * may have been unlocked in between. */
static struct runqueue *lock_destination(struct runqueue *rq, const struct thread *t)
{
    for (;;) {
        unsigned cpu = t->migrate_to;
        if (cpu == CPU_ANY || cpu == rq->cpu->index)
            return rq;
        struct runqueue *to = &runqueues[cpu];
        if (to < rq) {
            spin_unlock_irqoff(&rq->lock);
            rq_lock_two(to, rq);
        } else {
            spin_lock_irqoff(&to->lock);
        }
        if (t->migrate_to == cpu) {
            rq->also = to;
            return to;
        }
        spin_unlock_irqoff(&to->lock);
    }
}

static void requeue_locked(struct runqueue *rq, struct thread *t, enum give_way how)
{
    struct runqueue *to = lock_destination(rq, t);
    enum ready_how as = how == GIVE_WAY_YIELD ? READY_YIELDED
                        : t->slice_left_ns    ? READY_PREEMPTED
                                              : READY_OVER;

    t->state = THREAD_READY;
    if (to != rq)
        telemetry_sched_migrate(t->tid, t->cpu, to->cpu->index, TRACE_REQUESTED);
    rq_assign_locked(to, t);
    rq_insert_locked(to, t, to == rq ? as : READY_WOKEN);
}

void sched_switch_locked(struct runqueue *rq, enum give_way how)
{
    struct cpu *cpu = rq->cpu;
    struct thread *prev = cpu->current;
    uint64_t now_ns = rq_clock_ns(prev);

    ASSERT(cpu->spin_depth == 1);
    rq_account_locked(prev, now_ns);
    prev->stopped_ns = now_ns;
    prev->slice_left_ns = prev->slice_end_ns > now_ns ? prev->slice_end_ns - now_ns : 0;
    if (prev->state == THREAD_RUNNING) {
        if (prev != cpu->idle)
            requeue_locked(rq, prev, how);
    } else {
        prev->slice_left_ns = 0;
    }
    struct thread *next = rq_take_locked(rq, now_ns);
    if (!next)
        next = cpu->idle;
    cpu->resched = false;
    if (next != prev) {
        if (telemetry_wants(TELEMETRY_SCHED | TELEMETRY_QUANTA))
            run_recorded(rq, prev, next, how, now_ns);
        else
            run_locked(rq, prev, next, now_ns, false, TRACE_IDLE);
        return;
    }
    next->state = THREAD_RUNNING;
    next->slice_end_ns =
        now_ns + (next->slice_left_ns ? next->slice_left_ns : new_slice_ns(rq, next));
    rq_recount_locked(rq);
    sched_program_timer();
    spin_unlock_irqoff(&rq->lock);
}

static void give_way(enum give_way how)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_this();

    spin_lock_irqoff(&rq->lock);
    sched_switch_locked(rq, how);
    arch_irq_restore(irq);
}

void sched_point(void)
{
    ASSERT(!this_cpu()->spin_depth);
    while (this_cpu()->resched)
        give_way(GIVE_WAY_PREEMPTED);
}

void sched_yield(void)
{
    give_way(GIVE_WAY_YIELD);
}

/* Locks the run queue of a blocked thread and the one chosen for it. Returns false if the thread
 * has left `from`, or `to` is no longer its CPU. */
static bool lock_pair(struct runqueue *from, struct runqueue *to, const struct thread *t)
{
    rq_lock_two(from, to);
    if (&runqueues[t->cpu] == from && t->state == THREAD_BLOCKED &&
        cpuset_has(&t->affinity, to->cpu->index))
        return true;
    rq_unlock_two(from, to);
    return false;
}

bool sched_wake(struct thread *t, enum trace_wake cause)
{
    bool irq = arch_irq_save();
    struct runqueue *from, *to;

    do {
        from = rq_lock_thread(t);
        if (t->state != THREAD_BLOCKED) {
            spin_unlock_irqoff(&from->lock);
            arch_irq_restore(irq);
            return false;
        }
        to = &runqueues[balance_cpu_for_woken(t, this_cpu()->index)];
        if (to == from)
            break;
        spin_unlock_irqoff(&from->lock);
    } while (!lock_pair(from, to, t));
    if (to != from)
        telemetry_sched_migrate(t->tid, t->cpu, to->cpu->index, TRACE_WOKEN);
    t->state = THREAD_READY;
    t->since_ns = arch_clock_ns();
    rq_assign_locked(to, t);
    if (telemetry_wants(TELEMETRY_QUANTA))
        quanta_woken(t, cause);
    rq_insert_locked(to, t, READY_WOKEN);
    rq_unlock_two(from, to);
    arch_irq_restore(irq);
    return true;
}

struct thread *thread_current(void)
{
    return this_cpu()->current; /* which an interrupt of the kernel does not change */
}

/* ---- Timer ----------------------------------------------------------------------------------- */

static void program_timer(uint64_t not_before_ns)
{
    const struct runqueue *rq = rq_this();
    uint64_t at_ns = rq->next_wake_ns;

    if (rq->cpu->resched) /* will be programmed again soon; this one serves the watchdog */
        at_ns = MIN(at_ns, rq->last_timer_ns + sched_slice_us * NS_PER_US);
    else if (rq->cpu->current != rq->cpu->idle)
        at_ns = MIN(at_ns, rq->cpu->current->slice_end_ns);
    else
        at_ns = MIN(at_ns, watchdog_idle_ns());
    at_ns = MIN(at_ns, hpm_timer_ns());
    arch_timer_arm(MAX(at_ns, not_before_ns));
}

void sched_program_timer(void)
{
    program_timer(0);
}

/* Ends the running thread's slice if its time has come. A busy CPU then also rotates its counters
 * and looks for imbalance. */
static void slice_over(struct runqueue *rq, uint64_t now_ns, bool in_kernel)
{
    struct thread *t = rq->cpu->current;

    if (t == rq->cpu->idle || t->slice_end_ns > now_ns)
        return;
    hpm_tick();
    spin_lock_irqoff(&rq->lock);
    rq_account_locked(t, now_ns);
    cpu_mode_look(&t->mode, t->run_ns, in_kernel);
    cpu_mode_look(&rq->mode, now_ns - MIN(now_ns, rq->cpu->idle->run_ns), in_kernel);
    if (ready_slice_over(&rq->ready, now_ns, sched_starve_ms * NS_PER_MS))
        rq->cpu->resched = true;
    else
        t->slice_end_ns = now_ns + new_slice_ns(rq, t);
    spin_unlock_irqoff(&rq->lock);
    balance_tick(rq, now_ns);
}

void sched_timer(bool in_kernel)
{
    struct runqueue *rq = rq_this();
    uint64_t now_ns = arch_clock_ns();

    rq->last_timer_ns = now_ns;
    timer_expire(rq, now_ns);
    slice_over(rq, now_ns, in_kernel);
    watchdog_tick(now_ns);
    /* Counted from now, as the work above may have taken long (a hypervisor may have run others):
     * the thread gets at least that much time. */
    uint64_t end_ns = arch_clock_ns();
    program_timer(end_ns + (end_ns - now_ns));
}

/* ---- Idle ------------------------------------------------------------------------------------ */

static void idle_once(struct runqueue *rq)
{
    if (!rq->cpu->resched && !balance_pull_idle(rq)) {
        uint64_t since_ns = arch_clock_ns();
        arch_halt();
        rq->idle_mean_ns = (rq->idle_mean_ns * 7 + arch_clock_ns() - since_ns) / 8;
    }
    if (!rq->cpu->resched)
        return;
    spin_lock_irqoff(&rq->lock);
    sched_switch_locked(rq, GIVE_WAY_YIELD);
}

NORETURN void sched_start(void)
{
    struct cpu *cpu = this_cpu();

    cpu->online = true;
    for (;;)
        idle_once(cpu->rq);
}

void sched_init_cpu(struct cpu *cpu)
{
    struct thread *idle = thread_create_idle(cpu);

    rq_init(cpu->rq = &runqueues[cpu->index], cpu);
    cpu->current = cpu->idle = idle;
    cpu->rq->running = 0;
}
