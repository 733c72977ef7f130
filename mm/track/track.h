/*
 * Page-access trackers: who sees which pages are used, and how that reaches those who decide about
 * memory.
 *
 *   path      the hardware unit behind the TLB (hpm/path): what is not hot is logged
 *   soft      a bounded active set: pages outside it fault
 *   scan      accessed marks, looked at every so often
 *   sampled   data addresses that the PMU records, one access in so many
 *   none      nobody does
 *
 * A tracker watches address spaces while memory is short, or always (boot argument mem.track).
 * Whatever it sees is in the CPUs' page logs, by thread, and is handed from there to the sinks in
 * each thread's order: where enough has gathered on a CPU, before it returns to user mode, and
 * whenever somebody who decides wants to know. Pages that a tracker holds for hot are used without
 * being logged: ask track_hot before evicting one.
 */
#pragma once
#include "mm/policy/replace/buffered.h"
#include "hpm/path/ring.h"
#include "kernel/core/cmdline.h"

struct space;

/* A tracker. Members for which one has nothing to do are in mm/track/internal.h. */
struct tracker_ops {
    /* lacks: what is not there where probe says -ENODEV; "": it never does */
    const char *name, *lacks;
    bool hides; /* pages that are `hot` are used without being logged */
    /* Boot, thread context, all CPUs started: 0; -ENODEV, -ENOMEM: it cannot work here. */
    int (*probe)(void);
    /* The first space is to be watched, or the last one is not any more. 0 or an error, with a
     * line that says why. Thread context, no lock held. */
    int (*start)(void);
    void (*stop)(void);
    /* While started: what happens in the space is logged from now on, or no more. Thread context,
     * no lock held. */
    void (*watch)(struct space *s, bool on);
    /* Is this page in use, though the log may not say so? Asked again without use in between: no.
     * Thread context. */
    bool (*hot)(struct space *s, vaddr_t va);
    /* The same, and whether uses are logged, where no lock is taken for it; NULL: one is, or there
     * is no page access buffer. Any context. */
    enum page_buffered (*buffered)(struct space *s, vaddr_t va);
    /* The page is to be mapped again. Any context, takes no lock. */
    void (*forget)(struct space *s, vaddr_t va);
};

extern const struct arg track_args[];

/* Boot, in the first thread, when all CPUs run. Says which tracker there is. divided: memory is
 * divided by what curves say, so that they keep their counts. */
void track_init(bool divided);
/* A space begins: its number, 0 where none is left, which is never watched. It ends: nobody runs
 * in it. */
uint16_t track_space_added(struct space *s);
void track_space_begins(struct space *s);      /* and can be watched */
void track_space_named(const struct space *s); /* it is known whose it is */
void track_space_removed(struct space *s);
/* Its memory is short from now on, or is not. With mem.track=always every space is watched all the
 * time. Thread context, no lock held. */
void track_short(struct space *s, bool is_short);
/* Is the page, about to leave memory, in use though what was delivered may not say so? The tracker
 * answers (struct tracker_ops), so that asking again without use in between says no; no where the
 * space is not watched, or the tracker does not know. mm/pool/evict.c, before it takes the page
 * out; thread context, no lock held. */
bool track_hot(struct space *s, vaddr_t va);
/* The same of trackers that do not log the uses of pages they hold for hot; of others no. */
bool track_hides(struct space *s, vaddr_t va);
/* The same where spinlocks are held, and whether its uses are logged; BUFFER_UNKNOWN of trackers
 * that take locks for it. Also of a page that has left memory, where it tells of the time
 * before. */
enum page_buffered track_buffered(struct space *s, vaddr_t va);
/* The page had left memory and is to be mapped again: its next use is to be seen, whatever the
 * tracker knows of it. Until now what it knew stayed, so that track_buffered() tells whether that
 * use would have been logged had the page never left. mm/space/fault.c, [S] and [P] held. */
void track_forget(struct space *s, vaddr_t va);

/* mm/space/fault.c, [S] held: the page has come into being, or was without rights, and is to be
 * used now. True: the active set is to be trimmed when no lock is held. */
bool track_soft_used_locked(struct space *s, vaddr_t va, bool write);
void track_soft_trim(struct space *s);

/* Takes what has been logged, in one space and by one thread; the run stays until it returns. One
 * call at a time, of all sinks; thread context, no lock held; must not sleep. */
typedef void track_sink(struct space *s, const struct page_run *run);
/* Boot, before anything is watched. */
void track_attach(track_sink *sink);
/* What all CPUs have logged goes to the sinks, unless somebody is at it: what other CPUs log at
 * this moment may still be missing. Thread context, no lock held. */
void track_deliver(void);
/* The run ends: what is in hand goes to the sinks. */
void track_end(void);
/* Before a return to user mode, interrupts off, no lock held. */
void track_user_return(void);

/* How often the space would have missed, in an epoch, with a 16th, two 16ths, ... of the pages it
 * used (mm/policy/curve/mrc.h); scaled up where pages are sampled. MRU's misses where that curve
 * is made (mem.curves). False: nothing is known. Not while it is delivered. */
#define TRACK_CURVE_POINTS 16
struct track_curve {
    uint64_t pages, accesses, cold;
    uint64_t epochs, epoch_ms; /* ended so far; so long is one */
    uint64_t lru[TRACK_CURVE_POINTS], mru[TRACK_CURVE_POINTS];
    unsigned shift; /* one page of 2^this was looked at */
    bool has_mru;
};
bool track_curve(struct space *s, struct track_curve *out);
/* The same at any time; last: nobody runs in it any more, so that what an unfinished first epoch
 * has seen is taken for one. Thread context, no lock held. */
bool track_read_curve(struct space *s, bool last, struct track_curve *out);

struct track_account {
    const char *tracker;
    uint32_t watched;       /* spaces */
    uint64_t entries, lost; /* logged; dropped for want of room */
    uint64_t interrupts;    /* by the hardware */
    /* of logging, but for interrupts' entry and return; of the sinks */
    uint64_t log_ticks, deliver_ticks;
    /* all of that, and what interrupts are reckoned at; threads ran that the hardware watched */
    uint64_t cost_ticks, ran_ticks;
    unsigned sample_shift; /* one page of 2^this is logged now */
};
void track_read_account(struct track_account *out);
