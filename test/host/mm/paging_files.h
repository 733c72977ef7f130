/*
 * Objects in the world of test_paging: processes map, read, write, cut and extend them, all the
 * same ones. A page read or mapped has the stamp that was last given to it, or one given meanwhile.
 */
#pragma once
#include "kernel/lib/list.h"
#include "mm/mm.h"

enum { FILES = 3, FILE_PAGES = 80 };

/* A page of a private mapping. */
struct files_copy {
    uint64_t stamp;   /* that the process has given it; 0: none; or FILES_UNSURE */
    unsigned writers; /* threads that are about to write to it */
};
#define FILES_UNSURE UINT64_MAX /* it may be a copy of what the object had at some time */

/* What is kept for each process. */
struct files_user {
    bool remapping, forking;
    unsigned remaps, inside; /* threads in private mappings */
    struct files_copy copy[FILES][FILE_PAGES];
    struct list link;
};

extern struct files_seen {
    unsigned shown, written, behind, cuts; /* uses by mappings; writes; errors -ENXIO; resizes */
    unsigned sent, synced;                 /* requests to write at the host; syncs */
    unsigned borrowed, copied;             /* uses of objects by private mappings, and of copies */
} files_seen;

/* Makes the objects, to be mapped at `at` in each process. */
void files_start(uint64_t seed, vaddr_t at);
/* Ends them, when no process is left. */
void files_end(void);
/* Maps them in a new process. */
void files_map(struct space *s, struct files_user *u);
/* u is to be forked: what is mapped does not change until it was. */
void files_fork(struct files_user *u);
/* It was; child: of the new process, or NULL: there is none. */
void files_forked(struct files_user *u, struct files_user *child);
void files_leave(struct files_user *u);
/* Uses an object somehow. *ending: the process ends, or is to end for want of memory. */
void files_step(struct space *s, struct files_user *u, const bool *ending);
