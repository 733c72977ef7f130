/*
 * Logical counters: more events than counters, by fine-grained multiplexing ([A] 2.4).
 *
 * Groups of events that fit on the counters together (hpm/events/group.h) take turns. A *round* has
 * length R and is made of *passes*. In a pass every group has as many *slices* as its share says,
 * in an order drawn anew for each pass. So the slices of a group are spread over the round, and a
 * program with the period of a round or a pass cannot hide behind it. What was counted in a group's
 * slices stands for the whole pass, by the measured length of the slices, never by wall time.
 * Lengths are in cycles or in retired instructions, whichever counter is the slices' timer.
 *
 * Three parts, to be combined:
 * - struct mux_turns: which group has its turn. One for each CPU, or one for each thread, saved and
 *   restored with it.
 * - struct mux_counts: the counts of one thread or CPU, however turns are taken.
 * - hpm/policy/estimate.h: how sure the counts are.
 *
 * With one pass a round, equal shares and no interval this is [A]'s own form (published).
 *
 * Statistics: passes are strata, and the slices in them a random sample without replacement of
 * equal parts of the stratum, so the sum of the scaled counts is unbiased whatever the program
 * does. Its variance is estimated from the differences between successive passes (von Neumann 1941;
 * Wolter, Introduction to Variance Estimation, ch. 8), which the program's phases can only make too
 * large, with the finite-population factor 1 - seen / length.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/events/group.h"
#include "kernel/lib/fixed.h"

#define MUX_ROUND_MAX  (1ull << 36)
#define MUX_PASSES_MAX 64
#define MUX_SHARE_MAX  8
#define MUX_SLOTS_MAX  256  /* slices in a pass */
#define MUX_SLICE_MIN  1000 /* "arbitrary fine time-slices down to a few thousand cycles", [A] */

enum mux_unit { MUX_CYCLES, MUX_INSTRUCTIONS };

/* How groups are to take turns. */
struct mux_config {
    enum mux_unit unit;       /* of lengths */
    uint64_t round;           /* length R, 1..MUX_ROUND_MAX */
    unsigned passes;          /* in a round, 1..MUX_PASSES_MAX */
    uint8_t share[GROUP_MAX]; /* slices of each group in a pass, 1..MUX_SHARE_MAX */
    /* Every group gets one slice of R / groups a round, and there is no interval ([A] 2.4); passes
     * and share are ignored. */
    bool published;
    uint64_t apart; /* bit e: event e has no seats but those given by mux_plan_seat */
};

/* A config made into lengths. */
struct mux_rounds {
    enum mux_unit unit;
    bool published;
    unsigned groups, passes;
    unsigned slots; /* slices in a pass */
    /* Lengths, each rounded down, so passes * pass <= round and slots * slice <= pass. */
    uint64_t round, pass, slice;
    uint8_t share[GROUP_MAX];
};

/*
 * Cuts rounds of `groups` groups as `config` says. Returns 0, or
 * - -EINVAL: groups is not 1..GROUP_MAX, a field of config is out of range, or the shares exceed
 *   MUX_SLOTS_MAX.
 * - -ERANGE: slices would be shorter than MUX_SLICE_MIN; a longer round or fewer passes are needed.
 */
int mux_rounds_init(struct mux_rounds *r, const struct mux_config *config, unsigned groups);

/* ---- Turns ----------------------------------------------------------------------------------- */

/* What a step has ended; each value includes those before it. */
enum mux_step { MUX_STAYS, MUX_SLICE_ENDS, MUX_PASS_ENDS, MUX_ROUND_ENDS };

struct mux_turns {
    uint64_t random;              /* xorshift state, never 0 */
    uint64_t left;                /* rest of the present slice, 1..slice */
    unsigned position;            /* of the present slice in the pass */
    unsigned pass;                /* present pass of the round */
    uint8_t order[MUX_SLOTS_MAX]; /* group of each slice of the pass */
};

/* Begins a round. Turns that are to differ need different seeds. */
void mux_turns_init(struct mux_turns *t, const struct mux_rounds *r, uint64_t seed);
/* Returns the group that counts now. */
static inline unsigned mux_turns_group(const struct mux_turns *t)
{
    return t->order[t->position];
}
/* Spends `length` of the present slice, since the last call. t->left is then the rest of the slice,
 * for the timer when the thread runs again. A slice ends when nothing is left; an overrun shortens
 * no other slice. */
enum mux_step mux_turns_spend(struct mux_turns *t, const struct mux_rounds *r, uint64_t length);
/* Ends the present slice, however much of it is left. */
enum mux_step mux_turns_next(struct mux_turns *t, const struct mux_rounds *r);
/* Ends the round here and begins the next. Returns the groups (bit g) that had no part of the pass
 * that was cut. */
uint64_t mux_turns_cut(struct mux_turns *t, const struct mux_rounds *r);
/* Returns what is wrong, or NULL. */
const char *mux_turns_check(const struct mux_turns *t, const struct mux_rounds *r);

/* ---- Counts ---------------------------------------------------------------------------------- */

/* What the counts of a set of events need to know of its groups. */
struct mux_plan {
    struct mux_rounds rounds;
    /* Number of the plan, where plans follow each other: from 1, set by the caller; else 0. A later
     * plan has a higher number. born: the plan in which an event appeared, or took over its
     * number. */
    uint32_t generation, born[GROUP_EVENTS_MAX];
    /* Least length of a unit of a pool; mux_plan_init sets it for turns of one CPU. */
    uint64_t pool;
    uint64_t events;  /* bit e: event e is counted */
    uint64_t rough;   /* of them: no variance is kept and no interval given; set by the caller */
    unsigned counted; /* number of events */
    uint8_t order[GROUP_EVENTS_MAX];       /* all events, those of the same groups in a row */
    uint16_t slots_with[GROUP_EVENTS_MAX]; /* slices of a pass in which an event is counted */
    struct mux_group {
        uint64_t events; /* bit e: event e is in the group */
        uint8_t seats;   /* number of seats */
        struct mux_seat {
            uint8_t counter, event;
        } seat[GROUP_EVENTS_MAX]; /* an event's seat is the counter it is on */
    } group[GROUP_MAX];
};
/* Makes a plan of the valid group plan `groups`. Returns as mux_rounds_init. */
int mux_plan_init(struct mux_plan *p, const struct mux_config *config,
                  const struct group_plan *groups);
/* Counts `event`, one set apart or in no group, by the counter of the group. */
void mux_plan_seat(struct mux_plan *p, unsigned group, unsigned counter, unsigned event);
/* The same in each group, by the group's counter. */
void mux_plan_seat_in_all(struct mux_plan *p, const uint8_t counter[GROUP_MAX], unsigned event);
/* Counts event `alias`, which is in no group, wherever `event` is counted. */
void mux_plan_alias(struct mux_plan *p, unsigned event, unsigned alias);

/*
 * Counts of one thread or CPU; zeroed at first. One CPU writes at a time; the caller keeps readers
 * from using half-written counts.
 *
 * The pieces since the last closing are the open *unit*. It is a pass, or, where passes were cut or
 * turns are not this thread's own, as many passes as each event needs for a quarter of its share. A
 * plan that follows another cuts the unit.
 *
 * Ranges: all figures are right while there are fewer than 2^39 counts for each length of a pass
 * and 2^64 in all, and units are shorter than 2^14 passes. Larger figures saturate, and then no
 * interval is given.
 */
struct mux_counts {
    uint64_t length;      /* that passed */
    uint64_t open_length; /* part of it in the open unit */
    uint64_t events;      /* of the plan that counted last */
    uint32_t generation;  /* of that plan */
    struct mux_open {
        /* counted in the open unit, and the length of it in which it was counted */
        uint64_t count, seen;
    } open[GROUP_EVENTS_MAX];
    struct mux_count {
        uint64_t length;   /* of the closed units since the event's birth, cut ones included */
        uint64_t counted;  /* in these units */
        uint64_t seen;     /* length of these units in which it was counted */
        uint64_t total;    /* estimate for these units, scaled; 0 before the first is closed */
        uint32_t fraction; /* fraction of total, in 2^-32 */
        uint32_t units;    /* number of these units without those that were cut */
        uint64_t rate;     /* in the latest closed unit, for the length of a pass, in 2^-8 */
        wide_t variance;   /* of total without the first unit's part, in counts squared, in 2^-16 */
    } event[GROUP_EVENTS_MAX];
};

/* What was counted of an event, and the length in which: of all units, never scaled. Only grow. */
struct mux_raw {
    uint64_t counted, seen;
};
static inline struct mux_raw mux_raw(const struct mux_counts *c, unsigned event)
{
    return (struct mux_raw){c->event[event].counted + c->open[event].count,
                            c->event[event].seen + c->open[event].seen};
}

/* Adds the counts of a length in which `group` counted. count: by counter, as in the plan's groups.
 * `p` is not an earlier plan than that of the call before. */
void mux_add(struct mux_counts *c, const struct mux_plan *p, unsigned group, uint64_t length,
             const uint64_t *count);
/* Ends a pass. Closes the unit and returns true, unless it is shorter than a pass (less a
 * sixteenth, as slices vary) or an event was seen for less than a quarter of its share; then it
 * stays open and the next pass adds to it. To be called at the end of every pass; where turns are
 * not the thread's own, at the end of any slice. */
bool mux_close(struct mux_counts *c, const struct mux_plan *p);
/* Returns what is wrong, or NULL. */
const char *mux_check(const struct mux_counts *c, const struct mux_plan *p);

/*
 * What is known of one event. Sums of threads, and differences of two readings, are such sums as
 * well.
 *
 * The counts of a thread that has closed no unit say nothing by themselves: most such threads never
 * saw the event, because its turn did not come while they ran, and the others saw it all the time.
 * So a sum keeps their parts together in its *pool*, which is scaled as a whole: counted x length /
 * seen, the ratio estimator (Cochran, Sampling Techniques, ch. 6).
 *
 * Where threads end one after the other, the pool is closed as a unit whenever it is long enough,
 * so that its variance is found like a thread's. What a thread leaves open when it ends joins the
 * pool, and if a thread closed one unit only, that makes a pair with the latest unit before it.
 */
struct mux_sum {
    uint64_t length;  /* all that passed since the event's birth */
    uint64_t closed;  /* part of length in closed units */
    uint64_t seen;    /* part of length in which the event was counted */
    uint64_t counted; /* in seen */
    uint64_t count;   /* estimate for all of length but the pool */
    uint64_t units;   /* closed units */
    uint64_t pairs;   /* pairs of successive units */
    uint64_t rate;    /* of the latest unit, as in struct mux_count; only where rated */
    struct mux_pool {
        uint64_t length, seen, counted; /* the pool's parts of the three above */
    } pool;
    uint32_t fraction; /* fraction of count, in 2^-32 */
    uint32_t rated;    /* 1: there is a rate */
    wide_t variance;   /* from the pairs, in counts squared, in 2^-16 */
};

/* Writes what one thread or CPU adds to a sum. The open unit is scaled by itself if the event was
 * seen for a quarter of its share, else by the rate of the unit before, which a later reading may
 * correct downwards. Before its first unit is closed, all is the pool's. */
void mux_part(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
              struct mux_sum *out);
/* Writes what a thread that has ended adds to a sum that is kept: its open unit joins the pool. */
void mux_ended(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
               struct mux_sum *out);
/* Reads one thread or CPU: as mux_part, settled. All 0: nothing was counted since the event's
 * birth. */
void mux_read(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
              struct mux_sum *out);
/* Adds the figures of `part`. `sum` keeps its own rate. */
void mux_sum_add(struct mux_sum *sum, const struct mux_sum *part);
/* As mux_sum_add, where `sum` is kept and `part`, a thread or a sum, has ended after those before
 * it: the latest unit of `part` becomes that of `sum`. */
void mux_sum_keep(struct mux_sum *sum, const struct mux_sum *part, const struct mux_plan *p,
                  unsigned event);
/* Closes the pool as a unit and returns true if it is as long as the plan says and was seen for a
 * quarter of its share; else it stays open. */
bool mux_sum_close(struct mux_sum *sum, const struct mux_plan *p, unsigned event);
/* Completes a sum that has all its parts: scales the pool by what was seen of it, or, if that is
 * less than a quarter of the rest's share, by the rest's rate, and adds it to count. */
void mux_sum_settle(struct mux_sum *sum);
/* A difference over fewer units than this is scaled as a whole. */
#define MUX_FEW_UNITS 50
/* Subtracts `earlier`, a reading of the same counts, and settles the result. If the difference has
 * few units, its count is scaled from what was seen in it, so such differences do not add up to the
 * counts themselves. Else it is the difference of the counts. */
void mux_sum_sub(struct mux_sum *from, const struct mux_sum *earlier);
