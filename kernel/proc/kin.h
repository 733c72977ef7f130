/*
 * Rules of processes among each other: which child wait4(2) and waitid(2) take, how an end is told,
 * which groups a process may join. Pure; proctree.c has the tree.
 */
#pragma once
#include "kernel/lib/base.h"

/* What a parent can learn of a child. */
enum kin_news {
    KIN_NOT_ITS, /* the call does not wait for this child */
    KIN_NONE,    /* it does, and there is nothing to tell yet */
    KIN_EXITED,  /* it has ended; `status` says how */
    KIN_STOPPED, /* by signal `status` */
    KIN_CONTINUED,
};

/* The status of an end: what the program gave, or 128 and the number of a signal. */
struct kin_end {
    uint8_t status;
    bool by_signal;
};

/* A child as a call looks at it. */
struct kin_child {
    uint32_t pid, group;
    bool clone;   /* its end is told by another signal than SIGCHLD, or none */
    bool ended;   /* all of it is gone but its status */
    bool waited;  /* it has been waited for */
    uint8_t stop; /* the signal that has stopped it, as long as that is to be told; 0: none */
    bool goes_on; /* it was continued, and that is to be told */
};

enum kin_which { KIN_ANY, KIN_PID, KIN_GROUP };

/* What a call waits for. */
struct kin_wait {
    enum kin_which which;
    uint32_t id; /* a pid, a group */
    bool exited, stopped, continued;
    bool clones, all; /* __WCLONE, __WALL */
};

/* Returns what a call learns of a child. */
enum kin_news kin_look(const struct kin_wait *want, const struct kin_child *child);
/* Returns a status as wait4(2) has it. */
uint32_t kin_wait_status(enum kin_news news, struct kin_end end, uint8_t signal);
/* Returns si_code and stores si_status of SIGCHLD and of waitid(2). */
int kin_code(enum kin_news news, struct kin_end end, uint8_t signal, int *status);

/* What setpgid(2) looks at. */
struct kin_move {
    bool self, child;      /* the process is the caller, or a child of it */
    bool same_session;     /* as the caller's */
    bool leads_session;    /* the process leads a session */
    bool runs_another;     /* the child has made an execve(2) */
    bool own_group;        /* the group has the process's own number */
    bool group_in_session; /* there is such a group in the caller's session */
};

/* Returns 0; -ESRCH, -EPERM or -EACCES as setpgid(2). */
int kin_may_move(const struct kin_move *m);
/* Returns whether a process whose parent is in `parent_group` of `parent_session` connects its
 * group to the rest of its session. A group that none connects is orphaned. */
bool kin_connects(uint32_t group, uint32_t session, uint32_t parent_group, uint32_t parent_session);
