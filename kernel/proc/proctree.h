/*
 * The tree of processes: parents and children, groups and sessions, and what is left of a process
 * until its parent has waited for it.
 *
 * One lock, tree_lock, guards all of it; it ranks behind the locks of processes. A process whose
 * parent ends becomes a child of the first process of its family, or of a nearer one that takes
 * orphans (PR_SET_CHILD_SUBREAPER).
 */
#pragma once
#include "kernel/file/file.h"
#include "kernel/lib/list.h"
#include "kernel/proc/kin.h"
#include "sched/sched.h"

struct process;

#define KEPT_MAX 32 /* children that stay after Vigil's own wait, for their counts */

/* A process's part. [T] = tree_lock. */
struct proctree {
    struct process *parent;      /* [T] NULL: the kernel */
    struct list children;        /* [T] of `sibling` */
    struct list sibling;         /* [T] */
    struct list every;           /* [T] proctree.c: all processes */
    uint32_t group, session;     /* [T] */
    uint8_t exit_signal;         /* [T] the parent gets it at its end; 0: none */
    bool ended;                  /* [T] it waits to be waited for */
    bool kept;                   /* [T] Vigil's own wait has waited for it */
    bool takes_orphans;          /* [T] */
    bool runs_another;           /* [T] it has made an execve(2) */
    uint8_t stop;                /* [T] kin.h */
    bool goes_on;                /* [T] kin.h */
    struct kin_end end;          /* [T] */
    struct cpu_time time;        /* [T] at its end: itself ... */
    struct cpu_time descendants; /* [T] ... and all of its that were waited for */
    uint64_t resident_kb;        /* [T] at its end */
    struct poll_source ends;     /* tells when it has ended */
    struct wait_queue waiters;   /* [T] its threads that wait for children */
};

/* What a call learns of a child. */
struct proctree_report {
    uint32_t pid;
    enum kin_news news;
    struct kin_end end;
    uint8_t signal; /* that has stopped it */
    struct cpu_time time;
    uint64_t resident_kb;
};

/* Enters p as a child of `parent`, in its group and session; of NULL: p leads its own. Thread
 * context, no lock held, as all functions here. */
void proctree_join(struct process *p, struct process *parent, uint8_t exit_signal);
/* Takes p, in which no program has run, from its parent, which is not told of its end. */
void proctree_disown(struct process *p);
/* Gives p's children to another process. p has no thread left. */
void proctree_give_away(struct process *p);
/* Tells its parent that p, which has no child, has ended. */
void proctree_end(struct process *p, struct kin_end end, struct cpu_time time,
                  uint64_t resident_kb);
/* Waits until there is something to tell of a child. `stays`: it can be told again. Returns 0;
 * -ECHILD; -EAGAIN: nothing yet, and `now`; -ERESTARTSYS. */
int proctree_wait(const struct kin_wait *want, bool now, bool stays, struct proctree_report *out);
/* Notes that Vigil's own wait has waited for the child. It stays for its counts, as one of
 * KEPT_MAX. */
void proctree_keep(struct process *parent, struct process *child);
/* Returns the child with this pid, or the process of any kind; ended ones, too; referenced, or
 * NULL. */
struct process *proctree_child(struct process *parent, uint32_t pid);
struct process *proctree_find(uint32_t pid);
/* Returns the process of the group with the next higher pid, referenced, or NULL. */
struct process *proctree_next_of(uint32_t group, uint32_t pid);
/* Returns the process with the next higher pid, without those that Vigil's own wait has waited for,
 * but with other ended ones; referenced, or NULL. */
struct process *proctree_after(uint32_t pid);
/* Returns whether p has ended, also if it is no longer in the tree; whether it is in the tree. */
bool proctree_has_ended(const struct process *p);
bool proctree_is_in(const struct process *p);
/* Returns whether p has ended and waits to be waited for. */
bool proctree_is_zombie(const struct process *p);
uint32_t proctree_parent(const struct process *p); /* its pid; 0: the kernel */
uint32_t proctree_group(const struct process *p);
uint32_t proctree_session(const struct process *p);
uint32_t proctree_session_of(uint32_t group); /* 0: there is no such group */
/* As setpgid(2) and setsid(2) of `caller`; no number is 0. */
int proctree_set_group(struct process *caller, uint32_t pid, uint32_t group);
int proctree_new_session(struct process *caller);
/* Tell p's parent that p was stopped, by `signal`, or goes on. */
void proctree_stopped(struct process *p, int signal);
void proctree_goes_on(struct process *p);
/* Returns whether no process connects the group to the rest of its session. */
bool proctree_orphaned(uint32_t group);
void proctree_set_orphans(struct process *p, bool takes);
bool proctree_takes_orphans(const struct process *p);
void proctree_ran_another(struct process *p);
/* Returns the time of children of p that were waited for, and of theirs. */
struct cpu_time proctree_descendants_time(struct process *p);
