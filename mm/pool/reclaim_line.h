/*
 * Who waits for a frame where memory as a whole is short: first come, first served. Of the frames
 * that become free, and that pools may have, one is each waiter's before anybody else has any.
 * Else they would go to whom pages have just been taken from, who misses most and is awake then,
 * and who has too little would look on.
 */
#pragma once
#include "kernel/lib/list.h"
#include "sched/sched.h"

/* A thread's, on its stack; all zeros to begin with. */
struct line_ticket {
    struct list link;       /* [L] in line */
    struct list call;       /* [L] among those to be called; alone: it was */
    struct wait_queue wake; /* [L] */
    uint64_t ticket;        /* [-] */
    bool called;            /* [L] something has become free since it looked */
    bool is_in_line;        /* its thread's own */
};

/* How many wait; any context. */
uint32_t line_length(void);
/* How many there may be before this one; of one that is not in line, all. */
uint32_t line_before(const struct line_ticket *w);
/* At the end of the line, unless it is there. */
void line_join(struct line_ticket *w);
/* It waits no longer, whatever has come of it. */
void line_leave(struct line_ticket *w);
/* So many frames have become free: as many are called that have not been since they looked, first
 * come first. Any context, under a pool's lock; takes as long as there are frames, however many
 * wait. */
void line_call(uint32_t frames);
/* Until something has become free since the last wait, or until the deadline. As wait_sleep. */
int line_wait(struct line_ticket *w, uint64_t deadline_ns);
