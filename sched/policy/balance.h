/*
 * Where a thread should run, as far as load, idleness and warm caches tell: placement of new and
 * woken threads, and pulling by under-used CPUs. Knows nothing of sharing.
 *
 * Input is a sparse snapshot of the CPUs' load: only CPUs of the given mask are read. (A snapshot
 * of other chips costs cache misses across chips, so callers ask only for the CPUs they need.)
 * Modelled on Linux's fair class.
 */
#pragma once
#include "kernel/lib/base.h"

#define BALANCE_NONE     (~0u)
#define BALANCE_CPUS_MAX 64

struct balance_cpu {
    uint16_t chip;    /* dense */
    uint16_t core;    /* dense over the whole machine */
    uint16_t running; /* runnable threads, the running one included */
};

/* Some CPUs of a machine. */
struct balance_view {
    const struct balance_cpu *cpu; /* by CPU number */
    const uint64_t *mask;          /* CPUs in the view; not empty */
    unsigned cpus;                 /* number of CPUs, at most BALANCE_CPUS_MAX */
};

/* Threads by which the maker's chip may be ahead of the least loaded one and still get a new
 * thread. */
#define BALANCE_NEAR_THREADS 1

/* Returns the CPU for a new thread: the least loaded CPU of the least loaded core of a chip. That
 * is the chip of `from`, where the maker runs and has written what the thread reads first, if it
 * has an idle core and not clearly more to do than the least loaded chip; else that one. Among
 * equals, the one with `from`, else the first. */
unsigned balance_place_new(const struct balance_view *v, unsigned from);

/* Returns the CPU near which a woken thread belongs: prev, or waker if the waker's CPU has clearly
 * less to do (not counting that the waker may go to sleep). Either in the view, or both. */
unsigned balance_wake_near(const struct balance_view *v, unsigned prev, unsigned waker);

/* Returns an idle CPU in the view for a woken thread: target, else prev, a CPU of a wholly idle
 * core, one of target's core, any; BALANCE_NONE: none is idle. */
unsigned balance_wake_idle(const struct balance_view *v, unsigned target, unsigned prev);

/* Returns the CPU in the view with the fewest threads; target if none has fewer. For a woken thread
 * when no CPU is idle. */
unsigned balance_wake_least(const struct balance_view *v, unsigned target);

/* A level's domains and their groups: a core of CPUs, a chip of cores, the machine of chips. */
enum balance_level { BALANCE_CORE, BALANCE_CHIP, BALANCE_MACHINE, BALANCE_LEVELS };

struct balance_move {
    unsigned from;  /* CPU to pull from */
    unsigned count; /* number of threads to pull */
    bool running;   /* no thread waits there: the running one must move */
};

/* Returns whether `self` should pull threads within its domain of this level. A busy CPU pulls only
 * if the imbalance exceeds margin_pct (117: 17 %), an idle one whenever a move helps. No move makes
 * the pulling side the fuller one. */
bool balance_find(const struct balance_view *v, unsigned self, enum balance_level level,
                  unsigned margin_pct, struct balance_move *out);
/* Returns the first idle CPU in the view that would pull from CPU `from` at this level, or
 * BALANCE_NONE. Takes time linear in the number of CPUs. */
unsigned balance_taker(const struct balance_view *v, unsigned from, enum balance_level level,
                       unsigned margin_pct);
