/*
 * Processes for test_paging: their threads use, map, unmap, protect and drop memory at random, and
 * fork, and end the test if a byte is not what was last written there, or if an error is none that
 * the scenario makes. A page that another thread wrote to during a fork has in the child what it
 * had before, or what that thread wrote.
 */
#pragma once
#include "kernel/lib/base.h"

/* What the processes live with, and for how long. */
struct scenario {
    const char *name;
    uint64_t policy, prefetch, tracker, process_kb, user_kb, global, swap_kb;
    unsigned read_fails, write_fails, map_fails, frames, frame_fails;
    bool no_swap, forks, files;
    unsigned steps, lives; /* of a thread; processes in all */
};
extern struct scenario now;

extern struct paging_seen {
    unsigned errors, refused;  /* accesses that failed: by the disk, for want of memory */
    unsigned forks, inherited; /* processes forked; pages that they used first as their parents' */
    unsigned steps;            /* of all threads */
} seen;

/* Fills the doubles' disk and the file that is mapped, and starts the processes as fibers; the
 * test then runs these. mm has begun. */
void processes_start(uint64_t seed);
