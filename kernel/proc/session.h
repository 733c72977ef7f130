/*
 * What sessions of counts and sessions of samples have in common: an owner, a number, limits, and
 * results that are copied to user memory outside the gate. A table of sessions is an array of
 * structures that each begin with a struct session. sessions_gate held for all functions.
 */
#pragma once
#include "kernel/proc/process.h"

/* Guards all sessions. Held by each thread that changes what is counted or sampled. */
extern struct gate sessions_gate;

struct session {
    uint32_t pid;                /* its owner's; 0: the session is free */
    const struct family *family; /* that its owner is a member of */
    uint64_t serial;             /* unlike that of any session before */
    uint64_t delivered;          /* results that have been copied to user memory */
};

struct session_table {
    const char *what;                 /* plural, for messages */
    void *first;                      /* first structure of the array */
    size_t bytes;                     /* of one structure */
    unsigned count;                   /* of structures */
    unsigned process_max, family_max; /* sessions that a process and that a family may have open */
    uint64_t last_serial;
};

/* Returns the session at `index`, open or free. */
struct session *session_at(const struct session_table *t, unsigned index);
/* Returns the session of this number, from 1, or NULL if `owner` has none of that number open. */
struct session *session_find(const struct session_table *t, const struct process *owner,
                             uint32_t number);
/* Returns a free session that `owner` may open; or NULL, and the reason in `why`. */
struct session *session_find_free(const struct session_table *t, const struct process *owner,
                                  char *why, size_t size);
/* Makes a free session one of `owner`'s. Returns its number. */
int session_own(struct session_table *t, struct session *s, const struct process *owner);

/*
 * A result is read under the gate, copied to user memory without it, for the copy may fault, and
 * committed under the gate again. The position tells whether the session has changed in between.
 */
struct session_position {
    uint64_t serial, delivered;
};
struct session_position session_position(const struct session *s);
/* Returns the session if it is open and still at this position, or NULL: it was closed, or another
 * thread has committed a result. */
struct session *session_find_at(const struct session_table *t, const struct process *owner,
                                uint32_t number, const struct session_position *at);

/* Returns 0 if `owner` may have samples and logs of this process, which may be the next that it
 * starts, or of all if `pid` is 0; else -ESRCH or -EACCES, with the reason in `why`. Thread
 * context, no lock held. */
int session_may_watch(struct process *owner, uint32_t pid, char *why, size_t size);
