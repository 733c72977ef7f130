/*
 * Run queues, private to sched/: one for each CPU, each with its own lock.
 *
 * A thread belongs to the run queue of thread->cpu; its lock guards the [R] members. thread->cpu
 * changes only with the locks of the old and the new run queue held. So a holder of a run queue's
 * lock that finds thread->cpu naming that run queue holds the thread still. A CPU holds its run
 * queue's lock across the switch: a thread that others see READY or BLOCKED is completely saved.
 * Two run queues are locked in order of CPU number, which is their order in memory.
 */
#pragma once
#include "kernel/core/cpu.h"
#include "kernel/trace/telemetry.h"
#include "sched/sched.h"
#include "sched/policy/balance.h"

struct runqueue {
    struct spinlock lock;
    struct cpu *cpu;          /* [-] */
    struct ready_queue ready; /* READY threads */
    uint16_t queued;          /* number of READY threads */
    /* queued, plus 1 unless the current thread is the idle one. Read by other CPUs without the
     * lock. */
    uint16_t running;
    struct thread *left;   /* the thread switched away from, for the next one's finish_switch */
    struct runqueue *also; /* second lock held across a switch, or NULL */

    /* Written by this CPU alone, interrupts off. */
    struct list sleepers;       /* [M] by wake_ns */
    struct list timers;         /* [M] struct ktimer, by at_ns */
    struct spinlock timer_lock; /* ranks below lock */
    uint64_t next_wake_ns;      /* time of the first sleeper or timer, or earlier */
    uint64_t next_balance_ns[BALANCE_LEVELS];
    uint64_t idle_mean_ns;  /* mean length of an idle period */
    uint64_t pull_again_ns; /* idle: time before which it need not look for threads to pull */
    bool asked_to_pull;     /* [R] a busy CPU has threads to spare */
    unsigned pull_failures; /* pulls in a row that failed because the threads were warm */
    uint64_t last_timer_ns; /* time of the last timer interrupt */
    uint64_t random;        /* [R] state of the generator of slice lengths */
    struct cpu_mode mode;   /* [R] user or kernel, of the time that it was not idle */

} ALIGNED(CACHE_LINE);

extern struct runqueue runqueues[CPU_MAX];

static inline struct runqueue *rq_this(void)
{
    return this_cpu()->rq;
}

/* Returns the number of threads that want to run on the CPU, as seen without its lock. */
static inline unsigned rq_running(unsigned cpu)
{
    return __atomic_load_n(&runqueues[cpu].running, __ATOMIC_RELAXED);
}

/* ---- runqueue.c. `_locked`: the run queue's lock is held ------------------------------------- */
void rq_init(struct runqueue *rq, struct cpu *cpu);
/* The three functions that follow are called with interrupts off. Locks the run queue the thread
 * belongs to and returns it. */
struct runqueue *rq_lock_thread(struct thread *t);
void rq_lock_two(struct runqueue *a, struct runqueue *b); /* a and b may be the same */
void rq_unlock_two(struct runqueue *a, struct runqueue *b);
/* Puts a READY thread that is in no queue into rq, and asks rq's CPU to switch if the thread
 * preempts its current one. t->since_ns says since when it has wanted to run. */
void rq_insert_locked(struct runqueue *rq, struct thread *t, enum ready_how how);
/* Returns the time at which thread `t`, which runs here, stops: another CPU, whose clock is ahead
 * of this one's, may have charged it until later than now. Its run queue locked. */
static inline uint64_t rq_clock_ns(const struct thread *t)
{
    uint64_t now_ns = arch_clock_ns();

    return MAX(now_ns, t->since_ns);
}
/* Charges the running thread for the time up to now_ns. */
void rq_account_locked(struct thread *t, uint64_t now_ns);
void rq_remove_locked(struct runqueue *rq, struct thread *t);
/* Takes out the thread that runs next, and returns it or NULL. */
struct thread *rq_take_locked(struct runqueue *rq, uint64_t now_ns);
/* Recomputes rq->running, after the CPU's current thread has changed. */
void rq_recount_locked(struct runqueue *rq);
/* Makes a thread that is in no queue belong to another CPU. Both run queues locked. */
void rq_assign_locked(struct runqueue *to, struct thread *t);
/* Moves a queued READY thread to another run queue. Both locked. */
void rq_move_locked(struct runqueue *from, struct runqueue *to, struct thread *t);
/* Asks the run queue's CPU to call the scheduler soon. */
void rq_kick_locked(struct runqueue *rq);
void rq_check(struct runqueue *rq); /* panics on a broken invariant; takes the lock */

/* ---- sched.c --------------------------------------------------------------------------------- */
/* Switches this CPU to the thread that runs next. The caller has set its own state: BLOCKED, DEAD,
 * or RUNNING to be queued again. Own run queue locked; unlocks it. Interrupts off, also on
 * return. */
enum give_way { GIVE_WAY_PREEMPTED, GIVE_WAY_YIELD, GIVE_WAY_SLEEP /* until a time only */ };
void sched_switch_locked(struct runqueue *rq, enum give_way how);
/* Makes a BLOCKED thread READY and places it on a CPU. cause: what is recorded of that; an
 * interrupt that wakes as a thread does is noticed. Returns false if it was not blocked. Any
 * context. */
bool sched_wake(struct thread *t, enum trace_wake cause);
/* Programs this CPU's timer for its earliest deadline. Interrupts off. */
void sched_program_timer(void);
void thread_entry(void); /* a new thread calls it first */

/* ---- timer.c: sleepers. Interrupts off ------------------------------------------------------- */
void timer_arm(struct thread *t, uint64_t deadline_ns); /* t: the running thread */
/* after this no deadline wakes the thread */
void timer_cancel(struct thread *t);
void timer_expire(struct runqueue *rq, uint64_t now_ns);

/* ---- balance.c ------------------------------------------------------------------------------- */
unsigned balance_cpu_for_new(struct thread *t);
unsigned balance_cpu_for_woken(struct thread *t, unsigned waker); /* [R] held */
/* idle loop, interrupts off; returns whether it got a thread */
bool balance_pull_idle(struct runqueue *rq);
void balance_tick(struct runqueue *rq, uint64_t now_ns); /* timer interrupt of a busy CPU */

/* ---- watchdog.c: debug builds only ----------------------------------------------------------- */
void watchdog_tick(uint64_t now_ns); /* timer interrupt */
/* Returns when an idle CPU takes its next timer interrupt at the latest; UINT64_MAX: whenever. */
uint64_t watchdog_idle_ns(void);

/* ---- migrate.c ------------------------------------------------------------------------------- */
struct cpuset
/* Returns the thread's affinity, within its home chip if it has CPUs there. [R] held. */
thread_allowed(const struct thread *t);

/* ---- thread.c -------------------------------------------------------------------------------- */
struct thread *thread_create_idle(struct cpu *cpu);

/* ---- mutex.c --------------------------------------------------------------------------------- */
/* As mutex_lock, also with gates further out held. */
void mutex_take(struct mutex *m);

/* ---- policies.c ------------------------------------------------------------------------------ */
enum sharing_source { SHARING_NONE, SHARING_STATED, SHARING_DETECTED };
struct sched_policy {
    const char *name;
    const char *help;
    /* Returns the CPU for a new thread, among those it may use. Thread context. */
    unsigned (*place_new)(struct thread *t);
    bool fixed;                  /* threads are never balanced */
    enum sharing_source sharing; /* where the sharing placer gets the groups from */
};
const struct sched_policy *sched_policy_now(void); /* the policy that new threads get */
extern uint64_t sched_slice_us, sched_hot_us, sched_starve_ms;
