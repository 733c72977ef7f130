/*
 * Where a thread should run, as far as load, idleness and warm caches tell: placement of new and of
 * woken threads, and what an under-used CPU should pull from where. Knows nothing of sharing.
 *
 * Input: a snapshot of the CPUs' load, sparse: only CPUs of the given mask are looked at (a
 * snapshot of other chips costs cache misses across chips, so callers ask for no more than they
 * need). Modelled on what Linux' fair class does.
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
    const uint64_t *mask;          /* which of them count; not empty */
    unsigned cpus;                 /* numbers below this, at most BALANCE_CPUS_MAX */
};

/* CPU for a new thread: the least loaded chip, in it the least loaded core, in it the least loaded
 * CPU; where equal, the place of `from`, else the first. */
unsigned balance_place_new(const struct balance_view *v, unsigned from);

/* Which CPU's surroundings a woken thread belongs to: prev, or waker when the waker has clearly
 * less to do (its own departure into sleep not counted). Both must be in the view. */
unsigned balance_wake_near(const struct balance_view *v, unsigned prev, unsigned waker);

/* An idle CPU in the view for a woken thread: target itself, prev, a CPU of a wholly idle core, one
 * of target's core, any; BALANCE_NONE when none is idle. */
unsigned balance_wake_idle(const struct balance_view *v, unsigned target, unsigned prev);

/* Where none is idle: the CPU in the view with fewest threads; target where it has no more than
 * others. */
unsigned balance_wake_least(const struct balance_view *v, unsigned target);

/* Domains and the groups they are made of: a core of CPUs, a chip of cores, the machine of
 * chips. */
enum balance_level { BALANCE_CORE, BALANCE_CHIP, BALANCE_MACHINE, BALANCE_LEVELS };

struct balance_move {
    unsigned from;  /* CPU to pull from */
    unsigned count; /* threads to pull */
    bool running;   /* nobody waits there: it is a running thread that must move */
};

/* Should `self` pull threads within its domain of this level? A busy CPU pulls only across an
 * imbalance of more than margin_pct (117: 17 %); an idle one whenever a move helps. No move makes
 * the pulling side the fuller one. */
bool balance_find(const struct balance_view *v, unsigned self, enum balance_level level,
                  unsigned margin_pct, struct balance_move *out);
/* The first idle CPU in the view that would pull from that one at this level, or BALANCE_NONE. In
 * as many steps as there are CPUs. */
unsigned balance_taker(const struct balance_view *v, unsigned from, enum balance_level level,
                       unsigned margin_pct);
