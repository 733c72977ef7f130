/*
 * Whose threads a log or a profile is about. A thread carries the serial numbers of the watches
 * that have it for its family's sake, so an interrupt need not look for its forebears.
 */
#pragma once
#include "hpm/hpm.h"

struct hpm_watch {
    uint32_t serial; /* atomic: unlike that of any watch before; 0: not in use */
    uint32_t pid;    /* 0: all threads, and the kernel without one */
    bool family;     /* with the threads that its threads start, in other processes, too */
};
extern struct hpm_watch hpm_watches[HPM_WATCHES_MAX];

/* Returns a watch of the threads of process `pid`, 0: of all threads; `family`: and of those that
 * they start from now on. NULL: all are in use. One call of this or of watch_close() at a time;
 * thread context. */
struct hpm_watch *watch_open(uint32_t pid, bool family);
/* Gives a watch back, or NULL. No CPU uses it any more. */
void watch_close(struct hpm_watch *w);
/* Returns whether the watch has a thread. NULL: the kernel without one. Any context. */
static inline bool watch_has(const struct hpm_watch *w, const struct hpm_thread *t)
{
    return !w->pid || (t && (t->pid == w->pid || t->watched[w - hpm_watches] == w->serial));
}
