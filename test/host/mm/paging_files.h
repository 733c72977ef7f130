/*
 * Objects in the world of test_paging: processes map, read, write, cut and extend them, all the
 * same ones. A page read or mapped has the stamp that was last given to it, or one given meanwhile.
 */
#pragma once
#include "mm/mm.h"

/* What is kept for each process. */
struct files_user {
    bool remapping;
    unsigned remaps;
};

extern struct files_seen {
    unsigned shown, written, behind, cuts; /* uses by mappings; writes; errors -ENXIO; resizes */
    unsigned sent, synced;                 /* requests to write at the host; syncs */
} files_seen;

/* Makes the objects, to be mapped at `at` in each process. */
void files_start(uint64_t seed, vaddr_t at);
/* Ends them, when no process is left. */
void files_end(void);
void files_map(struct space *s);
/* Uses an object somehow. *ending: the process ends, or is to end for want of memory; `forking`: it
 * is being forked, and must not change what is mapped. */
void files_step(struct space *s, struct files_user *u, const bool *ending, bool forking);
