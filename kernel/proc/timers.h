/*
 * Timers of a process that send signals: those of timer_create(2), and the three of setitimer(2).
 *
 * A timer that comes again is set anew when its signal is taken, so a short period costs no more
 * than the program takes; the times that came meanwhile are its overrun. Timers of CPU time look at
 * their clock when it can have come so far at the earliest, and are late by TIMER_LOOK_MAX_NS at
 * most.
 *
 * The lock of the process guards all of it.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/lib/list.h"

struct process;
struct timer;

#define TIMERS_MAX        1024 /* of one process */
#define TIMER_LOOK_MIN_NS (1000 * 1000ull)
#define TIMER_LOOK_MAX_NS (10 * 1000 * 1000ull)

struct process_timers {
    struct list all;
    unsigned count;
    int32_t next_id;
    struct timer *interval[3]; /* by `which` of setitimer(2); NULL: never set */
};

/* What a timer counts: time, or CPU time of its process, or of one of its threads. */
enum timer_clock { TIMER_SINCE_BOOT, TIMER_OF_DATE, TIMER_OF_PROCESS, TIMER_OF_THREAD };

/* What it tells, and whom. */
struct timer_notice {
    int signal;     /* 0: it tells nothing */
    uint32_t tid;   /* the thread that gets the signal; 0: any */
    uint64_t value; /* that the signal has */
    bool own_id;    /* that value is the timer's number */
};

struct timer_times {
    uint64_t left_ns;     /* ns until it comes; 0: it is not set */
    uint64_t interval_ns; /* 0: it comes once */
};

void timers_init(struct process_timers *timers);
/* Frees the timers of p, which has no thread left. */
void timers_end(struct process *p);
/* Deletes those of timer_create(2): p runs another program. */
void timers_new_program(struct process *p);

/* Make, set, read and delete a timer of the caller's process. Thread context, no lock held.
 * -EINVAL: there is no such timer, or no thread `tid`. */
/* Returns its number; -EAGAIN: there are TIMERS_MAX; -ENOMEM, -EDQUOT. `thread`: whose CPU time. */
int timer_make(enum timer_clock clock, uint32_t thread, const struct timer_notice *notice);
/* `absolute`: times.left_ns is a time of its clock. Returns what it was set to in `old`. */
int timer_set(int32_t id, bool absolute, struct timer_times times, struct timer_times *old);
int timer_read(int32_t id, struct timer_times *out);
/* Returns how often it had come between its last signal's sending and taking. */
int timer_overrun(int32_t id);
int timer_delete(int32_t id);
/* Sets and reads a timer of setitimer(2). Times are from now on; `new` NULL: only reads. Returns 0,
 * -ENOMEM or -EDQUOT. */
int timer_interval(unsigned which, const struct timer_times *new, struct timer_times *old);
