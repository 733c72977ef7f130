/*
 * Threads and the scheduler, as the other folders see them.
 *
 * Mechanism: per-CPU run queues, priorities, sleeping, waking, affinity, load balancing along the
 * topology. The sharing detector (sharing/detector.c) sits on top of it and decides by the pure
 * policies shmap.c, cluster.c, sharing/apply.c. Locking: [R] = lock of the run queue of thread->cpu
 * (thread->cpu itself changes only under the locks of both the old and the new run queue), [W] =
 * the guard of the wait queue slept on, [M] = timer lock of thread->timer_cpu, [A] = atomic,
 * [-] = fixed after creation, [O] = written by the running thread itself or by the scheduler
 * switching it.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cmdline.h"
#include "kernel/lib/list.h"
#include "kernel/core/lock.h"
#include "kernel/core/number.h"
#include "hpm/hpm.h"
#include "hpm/policy/breakdown.h"
#include "sched/policy/ready.h"

struct process; /* kernel/proc: opaque here */

#define CPUSET_WORDS (CPU_MAX / 64)
struct cpuset {
    uint64_t bits[CPUSET_WORDS];
};

enum thread_state { THREAD_NEW, THREAD_READY, THREAD_RUNNING, THREAD_BLOCKED, THREAD_DEAD };

#define THREAD_NAME_MAX 24
#define KSTACK_SIZE     (16 * KIB) /* with an unmapped guard page below */
#define GROUP_NONE      (-1)

struct sched_policy; /* sched/policies.c */

/* Part of struct thread that belongs to the sharing detector: [S] = its lock, [D] = the detector's
 * thread alone. */
struct sharing_member {
    struct list link;           /* [S] members of one process, in order of creation */
    struct sharing_process *of; /* [S] NULL: not watched */
    int cluster;                /* [S] the last one found or stated, or -1 */
    unsigned chip;              /* [S] chip it was given, or CHIP_ANY */
    struct hpm_remote seen;     /* [D] readings at the last look */
    uint64_t wanted_ns;         /* [D] when loads were measured */
    uint32_t load;              /* [D] thousandths of a CPU it wanted before that */
};

struct thread {
    struct arch_context context; /* [O] */
    struct ready_thread ready;   /* [R] its priority and place in the run queue */
    enum thread_state
        /* [R] BLOCKED and DEAD only once it is switched out, or under [R] on its way there */
        state;
    uint8_t own_prio; /* [R] that it was given; ready.prio is higher while some is lent */
    uint8_t lent;     /* [R] gates whose waiters lend it the kernel's */
    bool interrupted; /* [R] its process ends: sleeps return -EINTR */
    unsigned cpu;     /* [R] CPU it runs on, is queued at, or ran on last when blocked */
    /* [R] CPU it must go to when it next stops running or wakes, or CPU_ANY */
    unsigned migrate_to;
    struct cpuset affinity;     /* [R] never empty */
    unsigned chip_home;         /* [R] chip the sharing placer chose, or CHIP_ANY */
    uint32_t tid;               /* [-] no other's while this structure is there; the value of: */
    struct number id;           /* thread.c */
    char name[THREAD_NAME_MAX]; /* [-] */
    struct process *process;    /* [-] NULL: a kernel thread */
    struct arch_space *space;   /* [O] NULL: kernel only */
    uint16_t space_number;      /* [O] for page logs; 0: none */
    const struct sched_policy *policy; /* [-] in force when it was created */
    void *kstack;                      /* [-] lowest usable byte */
    void (*entry)(void *);             /* [-] */
    void (*gone)(struct thread *);     /* [-] or NULL */
    void (*freed)(void *);             /* [-] or NULL */
    void *freed_arg;                   /* [-] */
    void *arg;                         /* [-] */
    struct sharing_member sharing;     /* owned by the sharing detector */
    struct hpm_thread hpm;             /* owned by hpm */
    int group;                         /* [A] sharing group the application stated, or GROUP_NONE */
    uint64_t run_ns;                   /* [R] time on a CPU, up to its last switch or tick */
    uint64_t ready_ns;                 /* [R] time it could have run and did not */
    /* [R] running: accounted until; ready: wants to run since; blocked: stopped at */
    uint64_t since_ns;
    uint64_t stopped_ns;    /* [R] when it last ran: how warm its cache is */
    uint64_t slice_end_ns;  /* [R] running: when its slice ends */
    uint64_t slice_left_ns; /* [R] not running: what is left of it */
    uint64_t slice_ns;      /* [R] its whole length */
    uint64_t migrations;    /* [R] moves to another CPU */
    struct list timer;      /* [M] */
    unsigned timer_cpu;     /* [O] */
    uint64_t wake_ns;       /* [M] */
    struct list wait;       /* [W] wait queue link */
    struct gate *gate;      /* [O] the one it entered last and holds; NULL: none */
    struct list siblings;   /* proc: threads of one process */
    void *exit_token;       /* proc */
    uint32_t refs;          /* [A] */
};

#define CPU_ANY  (~0u)
#define CHIP_ANY (~0u)

/* ---- Set-up (main) ---- */
/* run queue and idle thread of one CPU; before it is started */
void sched_init_cpu(struct cpu *cpu);
NORETURN void sched_start(void);        /* becomes this CPU's idle loop; interrupts off */
void sched_timer(void);                 /* timer interrupt: sleepers, end of slice, balancing */
extern const struct arg sharing_args[]; /* boot arguments sharing.* */
extern const struct arg sched_args[];   /* boot arguments sched.* */

/* ---- Threads --------------------------------------------------------------------------------- */
struct thread_params {
    const char *name;
    void (*entry)(void *); /* runs in the kernel, interrupts on */
    void *arg;
    struct process *process;
    uint32_t pid; /* under which hpm accounts; 0: the kernel */
    struct arch_space *space;
    uint16_t space_number; /* under which page accesses are logged; 0: they are not */
    /* In a kernel thread, when it never runs again and its memory is about to go; NULL: nothing. */
    void (*gone)(struct thread *);
    /* The same, with freed_arg, when the memory has gone; NULL: nothing. */
    void (*freed)(void *);
    void *freed_arg;
    const struct cpuset *affinity; /* NULL: any CPU */
    uint8_t prio;
    int group;
};
/* A new thread, runnable only after thread_start. 0 or -ENOMEM. Thread context. */
int thread_create(const struct thread_params *params, struct thread **out);
void thread_start(struct thread *t);
NORETURN void thread_exit(void); /* of the caller; its stack is freed once it is off the CPU */
void thread_leave_space(
    void); /* the caller needs no address space any more; the space may be destroyed after this */
void thread_put(struct thread *t); /* drops the creator's reference */
struct thread *thread_current(void);

/* ---- Blocking -------------------------------------------------------------------------------- */
/* A queue of sleeping threads. guard is the caller's lock that also guards the condition slept on
 * (rank below LOCK_TIMER). */
struct wait_queue {
    struct list waiters;
};
void wait_init(struct wait_queue *q);
/* Releases guard (held, with its irq state), sleeps until woken, killed or deadline_ns; takes guard
 * again. 0 woken, -ETIMEDOUT, -EINTR when the process is being ended. UINT64_MAX: no deadline. */
int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns);
/* The same without a deadline, whatever becomes of the process: for what must not be left half
 * done. */
void wait_sleep_through(struct wait_queue *q, struct spinlock *guard, bool *irq);
/* guard held; returns how many were woken */
unsigned wait_wake(struct wait_queue *q, unsigned max);
void sched_sleep_until(uint64_t deadline_ns); /* -EINTR ends it early */
void sched_yield(void);
void sched_point(void); /* gives way if asked to; interrupts on or off, no spinlock held */
/* wakes it from wait_sleep with -EINTR: its process ends */
void sched_interrupt_thread(struct thread *t);

/* ---- Gates ----------------------------------------------------------------------------------- */
/*
 * A gate is entered by one thread at a time; others wait for it asleep, first come, first served,
 * whatever becomes of their processes. While threads wait, the owner runs at the kernel's
 * priority. With a gate held no user memory is touched, and nothing is called that can fault, wait
 * for I/O or for a process; results go to kernel memory first. Debug builds panic otherwise:
 * may_wait(), and any sleep that is not for a gate further in.
 */
/* Outermost first: a thread that holds one enters only those behind it. */
enum gate_rank {
    GATE_SESSIONS, /* proc: sessions of counting and of samples */
    GATE_WATCHING, /* mm: which spaces are watched */
    GATE_DELIVERY, /* mm: delivery of page accesses */
};

struct gate {
    struct spinlock guard; /* rank LOCK_GATE */
    const char *name;
    enum gate_rank rank;
    struct thread *owner;      /* guard; NULL: it is free */
    bool lent;                 /* guard: the owner has been lent the kernel's priority */
    struct wait_queue waiters; /* guard */
    struct gate *outer;        /* the owner's: which it had entered before */
};
#define GATE(self, rank_, name_)                                                            \
    {                                                                                       \
        .guard = SPINLOCK(LOCK_GATE, name_), .name = (name_), .rank = (rank_), .waiters = { \
            {&(self).waiters.waiters, &(self).waiters.waiters}                              \
        }                                                                                   \
    }
/* Enters and leaves, the last one entered first. Thread context, no spinlock held; entering may
 * sleep. */
void gate_enter(struct gate *g);
void gate_leave(struct gate *g);
/* Enters if the gate is free. Thread context, no spinlock held; does not sleep. */
bool gate_try_enter(struct gate *g);
/* The kernel's priority for a thread, until it is returned; calls nest. Any context whose locks
 * rank below LOCK_RUNQUEUE. */
void sched_lend_priority(struct thread *t);
void sched_return_priority(struct thread *t);

/* ---- Placement ------------------------------------------------------------------------------- */
/* Moves a thread to another CPU: now if it is queued, as soon as its CPU can be interrupted if it
 * runs, at its wake-up if it is blocked. -EINVAL: not in its affinity. */
int sched_migrate(struct thread *t, unsigned cpu);
int sched_set_affinity(struct thread *t, const struct cpuset *set); /* -EINVAL: no such CPU in it */
void sched_set_priority(struct thread *t, uint8_t prio);
/* Chip the thread is to stay on, or CHIP_ANY; moves nothing by itself. */
void sched_set_home(struct thread *t, unsigned chip);

/* How long the thread has run or waited for a CPU since it was created, until now. */
uint64_t sched_wanted_ns(struct thread *t);
/* Returns the ns the thread has been on a CPU since it was created, until now. Takes its run
 * queue's lock. Any context. */
uint64_t sched_run_ns(struct thread *t);

/* The machine's shape, from cpus[].place. Fixed before any other CPU has threads. */
struct sched_topology {
    unsigned cpus, chips, cores, nodes;        /* cores: over the whole machine; nodes: of memory */
    unsigned cores_per_chip, threads_per_core; /* the largest of each */
    struct {
        uint16_t chip, core, node; /* dense; core over the whole machine */
    } of[CPU_MAX];
    /* by number; of a node, maybe none */
    struct cpuset chip_cpus[CPU_MAX], core_cpus[CPU_MAX], node_cpus[CPU_MAX];
};
const struct sched_topology *sched_topology(void);
void sched_topology_init(unsigned n); /* of cpus[0..n-1] */

/* ---- The sharing detector -------------------------------------------------------------------- */
void sharing_start(void);                      /* main, once: its thread */
void sharing_thread_added(struct thread *t);   /* after thread_create of a user thread */
void sharing_thread_removed(struct thread *t); /* in its exit */
void sharing_group_stated(struct thread *t, int group);

/* NULL-terminated: default roundrobin hand cluster. */
extern const struct sched_policy *const sched_policies[];
const char *sched_policy_name(const struct sched_policy *p);
const char *sched_policy_help(const struct sched_policy *p);
