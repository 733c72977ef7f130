/*
 * Signals that wait for a thread or a process, and which is next. A signal below SIGNAL_REALTIME
 * waits once; those from it on, and those of owners' entries, wait as often as they were sent, in
 * that order. Pure; the lock of the process guards it.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/lib/list.h"
#include <asm/siginfo.h>

#define SIGNALS         64 /* numbers 1 to 64 */
#define SIGNAL_REALTIME 32
#define SIGNAL_BIT(n)   (1ull << ((n)-1))

struct process;
struct signal_queue;

/* A signal that was sent. */
struct signal_entry {
    struct list link; /* in order of arrival */
    siginfo_t info;
    struct signal_queue *queue; /* that it waits in, or NULL */
    /* Of an entry that has an owner, which is not freed: tells that it waits no more. `info`: what
     * the program gets, which this may change; NULL: the signal was dropped. Lock of p held. */
    void (*taken)(struct process *p, struct signal_entry *e, siginfo_t *info);
};

struct signal_queue {
    uint64_t set; /* bit n - 1: signal n waits; one without an entry was sent without memory */
    struct list entries;
};

void signal_queue_init(struct signal_queue *q);
/* Adds a signal; `e` may be NULL, for one without particulars. Returns false if it waits already
 * and waits only once: then `e` stays the caller's. */
bool signal_queue_add(struct signal_queue *q, int number, struct signal_entry *e);
/* Returns the signal of `set` that comes next: first those that an instruction has caused, then the
 * lowest number. 0: none. */
int signal_queue_next(const struct signal_queue *q, uint64_t set);
/* Takes the first of the signals `number`, which waits. Returns its entry, or NULL. */
struct signal_entry *signal_queue_take(struct signal_queue *q, int number);
/* Takes an entry out of the queue that it waits in, if any. */
void signal_queue_remove(struct signal_entry *e);
/* Takes all of `set`, and appends their entries to `out`. */
void signal_queue_drop(struct signal_queue *q, uint64_t set, struct list *out);
