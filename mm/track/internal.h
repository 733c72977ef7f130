/* Trackers' boot arguments and common parts, for the files of mm/track. */
#pragma once
#include "kernel/core/lock.h"
#include "mm/policy/curve/mrc.h"
#include "mm/track/track.h"
#include "sched/sched.h"

extern uint64_t mem_curves_print; /* at a space's end */
enum { TRACK_CURVES_OFF, TRACK_CURVES_LRU, TRACK_CURVES_ON };
/* LRU: MRU's curve is made only where it decides anything */
extern uint64_t mem_curves;
extern uint64_t mem_pab; /* entries of the hardware's page access buffer */

extern uint64_t mem_active_pages; /* the most pages of an active set */
extern uint64_t mem_scan_ms, mem_sample_period;

extern const struct tracker_ops track_path, track_soft, track_scan, track_sampled;

/* ---- track.c --------------------------------------------------------------------------------- */
/* Members of struct tracker_ops for which a tracker has nothing to do. */
int track_start_nothing(void);
void track_stop_nothing(void);
void track_watch_nothing(struct space *s, bool on);
void track_forget_nothing(struct space *s, vaddr_t va);
/* The member `hot` by the processor's accessed mark, which it clears: tells whether the page at va
 * was used since the last call. */
bool track_marked(struct space *s, vaddr_t va);

/* A tracker's thread, which works while the tracker is started. */
struct track_thread {
    struct spinlock lock;
    struct wait_queue wait;
    bool wanted; /* [lock] */
};
/* Makes and starts the thread. Its entry calls track_thread_wait each time round. Returns 0 or
 * -ENOMEM. */
int track_thread_make(struct track_thread *t, const char *name, void (*entry)(void *));
/* Lets the thread work from now on, or stops it. */
void track_thread_run(struct track_thread *t, bool on);
/* Blocks the calling thread until it is to work. */
void track_thread_wait(struct track_thread *t);

/* Calls f for each watched space, which stays meanwhile. Thread context, no lock held. */
void track_each_watched(void (*f)(struct space *s, void *arg), void *arg);

/* ---- The others ------------------------------------------------------------------------------ */
#define TRACK_ROW 32 /* pages: an aligned block of them, or a part of one */
struct arch_page;
typedef void track_row(struct space *s, vaddr_t va, const struct arch_page *page, unsigned n,
                       void *arg);
/* scan.c: goes through a stretch of the space's pages from va on. Calls f, [S] held, for each row
 * with a page that is resident or out. Returns where the next stretch begins, USER_MAX at the end.
 * Thread context, no lock held. */
vaddr_t track_rows(struct space *s, vaddr_t va, track_row *f, void *arg);
/* soft.c: frees the active set of a space that ends. */
void track_soft_end(struct space *s);

/* record.c: begins to record what is delivered; writes out what is still buffered. */
void track_record_start(void);
void track_record_end(void);

/* curve.c: adds the uses of pages of files since the last call to their curve, by the pages' nodes,
 * and ends its epoch. `s`: the space of a store, which has that curve. In a delivery's turn. */
void track_curve_files(struct space *s);
/* curve.c: begins to make curves of what is delivered, which decay or keep their counts; prints and
 * frees the curve of a space that ends. */
void track_curves_start(bool decay);
void track_curve_end(struct space *s);
/* Ends the first epoch if none has ended: no more is delivered of s. */
void track_curve_last(struct space *s);
