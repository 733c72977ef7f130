/*
 * Threads and the scheduler, as the other folders see them.
 *
 * Mechanism: run queues per CPU, priorities, sleeping, waking, affinity, load balancing along the
 * topology. The sharing detector (sharing/detector.c) sits on top and decides by the pure policies
 * in sharing/policy.
 *
 * Locking of members:
 *   [R]  lock of the run queue of thread->cpu; thread->cpu itself changes only with the locks of
 *        both the old and the new run queue held
 *   [W]  guard of the wait queue slept on
 *   [M]  timer lock of thread->timer_cpu
 *   [A]  atomic
 *   [-]  fixed after creation
 *   [O]  written by the running thread itself, or by the scheduler when it switches it
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
#include "sched/policy/cpu_time.h"
#include "sched/policy/load.h"
#include "sched/policy/quantum.h"
#include "sched/policy/ready.h"

struct process; /* kernel/proc: opaque here */
struct thread_signals;

#define CPUSET_WORDS (CPU_MAX / 64)
struct cpuset {
    uint64_t bits[CPUSET_WORDS];
};

enum thread_state { THREAD_NEW, THREAD_READY, THREAD_RUNNING, THREAD_BLOCKED, THREAD_DEAD };

#define THREAD_NAME_MAX 24
#define KSTACK_SIZE     (16 * KIB) /* with an unmapped guard page below */
#define GROUP_NONE      (-1)

struct sched_policy; /* sched/policies.c */

/* Where the sharing detector has a thread. */
struct sharing_spot {
    unsigned cpu;
    unsigned chip; /* assigned, or CHIP_ANY */
    int cluster;   /* last one found or group stated, or -1 */
};

/* The sharing detector's part of struct thread. [S] = sharing_lock, [D] = the detector's thread
 * alone. */
struct sharing_member {
    struct list link;           /* [S] members of one process, in order of creation */
    struct sharing_process *of; /* [S] NULL: not watched */
    int cluster;                /* [S] last cluster found or group stated, or -1 */
    unsigned chip;              /* [S] chip assigned, or CHIP_ANY */
    struct sharing_spot before; /* [S] before the placement that is on trial */
    struct hpm_remote seen;     /* [D] readings when it was last looked at */
    uint64_t wanted_ns;         /* [D] sched_wanted_ns when loads were last measured */
    uint32_t load;              /* [D] thousandths of a CPU it wanted in the time before that */
};

/* What Linux's calls have asked for a thread; kernel/proc/asked.h says what it gets. */
struct thread_asked {
    uint8_t policy;   /* SCHED_NORMAL, ... */
    uint8_t realtime; /* priority of SCHED_FIFO and SCHED_RR, else 0 */
    int8_t nice;
    bool resets; /* threads that it creates begin with SCHED_NORMAL */
    uint16_t io; /* as ioprio_get(2) tells; devices serve requests as they come */
};

struct thread {
    struct arch_context context; /* [O] */
    struct ready_thread ready;   /* [R] its priority and position in the run queue */
    /* [R] BLOCKED and DEAD only once it is switched out, or under [R] on the way there */
    enum thread_state state;
    uint8_t own_prio; /* [R] its own priority; ready.prio is higher while one is lent */
    uint8_t lent;     /* [R] number of gates for which it is lent the kernel's priority */
    bool ending;      /* [R] its process ends: sleeps return -EINTR from now on */
    /* [R] written, [A] read: proc has something for it to do before it is in user mode again, as
     * taking a signal. Only the thread itself takes that back. */
    bool signalled;
    unsigned cpu; /* [R] CPU it runs on, is queued at, or, blocked, ran on last */
    /* [R] CPU it must go to when it next stops running or wakes, or CPU_ANY */
    unsigned migrate_to;
    struct cpuset affinity;            /* [R] never empty */
    unsigned chip_home;                /* [R] chip the sharing placer chose, or CHIP_ANY */
    uint32_t tid;                      /* [-] unique while this structure exists */
    struct number id;                  /* of thread.c: tid, unless the creator has given it */
    char name[THREAD_NAME_MAX];        /* [-] */
    struct process *process;           /* [-] NULL: a kernel thread */
    struct arch_space *space;          /* [O] NULL: kernel only */
    uint16_t space_number;             /* [O] for page logs; 0: none */
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
    struct cpu_mode mode;              /* [R] user or kernel, as its slices' ends have seen it */
    uint64_t ready_ns;                 /* [R] time it was READY */
    /* [R] running: accounted up to; ready: wants to run since; blocked: stopped at */
    uint64_t since_ns;
    uint64_t stopped_ns;    /* [R] when it last ran: tells how warm its cache is */
    uint64_t slice_end_ns;  /* [R] running: when its slice ends */
    uint64_t slice_left_ns; /* [R] not running: rest of its slice */
    uint64_t slice_ns;      /* [R] full length of its slice */
    uint64_t migrations;    /* [R] number of moves to another CPU */
    uint64_t switches;      /* [R] how often it gave way to another thread */
    uint64_t faults;        /* [O] its page faults */
    uint64_t major_faults;  /* [O] those of them that waited for a disk */
    uint64_t slow_faults;   /* [O] mm: pages that it waited for a disk for */
    struct list timer;      /* [M] */
    unsigned timer_cpu;     /* [O] */
    uint64_t wake_ns;       /* [M] */
    struct list wait;       /* [W] wait queue link */
    struct gate *gate;      /* [O] the gate it entered last and holds, or NULL */
    struct list siblings;   /* proc: threads of one process */
    /* proc [O]: user address of a word that is cleared, and woken as a futex, when the thread ends;
     * 0: none */
    vaddr_t clear_tid;
    vaddr_t robust_list;       /* proc [O]: user address of its list of robust futexes; 0: none */
    struct thread_asked asked; /* proc: lock of its process */
    struct thread_signals *signals; /* proc [-]: kernel/proc/signal.h; NULL: a kernel thread */
    struct perf_node *perf;         /* proc: kernel/proc/perf.h; NULL: no perf event counts it */
    struct quantum quantum;         /* [R] of the tracer, quanta.c */
    struct list traced;             /* lock of quanta.c */
    uint32_t refs;                  /* [A] */
};

#define CPU_ANY  (~0u)
#define CHIP_ANY (~0u)

/* ---- Set-up (main) --------------------------------------------------------------------------- */
/* Sets up the run queue and the idle thread of a CPU, before the CPU is started. */
void sched_init_cpu(struct cpu *cpu);
NORETURN void sched_start(void); /* becomes this CPU's idle loop; interrupts off */
/* Handles the timer interrupt: wakes sleepers, ends slices, balances. in_kernel: the interrupt came
 * while the CPU was in the kernel. */
void sched_timer(bool in_kernel);
extern const struct arg sharing_args[]; /* boot arguments of the sharing detector */
extern const struct arg sched_args[];   /* boot arguments of the scheduler */

/* Begin and end the recording of quanta, if telemetry_wants(TELEMETRY_QUANTA). The first says what
 * is recorded; once, before the first thread runs. The second tells the quanta that run and those
 * not told so far, and prints how many there were; once, thread context, all CPUs run. */
void sched_quanta_begin(void);
void sched_quanta_end(void);
/* Ends the quantum of the calling thread, if quanta are recorded, and begins another, so that what
 * was counted can be told apart by a mark that is recorded next. No lock is held. */
void sched_quanta_cut(void);

/* ---- Threads --------------------------------------------------------------------------------- */
struct thread_params {
    const char *name;
    void (*entry)(void *); /* runs in the kernel, interrupts on */
    void *arg;
    struct process *process;
    uint32_t pid; /* process hpm counts it for; 0: the kernel */
    /* A number of thread_numbers that is the creator's, and stays so until the thread is gone; 0:
     * the thread takes one. */
    uint32_t tid;
    struct arch_space *space;
    uint16_t space_number; /* number that page accesses are logged with; 0: they are not */
    /* Called in a kernel thread when this thread never runs again, just before its memory is freed;
     * or NULL. */
    void (*gone)(struct thread *);
    /* Called with freed_arg after its memory was freed; or NULL. */
    void (*freed)(void *);
    void *freed_arg;
    const struct cpuset *affinity; /* NULL: any CPU */
    uint8_t prio;
    int group;
};
/* The numbers of threads of processes. */
extern struct numbers thread_numbers;
/* Creates a thread that becomes runnable by thread_start. Thread context. Returns 0 or -ENOMEM. */
int thread_create(const struct thread_params *params, struct thread **out);
void thread_start(struct thread *t);
/* Creates and starts a thread of the kernel's own. cpus: where it may run, NULL: anywhere. Thread
 * context. Returns 0 or -ENOMEM. */
int thread_create_kernel(const char *name, void (*entry)(void *), void *arg,
                         const struct cpuset *cpus);
NORETURN void thread_exit(void); /* ends the caller; its stack is freed once it is off the CPU */
/* Detaches the caller from its address space, which may be destroyed after this. */
void thread_leave_space(void);
/* Makes the caller run in another address space, which page logs know by `number`; 0: they do
 * not. */
void thread_enter_space(struct arch_space *space, uint16_t number);
void thread_put(struct thread *t); /* drops the creator's reference */
struct thread *thread_current(void);

/* ---- Blocking -------------------------------------------------------------------------------- */
/* A queue of sleeping threads. `guard`, the caller's lock, also guards the condition slept on; it
 * ranks below LOCK_TIMER. */
struct wait_queue {
    struct list waiters;
};
void wait_init(struct wait_queue *q);
/* Releases guard, sleeps until woken, until deadline_ns (UINT64_MAX: none) or until the thread's
 * process is being ended, and takes guard again. guard is held, with its interrupt state in irq.
 * Returns 0 if woken, -ETIMEDOUT or -EINTR. */
int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns);
/* The same, but a signal ends it, too: for calls that may be made again. Returns -ERESTARTSYS in
 * place of -EINTR. */
int wait_sleep_interruptible(struct wait_queue *q, struct spinlock *guard, bool *irq,
                             uint64_t deadline_ns);
/* The same without a deadline, and not ended by the end of the process: for work that must not be
 * left half done. */
void wait_sleep_through(struct wait_queue *q, struct spinlock *guard, bool *irq);
/* Wakes up to `max` threads. Guard held. Returns the number woken. */
unsigned wait_wake(struct wait_queue *q, unsigned max);
void sched_sleep_until(uint64_t deadline_ns); /* the end of the process ends it early */
/* The same, but a signal ends it, too. Returns 0 or -ERESTARTSYS. */
int sched_sleep_interruptible(uint64_t deadline_ns);
uint64_t sched_slice_ns(void); /* returns the length of a slice on average */
void sched_yield(void);
void sched_point(void); /* gives way if asked to; interrupts on or off, no spinlock held */
/* Ends the thread's sleep with -EINTR, now and from now on: its process ends. */
void sched_interrupt_thread(struct thread *t);
/* Sets thread->signalled, ends an interruptible sleep of t, and makes it pass on its way to user
 * mode soon. Any context with locks ranking below LOCK_TIMER. */
void sched_signal_thread(struct thread *t);
/* Takes thread->signalled of the caller back. The caller's lock keeps others from setting it. */
void sched_signals_taken(void);
/* Returns whether the caller's interruptible sleeps end at once. */
bool sched_interrupted(void);
/* Returns whether the caller's process ends. */
bool sched_ending(void);

/* ---- Timers (timer.c) ------------------------------------------------------------------------ */
/* Calls `expire` once, soon after at_ns. The owner's lock, ranking below LOCK_TIMER, guards it: it
 * is held by ktimer_set()'s callers, and `expire` takes it. */
struct ktimer {
    struct list link;                /* [M] of cpu; in none: not set */
    unsigned cpu;                    /* owner's lock */
    unsigned expiring;               /* [A] calls of `expire` under way */
    uint64_t at_ns;                  /* [M] */
    void (*expire)(struct ktimer *); /* [-] in an interrupt, no lock held */
};
void ktimer_init(struct ktimer *k, void (*expire)(struct ktimer *));
/* Sets a timer anew, to a time of arch_clock_ns(); UINT64_MAX: stops it. A call of `expire` for the
 * old time may be under way and come after this: it looks at the clock. Any context. */
void ktimer_set(struct ktimer *k, uint64_t at_ns);
/* Stops a timer, and waits until no call of `expire` is under way. Thread context, no lock held;
 * nothing sets the timer any more. */
void ktimer_finish(struct ktimer *k);

/* ---- Mutexes (mutex.c) ----------------------------------------------------------------------- */
/*
 * A mutex is held by one thread at a time. Others wait for it asleep, first come, first served, and
 * the end of their process does not end that. While threads wait, the owner runs at the kernel's
 * priority. The holder may sleep and wait for I/O, but does not touch user memory where a fault on
 * it may need the same mutex. Never held on the way back to user mode.
 */
struct mutex {
    struct spinlock guard; /* rank LOCK_GATE */
    uint64_t word;         /* atomic: the owner's address, and a bit: it was waited for; 0: free */
    bool lent;             /* guard: the owner has been lent the kernel's priority */
    struct wait_queue waiters; /* guard */
};
#define MUTEX(self, name_)                                     \
    {                                                          \
        .guard = SPINLOCK(LOCK_GATE, name_), .waiters = {      \
            {&(self).waiters.waiters, &(self).waiters.waiters} \
        }                                                      \
    }
void mutex_init(struct mutex *m, const char *name);
/* Lock and unlock a mutex. Thread context, no spinlock or gate held. Locking may sleep. */
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);
/* Locks the mutex if it is free, and returns whether it did. Thread context, no spinlock held. Does
 * not sleep. */
bool mutex_try_lock(struct mutex *m);
/* Returns whether the caller's thread holds the mutex. */
bool mutex_held(const struct mutex *m);

/* ---- Gates ----------------------------------------------------------------------------------- */
/*
 * A gate is a mutex with which no user memory is touched, and nothing is called that can fault,
 * wait for I/O or wait for a process; results go to kernel memory first. Debug builds panic
 * otherwise, in may_wait() and in any sleep that is not for a gate further in.
 */
/* Outermost first: the holder of a gate enters only gates of later ranks. */
enum gate_rank {
    GATE_SESSIONS, /* proc: sessions of counting and of samples */
    GATE_WATCHING, /* mm: which spaces are watched */
    GATE_DELIVERY, /* mm: delivery of page accesses */
};

struct gate {
    struct mutex mutex;
    enum gate_rank rank;
    struct gate *outer; /* of the owner: the gate it had entered before */
};
#define GATE(self, rank_, name_)                              \
    {                                                         \
        .mutex = MUTEX((self).mutex, name_), .rank = (rank_), \
    }
/* Enter and leave a gate; the last one entered is left first. Thread context, no spinlock held.
 * Entering may sleep. */
void gate_enter(struct gate *g);
void gate_leave(struct gate *g);
/* Enters the gate if it is free, and returns whether it did. Thread context, no spinlock held. Does
 * not sleep. */
bool gate_try_enter(struct gate *g);
/* Lends a thread the kernel's priority until it is returned; calls nest. Any context with locks
 * ranking below LOCK_RUNQUEUE. */
void sched_lend_priority(struct thread *t);
void sched_return_priority(struct thread *t);

/* ---- Placement ------------------------------------------------------------------------------- */
/* Moves a thread to another CPU: at once if it is queued, as soon as its CPU can be interrupted if
 * it runs, at its wake-up if it is blocked. Returns 0, or -EINVAL if the CPU is not in its
 * affinity. */
int sched_migrate(struct thread *t, unsigned cpu);
int sched_set_affinity(struct thread *t, const struct cpuset *set); /* -EINVAL: no such CPU in it */
void sched_set_priority(struct thread *t, uint8_t prio);
/* Sets the chip the thread is to stay on, or CHIP_ANY. Does not move it. */
void sched_set_home(struct thread *t, unsigned chip);

/* Returns the ns the thread has run or waited for a CPU since it was created, until now. */
uint64_t sched_wanted_ns(struct thread *t);
/* Returns the time that the thread has been on CPUs since it was created, until now. Takes its run
 * queue's lock. Any context. */
struct cpu_time sched_time(struct thread *t);
/* Returns the time since boot in which the CPU was not idle. The same. */
struct cpu_time sched_cpu_time(unsigned cpu);
/* Begins to average the number of threads that want to run. When all CPUs run; thread context. */
void sched_load_start(void);
/* Returns the averages, the kernel's threads included. Any context. */
struct loads sched_loads(void);

/* The machine's shape, made from cpus[].place. Fixed before any other CPU has threads. */
struct sched_topology {
    unsigned cpus, chips, cores, nodes;        /* cores: over the whole machine; nodes: of memory */
    unsigned cores_per_chip, threads_per_core; /* the largest number of each */
    struct {
        uint16_t chip, core, node; /* dense; core is counted over the whole machine */
    } of[CPU_MAX];
    /* By number; a node may have no CPU. */
    struct cpuset chip_cpus[CPU_MAX], core_cpus[CPU_MAX], node_cpus[CPU_MAX];
};
const struct sched_topology *sched_topology(void);
void sched_topology_init(unsigned n); /* of cpus[0] to cpus[n - 1] */

/* ---- The sharing detector -------------------------------------------------------------------- */
void sharing_start(void);                      /* starts its thread; called once by main */
void sharing_thread_added(struct thread *t);   /* after thread_create of a user thread */
void sharing_thread_removed(struct thread *t); /* in the thread's exit */
void sharing_group_stated(struct thread *t, int group);
/* Tells the detector that two processes, by pid, have a connection: from now on their threads are
 * watched together. Any context, with locks below LOCK_SHARING only. */
void sharing_connected(uint32_t a, uint32_t b);

/* What the detector knows of a process, for programs that show it. */
enum { SHARING_SHOWN_ROWS = 128, SHARING_SHOWN_COLUMNS = 96, SHARING_SHOWN_NAME = 16 };
struct sharing_picture {
    uint64_t time_ns; /* when it was made; 0: there is no picture */
    uint64_t samples; /* since the detection began */
    uint32_t threads, clusters;
    uint32_t lines, global_lines; /* lines with samples; those that most threads use: left out */
    uint32_t rows, columns;       /* of the shMap below; threads beyond are left out */
    uint64_t line[SHARING_SHOWN_COLUMNS]; /* address of each column's line */
    uint32_t tid[SHARING_SHOWN_ROWS];
    int16_t cluster[SHARING_SHOWN_ROWS];                       /* from 0; -1: none */
    uint8_t why[SHARING_SHOWN_ROWS];                           /* enum cluster_why */
    uint8_t count[SHARING_SHOWN_ROWS * SHARING_SHOWN_COLUMNS]; /* [rows][columns] */
};
struct sharing_seen {
    bool detecting;
    uint32_t threads;
    uint32_t remote_permille; /* of its cycles, at the last look: waiting for other chips' caches */
    uint32_t line_bytes;
    uint64_t detections;                        /* that have ended */
    uint64_t migrations;                        /* of threads to another chip, by the detector */
    uint64_t taken_back;                        /* placements that made stalls grow */
    uint64_t samples, lost, cost_ns, passed_ns; /* of detections: CPU time spent, and all of it */
    struct sharing_picture picture;
};
/* Reads what the detector knows of process `pid`, and makes it draw pictures during a detection for
 * a while. Returns 0; -ESRCH: the process is not watched. Thread context. */
int sharing_read(uint32_t pid, struct sharing_seen *out);
const char *sharing_why_name(unsigned why); /* of a picture's `why` */
struct sharing_decision {
    uint64_t number; /* from 1 */
    uint64_t time_ns;
    uint32_t pid;
    char phase[SHARING_SHOWN_NAME], reason[SHARING_SHOWN_NAME], text[160];
};
/* Reads the oldest kept decision whose number is at least `from`. Returns false if there is none
 * yet. Any context. */
bool sharing_decision_read(uint64_t from, struct sharing_decision *out);

/* ---- Threads, for programs that show them ---------------------------------------------------- */
struct sched_figures {
    enum thread_state state;
    unsigned cpu, home;        /* home: chip that the placer chose, or CHIP_ANY */
    int cluster, group;        /* found, and stated by the program; -1: none */
    uint64_t run_ns, ready_ns; /* on a CPU, and waiting for one, until now */
    uint64_t migrations;
};
/* Takes the run queue's lock of t. Any context with locks ranking below it. */
void sched_figures(struct thread *t, struct sched_figures *out);

/* NULL-terminated: default, roundrobin, hand, cluster. */
extern const struct sched_policy *const sched_policies[];
const char *sched_policy_name(const struct sched_policy *p);
const char *sched_policy_help(const struct sched_policy *p);
