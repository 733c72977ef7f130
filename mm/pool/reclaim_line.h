/*
 * The line of threads that wait for a frame while memory as a whole is short: first come, first
 * served. Each frame that becomes free for pools is reserved for a waiting thread before any other
 * thread can have one. Otherwise frames would go to the threads that have just lost pages, because
 * they miss most and are awake, and threads with too little memory would starve.
 */
#pragma once
#include "kernel/lib/list.h"
#include "sched/sched.h"

/* On the waiting thread's stack; all zeros to begin with. */
struct line_ticket {
    struct list link;       /* [L] in line.waiting */
    struct list call;       /* [L] in line.again or line.fresh; in no list once called */
    struct wait_queue wake; /* [L] */
    uint64_t ticket;        /* [-] while in line */
    bool called;            /* [L] a frame has become free since the thread looked */
    bool is_in_line;        /* the thread's own */
};

/* Returns the number of threads in line. Any context. */
uint32_t line_length(void);
/* Returns the most threads that can be in line before w; if w is not in line, all of them. */
uint32_t line_before(const struct line_ticket *w);
/* Puts w at the end of the line unless it is in line. */
void line_join(struct line_ticket *w);
/* Takes w out of the line, whether it got a frame or not. */
void line_leave(struct line_ticket *w);
/* Calls up to `frames` threads, in their order, that have not been called since they last looked.
 * Any context, under a pool's lock. Takes time in proportion to `frames`, not to the line's
 * length. */
void line_call(uint32_t frames);
/* Blocks the thread until it is called, unless it has been since its last wait, or until the
 * deadline. Returns as wait_sleep. */
int line_wait(struct line_ticket *w, uint64_t deadline_ns);
