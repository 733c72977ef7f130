/*
 * The inside of a process, for the files of kernel/proc only.
 * Locking: [P] = its lock, [L] = its line lock, [-] = fixed after creation, [A] = atomic.
 */
#pragma once
#include "kernel/proc/process.h"
#include "kernel/proc/abi.h"
#include "kernel/lib/list.h"
#include "kernel/core/number.h"
#include "kernel/lib/symbols.h"
#include "kernel/mem/account.h"
#include "mm/mm.h"
#include "sched/sched.h"

#define PROCESS_LINE_MAX 256
#define CHILDREN_MAX     32

struct process {
    uint32_t pid;                 /* [-] no other's while this structure is there; the value of: */
    struct number id;             /* process.c */
    struct process *parent;       /* [-] that has started it, referenced; NULL: the kernel has */
    char name[PROCESS_NAME_MAX];  /* [-] */
    struct space *space;          /* [-] until the last thread frees it */
    struct symbols symbols;       /* [-] its program's */
    bool first;                   /* [-] of its family */
    struct family *family;        /* [-] that it is a member of, until its memory is free */
    struct memory_account kernel; /* [A] kernel memory that it has taken */
    bool told_limit;              /* [A] ... and been refused more, once */
    uint32_t lookers;             /* [A] who looks at its space, which waits for them */
    struct spinlock lock;
    struct list threads; /* [P] thread->siblings */
    /* [P] the same, of those on their way out: nobody's but for what they still count */
    struct list leaving;
    unsigned thread_count;      /* [P] those being made included */
    bool ending;                /* [P] written, [A] read */
    bool ended;                 /* [P] memory is free */
    int status;                 /* [P] */
    struct wait_queue waiters;  /* [P] for ended */
    struct wait_queue unlooked; /* [P] its end, for lookers */
    struct hpm_sums past;       /* [P] of threads that have gone for good */
    struct list started;        /* [P] processes that it has started and that are not freed */
    struct list in_started;     /* [P of its parent] */
    struct list unsummed;       /* sessions_gate: in process_sum_family */
    /* [P] of those it had started that are not in `started` any more; NULL: none */
    struct hpm_sums *descendants;
    uint64_t past_run_ns;                /* [P] the same: time on a CPU */
    struct list all;                     /* process.c: table */
    struct process *child[CHILDREN_MAX]; /* [P] referenced; those that have ended included */
    /* [P] bit i: a thread is shown its counts at SHOWN_BASE, page i */
    uint64_t shown[PROCESS_THREADS_MAX / 64];
    /* [P] bit i: child[i] is kept for one that is being started */
    uint32_t child_made;
    struct number next_child;  /* process.c: reserved pid */
    bool waited_for;           /* [P of its parent] */
    struct space_stats memory; /* [P] as it was when it ended */
    struct sys_curve curve;    /* [P] the same; points 0: there is none */
    /* [A] the table's, process_start's caller's, its threads' */
    uint32_t refs;
    struct spinlock line_lock;
    char line[PROCESS_LINE_MAX]; /* [L] output not yet written */
    unsigned line_length;        /* [L] */
    /* The line it was typed, as long as it is the reader (stdio.c): so much of it has come, and so
     * much it has taken. */
    char typed[PROCESS_LINE_MAX];
    size_t typed_length, typed_taken;
};

static inline bool process_ending(const struct process *p)
{
    return __atomic_load_n(&p->ending, __ATOMIC_ACQUIRE);
}

/* process.c: the pid of the next process that parent starts, reserved for it now unless it is. */
uint32_t process_reserve_pid(struct process *parent);
/* process.c: the one reserved, or 0. */
uint32_t process_reserved_pid(const struct process *parent);
/* process.c: as process_start, a member of the family; parent, or NULL: whose child it is, whose
 * memory arguments it has, and whose reserved pid. */
int process_start_as(const char *const *argv, unsigned argc, struct family *family,
                     struct process *parent, struct process **out);
/* process.c: kernel memory for it. 0; -EDQUOT: it has all that mem.kernel allows, which a line on
 * the console says the first time. Thread context, no lock held. */
int process_charge(struct process *p, uint64_t bytes);
/* ... which is free again. Any context. */
void process_uncharge(struct process *p, uint64_t bytes);
/* process.c: one reference more. */
void process_get(struct process *p);
/* process.c: the process with this id, referenced, or NULL. */
struct process *process_find(uint32_t pid);
/* process.c: the same, and its space stays until process_look_end; not for long, nothing slept on
 * meanwhile. */
struct process *process_look(uint32_t pid);
void process_look_end(struct process *p);
/* process.c: the same for reader, which may see it. */
struct process *process_look_for(const struct process *reader, uint32_t pid);
/* process.c: pid 0: reader itself; else one that runs or that reader has spawned, and may see.
 * Referenced, or NULL. */
struct process *process_to_read(struct process *reader, uint32_t pid);
/* process.c: logical counts of its threads, past (those with all counts) and present; of those
 * present (its lock held); of one of them (-ESRCH). alone: for a reading that no other one is
 * subtracted from. */
void process_sum(struct process *p, uint64_t counts, bool alone, struct hpm_sums *sums);
void process_sum_threads(const struct process *p, uint64_t counts, bool alone,
                         struct hpm_sums *sums);
int process_sum_thread(struct process *p, uint32_t tid, uint64_t counts, struct hpm_sums *sums);
/* family_sum.c: the same of p and all that it has started, and these, those that have ended
 * included. sessions_gate held. */
void process_sum_family(struct process *p, uint64_t counts, bool alone, struct hpm_sums *sums);
/* family_sum.c: where their cycles went; -ENOMEM. Thread context, no lock held. */
int process_hpm_family(struct process *p, struct hpm_breakdown *out);
/* family_sum.c: p has been started by its parent; nothing refers to it any more. */
void family_sum_join(struct process *p);
/* family_sum.c: parent, or NULL, is about to start a process. 0 or -ENOMEM. Thread context, no
 * lock held. */
int family_sum_prepare(struct process *parent);
void family_sum_leave(struct process *p);
/* process.c: returns the ns its threads have been on a CPU, those that have gone included. Takes
 * its lock. */
uint64_t process_run_ns(struct process *p);
/* process.c: where the cycles of one of its present threads went; -ESRCH. */
int process_hpm_thread(struct process *p, uint32_t tid, struct hpm_breakdown *out);
/* visible.c: by boot argument proc.visible, may reader read counts, samples, places, threads and
 * memory of p, which is referenced; may any process read those of all together, the machine's? */
bool visible_process(const struct process *reader, const struct process *p);
bool visible_machine(void);
/* children.c: starts an application as process_start does. Its pid, or an error; -EAGAIN: too many
 * that have not been waited for. Of those that have, some may be forgotten. */
int children_spawn(struct process *parent, const char *const *argv, unsigned argc);
/* children.c: the pid of the next it starts. */
uint32_t children_next_pid(struct process *parent);
/* children.c: it has been asked for so, and is nobody's yet. */
bool children_will_be(struct process *parent, uint32_t pid);
/* children.c: referenced, or NULL. */
struct process *children_find(struct process *parent, uint32_t pid);
/* children.c: sleeps until it has ended and its memory is free: its exit status; -EINTR: parent is
 * ending. */
int children_wait(struct process *parent, struct process *child);
/* children.c: its last thread has gone; so must they. */
void children_end(struct process *parent);
/* process.c: is it a file of the bundle that can be started? Those in folders go with others. */
bool process_is_program(const char *file);
/* process.c: says on the console that there is no such application, which is nearest, and which
 * there are. */
void process_say_unknown(const char *name);
/* process.c: the one with most memory, resident or swapped out, referenced, or NULL. */
struct process *process_largest(void);
/* process.c: how often a process's memory has begun and finished being freed. While they differ,
 * or have changed since a page could not be had, there is hope without ending anybody. */
struct process_reaps {
    uint32_t begun, finished;
};
struct process_reaps process_reaps(void);
/* process.c: sleeps until a process's memory has been freed since then, or this thread's process is
 * being ended; for a second at most, as memory may come back in other ways. No lock or gate
 * held. */
void process_wait_reap(struct process_reaps since);
/* process.c: its last thread has gone. */
void process_reap(struct process *p);

/* load.c: an address space with the program and its arguments. 0, or an error with a line on the
 * console. */
int load_program(struct process *p, const char *const *argv, unsigned argc, vaddr_t *entry,
                 vaddr_t *sp);

/* symbolize.c: what is known of its program's code. */
void symbols_load(struct process *p, const char *program);
/* symbolize.c: what is at an address of p, which looks at itself or is looked at; of one that may
 * have no memory any more: code only. */
void symbolize(struct process *p, vaddr_t va, struct sys_symbol *out);
void symbolize_code(const struct process *p, vaddr_t va, struct sys_symbol *out);

/* uthread.c: a thread of p that starts in user mode; inherits affinity and priority of like, if not
 * NULL. Puts its tid at tid_addr, if not 0, before it runs. 0; -EAGAIN too many or p is ending;
 * -ENOMEM; -EFAULT tid_addr. */
struct uthread_start {
    vaddr_t pc, sp, arg, tls;
};
int uthread_create(struct process *p, const struct uthread_start *start, const struct thread *like,
                   vaddr_t tid_addr, uint32_t *tid);
/* uthread.c: end of the calling thread; of its process too if it is the last. */
NORETURN void uthread_exit(void);
/* uthread.c: lock of p held. */
struct thread *uthread_find_locked(struct process *p, uint32_t tid);

/* stdio.c: text of the program; whole lines go to the console at once. */
void stdio_put(struct process *p, const char *text, size_t n);
/* stdio.c: what is still waiting for the end of its line. */
void stdio_flush(struct process *p);
/* stdio.c: one line typed, at most n bytes of it. Their number, 0 at the end of input, -EINTR. */
int stdio_get(struct process *p, char *text, size_t n);
