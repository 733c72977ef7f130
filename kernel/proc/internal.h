/*
 * The inside of a process, for the files of kernel/proc only.
 *
 * Locking: [P] = the process's lock, [-] = fixed after creation, [A] = atomic, [X] = see `space`.
 */
#pragma once
#include "kernel/proc/process.h"
#include "kernel/proc/abi.h"
#include "kernel/file/file.h"
#include "kernel/core/entropy.h"
#include "kernel/lib/list.h"
#include "kernel/core/number.h"
#include "kernel/lib/symbols.h"
#include "kernel/proc/code_images.h"
#include "kernel/mem/account.h"
#include "kernel/proc/signal.h"
#include "kernel/proc/timers.h"
#include "kernel/proc/proctree.h"
#include "mm/mm.h"
#include "sched/sched.h"
#include <linux/capability.h>
#include <linux/resource.h>

/* A process's capabilities(7), a bit each: those that it has taken out of its effective and its
 * permitted set, and those that it has put into its inheritable set. */
struct capabilities {
    uint64_t not_effective, not_permitted, inheritable;
};
#define CAPABILITIES_ALL ((2ull << CAP_LAST_CAP) - 1)

struct process {
    /* [-] id's value; no other process has it while this structure exists */
    uint32_t pid;
    struct number id; /* process.c */
    /* [-] the process that has started it, referenced; NULL: the kernel. Its counts are a part of
     * this one's, and this one may see it, also when it has got another parent (proctree.h). */
    struct process *parent;
    struct proctree tree; /* proctree.h */
    /* [X] Of its program, changed by execve(2): by the only thread of the process. Other processes
     * read it between process_look() and process_look_end(), for which the old one stays. Until the
     * last thread frees it. */
    struct space *space;
    struct vnode *program;       /* [X] its file, referenced, or NULL */
    char *command;               /* [X] its arguments, each with a NUL, or NULL */
    size_t command_bytes;        /* [X] */
    char name[PROCESS_NAME_MAX]; /* [P] written; read anywhere, for messages */
    struct symbols symbols;      /* [P] of its program */
    struct code_images code;     /* of its program and libraries */
    struct files *files;         /* [-] until the last thread frees it */
    /* [P of lender] whose space it uses until it ends or makes an execve(2), referenced; NULL: it
     * has its own */
    struct process *lender;
    unsigned borrowers;            /* [P] children that use its space */
    struct wait_queue returned;    /* [P] waits for borrowers to become fewer */
    struct thread *only;           /* [P] written, [A] read: the others end; NULL: none */
    struct wait_queue alone;       /* [P] waits for thread_count == 1 */
    uint64_t started_ns;           /* [-] of arch_clock_ns() */
    bool first;                    /* [-] the first of its family */
    struct family *family;         /* [-] the family it is a member of, until its memory is free */
    struct memory_account *kernel; /* [-] referenced; kernel memory charged to it */
    struct entropy_stream entropy; /* its random bytes */
    bool told_limit;               /* [A] a refused charge has been printed */
    bool told_call;                /* [A] an unknown system call has been printed */
    /* [A] threads that look at its space, which process_reap() waits for */
    uint32_t lookers;
    struct spinlock lock;
    struct list threads; /* [P] thread->siblings */
    /* [P] thread->siblings: threads on their way out, used for their counts only */
    struct list leaving;
    unsigned thread_count;          /* [P] including threads being created */
    bool ending;                    /* [P] written, [A] read */
    bool ended;                     /* [P] its memory is free */
    int status;                     /* [P] */
    bool exited;                    /* [P] the program gave the status */
    struct wait_queue waiters;      /* [P] wait for `ended` */
    struct wait_queue unlooked;     /* [P] waits for lookers == 0 */
    struct process_signals signals; /* [P] */
    struct process_timers timers;   /* [P] */
    struct hpm_sums past;           /* [P] of threads that are gone */
    struct list started;            /* [P] children that have a structure */
    struct list in_started;         /* [P of its parent] */
    struct list unsummed;           /* sessions_gate: list of process_sum_family() */
    /* [P] Of children that have no structure any more, and of their descendants. NULL: no child was
     * started. */
    struct hpm_sums *descendants;
    struct rlimit64 limits[RLIM_NLIMITS]; /* [P] */
    /* [A] of prctl(2) and personality(2): the signal that it gets at its parent's end, or 0 */
    uint8_t death_signal;
    bool no_new_privs;
    bool no_dump; /* told back only, as no core is ever dumped; until an execve */
    uint32_t personality;
    uint32_t groups;       /* [A] beside its own, all of which are its own: setgroups(2) */
    int16_t oom_score_adj; /* as it was written to /proc; no end of a process depends on it */
    struct capabilities capabilities; /* written by the process itself */
    struct cpu_time past_time;        /* [P] of threads that are gone */
    struct list all;                  /* process.c: table */
    /* [P] Bit i: a thread has page i of SHOWN_COUNTS, which shows its counts. */
    uint64_t shown[PROCESS_THREADS_MAX / 64];
    struct number next_child;  /* process.c: its reserved pid */
    struct space_stats memory; /* [P] at its end */
    struct sys_curve curve;    /* [P] at its end; points 0: none */
    /* [A] Of the table, of process_start()'s caller, of its threads, and others. */
    uint32_t refs;
};

static inline bool process_ending(const struct process *p)
{
    return __atomic_load_n(&p->ending, __ATOMIC_ACQUIRE);
}

/* ---- process.c: pids, the table, references; process_counts.c: sums over threads ------------- */

/* Reserves the pid of the next process that `parent` starts, if not yet done, and returns it. */
uint32_t process_reserve_pid(struct process *parent);
/* Returns the pid that is reserved for the next child of `parent`, or 0. */
uint32_t process_reserved_pid(const struct process *parent);
/* Makes a process without memory, descriptors and threads, that other threads cannot find yet: a
 * child of `parent`, with its reserved pid, or, if that is NULL, the first of `family`. Returns 0;
 * -EAGAIN: there are PROCESSES_MAX; -ENOMEM; -EDQUOT. */
#define PROCESSES_MAX 4096 /* of which not all is freed, with those that have not been waited for */
int process_make(const char *name, struct family *family, struct process *parent,
                 struct process **out);
/* Frees a process that process_make() has made, with descriptors and program. */
void process_unmake(struct process *p);
/* Makes a process that has all but threads known. `exit_signal`: its parent gets it at its end. */
void process_enter(struct process *p, uint8_t exit_signal);
/* Ends a process in which no program has run; its starter's error is all that tells of it. */
void process_abandon(struct process *p);
/* Puts another space in the place of p's, which is returned; others may look at that until
 * process_wait_lookers(). */
struct space *process_change_space(struct process *p, struct space *new);
/* Sleeps until all threads that have found p by process_look() before now are done. */
void process_wait_lookers(struct process *p);
/* Ends p as the program asks: with the status `code`. */
void process_exit(struct process *p, uint8_t code);
/* Starts an application as process_start() does, as a member of `family`. If `parent` is not NULL
 * the process is its child, with its memory arguments and its reserved pid. */
int process_start_as(const char *const *argv, struct family *family, struct process *parent,
                     struct process **out);
/* Charges kernel memory to p. Returns 0, or -EDQUOT if p has all that mem.kernel allows, with a
 * line on the console the first time. Thread context, no lock held. */
int process_charge(struct process *p, uint64_t bytes);
/* Takes back a charge. Any context. */
void process_uncharge(struct process *p, uint64_t bytes);
/* Returns the number of processes. Any context with locks of lower ranks than LOCK_PROC. */
unsigned process_count(void);
/* Returns the number of processes since boot, with those that are gone. Any context. */
uint64_t process_made(void);
/* Takes a reference. */
void process_get(struct process *p);
/* Returns the process with this pid, referenced, or NULL. */
struct process *process_find(uint32_t pid);
/* Returns the process with this pid, referenced, or NULL. Its space and descriptors stay until
 * process_look_end(), which must come soon; the caller may not sleep meanwhile. */
struct process *process_look(uint32_t pid);
/* As process_look(), for the process with most memory, resident, swapped out and of the kernel. */
struct process *process_look_largest(void);
void process_look_end(struct process *p);
/* As process_look(), but NULL if `reader` may not see the process. */
struct process *process_look_for(const struct process *reader, uint32_t pid);
/* Returns `reader` if `pid` is 0, else a process, which may have ended, that `reader` may see.
 * Referenced, or NULL. */
struct process *process_to_read(struct process *reader, uint32_t pid);
/* Sums the logical counts of p's threads, present and past; past ones have had all counts. `alone`:
 * no other reading is subtracted from this one. */
void process_sum(struct process *p, uint64_t counts, bool alone, struct hpm_sums *sums);
/* Adds the counts of p's present threads. Lock of p held. */
void process_sum_threads(const struct process *p, uint64_t counts, bool alone,
                         struct hpm_sums *sums);
/* Adds the counts of one present thread. Returns 0 or -ESRCH. */
int process_sum_thread(struct process *p, uint32_t tid, uint64_t counts, struct hpm_sums *sums);
/* Returns the ns that p's threads, present and past, have been on a CPU. Takes p's lock. */
struct cpu_time process_time(struct process *p);
struct cpu_time process_time_locked(const struct process *p);
/* Reads where the cycles of a present thread went. Returns 0 or -ESRCH. */
int process_hpm_thread(struct process *p, uint32_t tid, struct hpm_breakdown *out);
/* Returns whether a file of the bundle is a program. Files in folders are not. */
bool process_is_program(const char *file);
/* Prints that there is no such application, which name is nearest, and which applications there
 * are. */
void process_say_unknown(const char *name);
/* How often freeing a process's memory has begun and finished. If the two differ, or `finished` has
 * changed since a page could not be had, memory may be free without ending a process. */
struct process_reaps {
    uint32_t begun, finished;
};
struct process_reaps process_reaps(void);
/* Sleeps until a process's memory has been freed since `since` was read, or the caller's process is
 * ending; for a second at most, as memory may also become free otherwise. No lock or gate held. */
void process_wait_reap(struct process_reaps since);
/* Frees the memory of a process that has no thread left, and tells its waiters. */
void process_reap(struct process *p);

/* ---- family_sum.c: counts of a process and all its descendants ------------------------------- */

/* Sums the counts of p and its descendants, including those that have ended. sessions_gate held. */
void process_sum_family(struct process *p, uint64_t counts, bool alone, struct hpm_sums *sums);
/* Reads where their cycles went. Thread context, no lock held. Returns 0 or -ENOMEM. */
int process_hpm_family(struct process *p, struct hpm_breakdown *out);
/* Allocates what `parent`, which may be NULL, needs before it starts its first child. Thread
 * context, no lock held. Returns 0 or -ENOMEM. */
int family_sum_prepare(struct process *parent);
/* Lists p among its parent's children. */
void family_sum_join(struct process *p);
/* Moves the counts of p, which has no reference left, to its parent. */
void family_sum_leave(struct process *p);

/* ---- visible.c: boot argument proc.visible --------------------------------------------------- */

/* Returns whether `reader` may read counts, samples, symbols, threads and memory of p, which is
 * referenced. */
bool visible_process(const struct process *reader, const struct process *p);
/* Returns the process of the next higher pid that `reader` may see, referenced, or NULL. */
struct process *visible_next(const struct process *reader, uint32_t pid);
/* Returns the process of a thread that `reader` may see, referenced, or NULL. */
struct process *visible_with_thread(struct process *reader, uint32_t tid);
/* Returns whether any process may read those of the machine, that is of all processes. */
bool visible_machine(void);

/* ---- children.c: Vigil's own calls on children ----------------------------------------------- */

/* Starts an application as process_start() does. Returns its pid, or an error. */
int children_spawn(struct process *parent, const char *const *argv);
/* Returns the pid of the next process that `parent` starts. */
uint32_t children_next_pid(struct process *parent);
/* Returns whether children_next_pid() has given out `pid`, and no process has it yet. */
bool children_will_be(struct process *parent, uint32_t pid);
/* Sleeps until the child has ended and its memory is free. Returns its exit status, or
 * -ERESTARTSYS: a signal, or `parent` is ending. */
int children_wait(struct process *parent, struct process *child);

/* ---- fork.c ---------------------------------------------------------------------------------- */

/* What a child is made with. */
struct fork_request {
    struct uthread_start *start; /* of its thread; process_fork() frees it */
    vaddr_t parent_tid;          /* a user's word that gets the pid; 0: none */
    vaddr_t pidfd;               /* a user's word that gets a descriptor of it; 0: none */
    uint8_t exit_signal;
    bool borrows;         /* it uses the caller's memory, and the caller waits until it does not */
    bool resets_handlers; /* of signals */
};
/* Makes a child that is a copy of the caller's process. Returns its pid; -EAGAIN: too many
 * processes or threads; -ENOMEM. Thread context, no lock held. */
int process_fork(const struct fork_request *what);
/* Gives up p's space: frees it, or gives it back to its lender. p has no thread that uses it. */
void space_give_up(struct process *p, struct space *s);

/* ---- execve.c -------------------------------------------------------------------------------- */

struct exec_request;
/* Makes the caller's process run another program; `frame`: the caller's registers, which become the
 * program's first. Returns 0, or an error; then nothing has changed. */
int process_exec(const struct exec_request *what, struct arch_frame *frame);

/* ---- symbolize.c ----------------------------------------------------------------------------- */

/* Returns whether the bytes at `data` are the bundle's. */
bool bundle_has(const void *data);
/* Opens the table of symbols of a program of the bundle, if there is one. */
void symbols_load(struct symbols *out, const char *program);
/* Describes what lies at `va`. p is the caller's process, or one that it looks at. */
void symbolize(struct process *p, vaddr_t va, struct sys_symbol *out);
/* The same of the kernel's code. Returns whether it is there. */
bool symbolize_kernel(vaddr_t va, struct sys_symbol *out);
/* Describes the code at `va`. p may have lost its memory. */
void symbolize_code(struct process *p, vaddr_t va, struct sys_symbol *out);

/* ---- uthread.c ------------------------------------------------------------------------------- */

/* What a thread begins with; from kmalloc(). */
struct uthread_start {
    struct arch_user user;
    uint32_t tid; /* struct thread_params */
    /* User addresses of 32-bit words that get the tid before the thread runs; 0: none. */
    vaddr_t store_tid[2];
    vaddr_t set_tid;   /* the same, in the thread's own memory; failure does no harm */
    vaddr_t clear_tid; /* struct thread */
    uint64_t blocked;  /* signals */
    bool inherits;     /* name and alternate stack are those of `like` */
    bool cancelled;    /* uthread.c */
};
/* Creates a thread of p that starts in user mode, with affinity and priority of `like` if that is
 * not NULL. Frees `start`. Returns its tid; -EAGAIN: too many threads, or p is ending; -ENOMEM;
 * -EDQUOT; -EFAULT: store_tid. */
int uthread_create(struct process *p, struct uthread_start *start, const struct thread *like);
/* Creates the first thread of p. Returns 0 or an error as above. */
int uthread_first(struct process *p, vaddr_t pc, vaddr_t sp);
/* Returns whether the calling thread leaves on its next way to user mode. */
bool uthread_ends(void);
/* Ends the calling thread, and its process if it is the last. */
NORETURN void uthread_exit(void);
/* Returns the present thread of p with this tid, or NULL. Lock of p held. */
struct thread *uthread_find_locked(struct process *p, uint32_t tid);

/* ---- stdio.c --------------------------------------------------------------------------------- */

/* Gives p its first descriptors, 0 to 2: the console, or what its parent writes to instead. It is
 * in its parent's working directory, or, if that is NULL, in the root. Returns 0, -ENOMEM or
 * -EDQUOT. */
int stdio_open(struct process *p, struct process *parent);
/* Writes text of p that still waits for the end of its line. p is the caller, or looked at. */
void stdio_flush(struct process *p);
