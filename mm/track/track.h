/*
 * Page-access trackers see which pages are used; their logs reach the code that decides about
 * memory.
 *
 *   path      the hardware unit behind the TLB (hpm/path) logs pages that are not hot
 *   soft      a bounded active set: pages outside it fault
 *   scan      accessed marks, looked at every mem.scan_ms
 *   sampled   data addresses that the PMU records, one access in mem.sample_period
 *   none      no tracker
 *
 * A tracker watches address spaces while memory is short, or always (boot argument mem.track). Each
 * access it sees is in a CPU's page log, by thread. The logs are delivered to sinks, in each
 * thread's order: before a CPU with enough entries returns to user mode, and whenever a decision
 * needs them. A page that a tracker holds as hot may be used without being logged: ask track_hot
 * before evicting it.
 */
#pragma once
#include "mm/policy/replace/buffered.h"
#include "hpm/path/ring.h"
#include "kernel/core/cmdline.h"

struct space;

/* A tracker. Members that have nothing to do, or are common, are in mm/track/internal.h. */
struct tracker_ops {
    /* lacks: what is missing if probe returns -ENODEV; "": it never does */
    const char *name, *lacks;
    bool hides; /* uses of pages that are `hot` are not logged */
    /* Prepares the tracker. Boot, thread context, all CPUs started. Returns 0; -ENODEV or -ENOMEM:
     * it cannot work here. */
    int (*probe)(void);
    /* Starts before the first space is watched; stops after the last. Thread context, no lock held.
     * start returns 0 or an error, with a line that says why. */
    int (*start)(void);
    void (*stop)(void);
    /* Begins or ends logging what happens in the space, while started. Thread context, no lock
     * held. */
    void (*watch)(struct space *s, bool on);
    /* Tells whether the page is in use although the log may not say so. Without a use in between,
     * the next call returns false. Thread context. */
    bool (*hot)(struct space *s, vaddr_t va);
    /* Returns what the page access buffer has of the page. NULL: there is no such buffer, or the
     * answer takes a lock. Any context. */
    enum page_buffered (*buffered)(struct space *s, vaddr_t va);
    /* Forgets the page, which is to be mapped again. Any context, takes no lock. */
    void (*forget)(struct space *s, vaddr_t va);
};

extern const struct arg track_args[];

/* Finds the tracker and prints a line about it. `divided`: memory is divided by curves, which then
 * keep their counts. Boot, in the first thread, when all CPUs run. */
void track_init(bool divided);
/* Adds a space that begins. Returns its number; 0: none is left, and it is never watched. */
uint16_t track_space_added(struct space *s);
/* Lets the space be watched. Called after track_space_added. */
void track_space_begins(struct space *s);
/* Tells the trackers the space's process. */
void track_space_named(const struct space *s);
/* Removes a space that no thread runs in any more, after delivering its logs. */
void track_space_removed(struct space *s);
/* Tells whether memory is short for the space from now on. With mem.track=always every space is
 * watched all the time. Thread context, no lock held. */
void track_short(struct space *s, bool is_short);
/* Tells whether the page, about to be evicted, is in use although what was delivered may not say
 * so. Without a use in between, the next call returns false. Returns false if the space is not
 * watched or the tracker does not know. Thread context, no lock held. */
bool track_hot(struct space *s, vaddr_t va);
/* As track_hot, for trackers that do not log uses of hot pages; for others returns false. */
bool track_hides(struct space *s, vaddr_t va);
/* Returns what the page access buffer has of the page; BUFFER_UNKNOWN if there is none, or the
 * tracker takes a lock for it. Of a page that has been evicted it tells of the time before. Any
 * context. */
enum page_buffered track_buffered(struct space *s, vaddr_t va);
/* Forgets what the tracker knows of a page that was evicted and is to be mapped again, so that its
 * next use is logged. Until then track_buffered() tells whether that use would have been logged had
 * the page not been evicted. [S] held. */
void track_forget(struct space *s, vaddr_t va);

/* Tells the tracker soft that a page is used which was not mapped or had no rights. Called by
 * mm/space/fault.c, [S] held. Returns true if track_soft_trim is to be called, with no lock
 * held. */
bool track_soft_used_locked(struct space *s, vaddr_t va, bool write);
void track_soft_trim(struct space *s);

/* Takes a run of accesses that one thread made in one space; the run stays valid until it returns.
 * One call at a time, of all sinks. Thread context, no lock held; must not block. */
typedef void track_sink(struct space *s, const struct page_run *run);
/* Adds a sink. Boot, before any space is watched. */
void track_attach(track_sink *sink);
/* Delivers what all CPUs have logged to the sinks, unless another thread is doing so. What other
 * CPUs log at this moment may be missing. Thread context, no lock held. */
void track_deliver(void);
/* Delivers what is left at the end of the run, and ends the record. */
void track_end(void);
/* Delivers if this CPU has logged enough. Before a return to user mode, interrupts off, no lock
 * held. */
void track_user_return(void);

/* A curve: the misses the space would have had, in an epoch, with 1/16, 2/16, ... of the pages it
 * used (mm/policy/curve/mrc.h), scaled up if pages are sampled. MRU's misses are there if that
 * curve is made (mem.curves). */
#define TRACK_CURVE_POINTS 16
struct track_curve {
    uint64_t pages, accesses, cold;
    uint64_t epochs, epoch_ms; /* ended so far; length of one */
    uint64_t lru[TRACK_CURVE_POINTS], mru[TRACK_CURVE_POINTS];
    unsigned shift; /* one page of 2^shift was looked at */
    bool has_mru;
};
/* Reads the curve of s while nothing is delivered. Returns false if nothing is known. */
bool track_curve(struct space *s, struct track_curve *out);
/* Reads the curve of s at any time. `last`: no thread runs in s any more, so that an unfinished
 * first epoch counts. Thread context, no lock held. Returns false if nothing is known. */
bool track_read_curve(struct space *s, bool last, struct track_curve *out);
/* Reads the curve of the pool of files: of reads, writes, and uses of mapped pages, as far as a
 * tracker watches the process. As above. */
bool track_read_curve_of_files(struct track_curve *out);
/* Returns whether there is a tracker, and curves are made. Any context after track_init(). */
bool track_makes_curves(void);

struct track_account {
    const char *tracker;
    uint32_t watched;       /* spaces */
    uint64_t entries, lost; /* accesses logged; dropped because a log was full */
    uint64_t interrupts;    /* of the hardware */
    /* spent on logging, without entry and return of interrupts; on delivery */
    uint64_t log_ticks, deliver_ticks;
    /* all of that and the assumed cost of interrupts; time that watched threads ran */
    uint64_t cost_ticks, ran_ticks;
    unsigned sample_shift; /* one page of 2^sample_shift is logged now */
};
void track_read_account(struct track_account *out);
