/*
 * Run queues: private to sched/.  One a CPU, each with its own lock.
 *
 * A thread belongs to the run queue of thread->cpu, whose lock guards its [R] members. thread->cpu
 * changes only with the locks of the old and the new run queue held, so whoever holds one and finds
 * thread->cpu naming it holds the thread still. A CPU holds its run queue's lock across the switch:
 * a thread that others can see READY or BLOCKED is completely saved. Two run queues are locked in
 * order of CPU number (which is their order in memory).
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
    uint16_t queued;          /* how many */
    /* and the current one, unless idle; read by others without the lock */
    uint16_t running;
    struct thread *left;   /* switched away from; for whoever runs next */
    struct runqueue *also; /* second lock held across a switch, or NULL */

    /* Written by the own CPU alone, interrupts off. */
    struct list sleepers;       /* [M] by wake_ns */
    struct spinlock timer_lock; /* rank below lock */
    uint64_t next_wake_ns;      /* of the first sleeper, or earlier */
    uint64_t next_balance_ns[BALANCE_LEVELS];
    uint64_t idle_mean_ns;  /* how long it idles on average */
    uint64_t pull_again_ns; /* idle: nothing could be pulled, no need to look before */
    bool asked_to_pull;     /* [R] a busy CPU has threads to give */
    unsigned pull_failures; /* in a row: what could be pulled was too warm */
    uint64_t last_timer_ns; /* last timer interrupt */
    uint64_t random;        /* [R] of slice lengths */

} ALIGNED(CACHE_LINE);

extern struct runqueue runqueues[CPU_MAX];

static inline struct runqueue *rq_this(void)
{
    return this_cpu()->rq;
}

/* Threads there, as seen without the lock. */
static inline unsigned rq_running(unsigned cpu)
{
    return __atomic_load_n(&runqueues[cpu].running, __ATOMIC_RELAXED);
}

/* ---- runqueue.c. `_locked`: the run queue's lock is held ------------------------------------ */
void rq_init(struct runqueue *rq, struct cpu *cpu);
/* All three with interrupts off. */
struct runqueue *rq_lock_thread(struct thread *t);
void rq_lock_two(struct runqueue *a, struct runqueue *b); /* may be the same */
void rq_unlock_two(struct runqueue *a, struct runqueue *b);
/* Puts a READY thread that is in no queue in. Asks rq's CPU to switch if it should.
 * since_ns says since when the thread wants to run: as it was accounted last, or woken. */
void rq_insert_locked(struct runqueue *rq, struct thread *t, enum ready_how how);
/* Charges the running thread for the time up to now. */
void rq_account_locked(struct thread *t, uint64_t now_ns);
void rq_remove_locked(struct runqueue *rq, struct thread *t);
/* the one to run next, or NULL */
struct thread *rq_take_locked(struct runqueue *rq, uint64_t now_ns);
/* Another thread has become the CPU's current one. */
void rq_recount_locked(struct runqueue *rq);
/* Changes the CPU a thread that is in no queue belongs to; both run queues locked. */
void rq_assign_locked(struct runqueue *to, struct thread *t);
/* Hands a READY queued thread to another run queue; both locked. */
void rq_move_locked(struct runqueue *from, struct runqueue *to, struct thread *t);
/* Its CPU is to call the scheduler soon. */
void rq_kick_locked(struct runqueue *rq);
void rq_check(struct runqueue *rq); /* panics on a broken invariant; takes the lock */

/* ---- sched.c --------------------------------------------------------------------------------- */
/* Gives the CPU away. Own run queue locked, which it unlocks; interrupts off, as they are when it
 * returns. The caller has set its own state: BLOCKED, DEAD, or RUNNING to stay in line. */
enum give_way { GIVE_WAY_PREEMPTED, GIVE_WAY_YIELD };
void sched_switch_locked(struct runqueue *rq, enum give_way how);
/* Makes a BLOCKED thread READY and places it. False: it was not blocked. Any context. */
bool sched_wake(struct thread *t);
/* Programs this CPU's timer for what comes first; interrupts off. */
void sched_program_timer(void);
void thread_entry(void); /* thread.c calls it first thing in a new thread */

/* ---- timer.c: sleepers. Interrupts off ------------------------------------------------------ */
void timer_arm(struct thread *t, uint64_t deadline_ns); /* the running thread */
/* after this nobody wakes it for its deadline */
void timer_cancel(struct thread *t);
void timer_expire(struct runqueue *rq, uint64_t now_ns);

/* ---- balance.c ------------------------------------------------------------------------------- */
unsigned balance_cpu_for_new(struct thread *t);
unsigned balance_cpu_for_woken(struct thread *t, unsigned waker); /* [R] held */
bool balance_pull_idle(struct runqueue *rq); /* idle loop, interrupts off: did it get something? */
void balance_tick(struct runqueue *rq, uint64_t now_ns); /* timer interrupt of a busy CPU */

/* ---- watchdog.c: debug builds only ----------------------------------------------------------- */
void watchdog_tick(uint64_t now_ns); /* timer interrupt */

/* ---- migrate.c ------------------------------------------------------------------------------- */
struct cpuset
/* affinity, within its home chip where that leaves any; [R] held */
thread_allowed(const struct thread *t);

/* ---- thread.c -------------------------------------------------------------------------------- */
struct thread *thread_create_idle(struct cpu *cpu);

/* ---- policies.c ------------------------------------------------------------------------------ */
enum sharing_source { SHARING_NONE, SHARING_STATED, SHARING_DETECTED };
struct sched_policy {
    const char *name;
    const char *help;
    /* CPU for a new thread among those it may use; thread context. */
    unsigned (*place_new)(struct thread *t);
    bool fixed;                  /* threads stay where they were placed: no balancing */
    enum sharing_source sharing; /* where the sharing placer learns the groups */
};
const struct sched_policy *sched_policy_now(void); /* the one new threads get */
extern uint64_t sched_slice_us, sched_hot_us, sched_starve_ms;
