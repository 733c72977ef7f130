/*
 * Logical counters: more events than counters, by fine-grained multiplexing ([A] 2.4).
 *
 * Groups of events that fit on the counters together (hpm/events/group.h) take turns. A *round* is
 * R long; it is made of *passes*, and in a pass every group has as many *slices* as its share says,
 * in an order drawn anew for each pass. So the slices a group gets in a round are spread over it,
 * and a program whose period is that of the round or of a pass cannot hide behind it. What was
 * counted in a group's slices stands for the whole pass, by the length the slices were measured to
 * have, never by wall time. Lengths are in cycles or in retired instructions, whichever counter is
 * the slices' timer.
 *
 * Three parts, to be combined:
 * - struct mux_turns: whose turn it is. One for each CPU, or one for each thread, saved and
 * restored with it.
 * - struct mux_counts: what was counted, of one thread or CPU, whoever decided whose turn it was.
 * - hpm/policy/estimate.h: how sure that is.
 *
 * With one pass a round, equal shares and no interval this is [A]'s own form (published).
 *
 * Statistics. Passes are strata, and the slices in them a random sample without replacement of
 * equal parts of the stratum, so the sum of the scaled counts is unbiased whatever the program
 * does. Its variance is estimated from the differences between successive passes (von Neumann
 * 1941; Wolter, Introduction to Variance Estimation, ch. 8), which the program's phases can only
 * make too large, with the finite-population factor 1 - seen / length. Pure: no clock, lock,
 * allocation or register.
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

/* What is asked for. */
struct mux_config {
    enum mux_unit unit;       /* lengths are in cycles or in instructions */
    uint64_t round;           /* R, 1..MUX_ROUND_MAX */
    unsigned passes;          /* in a round, 1..MUX_PASSES_MAX: slices for each share of 1 */
    uint8_t share[GROUP_MAX]; /* of each group: slices in a pass, 1..MUX_SHARE_MAX */
    /* One slice of R / groups a round for all and no interval ([A] 2.4); passes and share are
     * ignored. */
    bool published;
};

/* How rounds are cut. */
struct mux_rounds {
    enum mux_unit unit;
    bool published;
    unsigned groups, passes;
    unsigned slots; /* slices in a pass */
    /* lengths; each part is rounded down, so passes * pass <= round and so on */
    uint64_t round, pass, slice;
    uint8_t share[GROUP_MAX];
};

/* 0; -EINVAL: groups is not 1..GROUP_MAX, or a field of config is out of range or the shares exceed
 * MUX_SLOTS_MAX; -ERANGE: slices would be shorter than MUX_SLICE_MIN, so ask for a longer round or
 * fewer passes. */
int mux_rounds_init(struct mux_rounds *r, const struct mux_config *config, unsigned groups);

/* ---- Turns ----------------------------------------------------------------------------------- */

/* What has ended; each includes those before it. */
enum mux_step { MUX_STAYS, MUX_SLICE_ENDS, MUX_PASS_ENDS, MUX_ROUND_ENDS };

struct mux_turns {
    uint64_t random;              /* xorshift state, never 0 */
    uint64_t left;                /* of the present slice, 1..slice */
    unsigned position;            /* of the present slice in the pass */
    unsigned pass;                /* of the present pass in the round */
    uint8_t order[MUX_SLOTS_MAX]; /* groups of the pass's slices */
};

/* A round begins. Turns that are to differ need different seeds. */
void mux_turns_init(struct mux_turns *t, const struct mux_rounds *r, uint64_t seed);
/* The group that counts now. */
static inline unsigned mux_turns_group(const struct mux_turns *t)
{
    return t->order[t->position];
}
/* length of the present slice has passed since the last call; what is left of it is t->left, for
 * the timer when the thread runs again. A slice ends when nothing is left; running over shortens
 * no other. */
enum mux_step mux_turns_spend(struct mux_turns *t, const struct mux_rounds *r, uint64_t length);
/* The present slice ends, whatever is left of it. */
enum mux_step mux_turns_next(struct mux_turns *t, const struct mux_rounds *r);
/* The round ends here, and the next begins. Returns the groups (bit g) that had no part of the
 * pass that was cut. */
uint64_t mux_turns_cut(struct mux_turns *t, const struct mux_rounds *r);
/* What is wrong, or NULL. */
const char *mux_turns_check(const struct mux_turns *t, const struct mux_rounds *r);

/* ---- Counts ---------------------------------------------------------------------------------- */

/* What the counts of one set of events need to know. */
struct mux_plan {
    struct mux_rounds rounds;
    /* The caller's, where plans follow each other: from 1; else 0. Of two plans the later one has
     * the higher number, and an event that the earlier one did not have, or that is another one
     * under the same number, is born in it. */
    uint32_t generation, born[GROUP_EVENTS_MAX];
    /* how long a unit of a pool is at least; mux_plan_init: for turns of one CPU */
    uint64_t pool;
    uint64_t events;  /* bit e: event e is counted */
    uint64_t rough;   /* of them: no variance is kept, and no interval given, the caller's */
    unsigned counted; /* how many they are */
    uint8_t order[GROUP_EVENTS_MAX];       /* all of them, those of the same groups in a row */
    uint16_t slots_with[GROUP_EVENTS_MAX]; /* slices of a pass that it is counted in */
    struct mux_group {
        uint64_t events; /* bit e: event e is in the group */
        uint8_t seats;   /* how many they are */
        struct mux_seat {
            uint8_t counter, event;
        } seat[GROUP_EVENTS_MAX]; /* what sits where */
    } group[GROUP_MAX];
};
/* As mux_rounds_init. groups is a valid plan. */
int mux_plan_init(struct mux_plan *p, const struct mux_config *config,
                  const struct group_plan *groups);
/* alias, which is in no group, is counted wherever event is. */
void mux_plan_alias(struct mux_plan *p, unsigned event, unsigned alias);

/*
 * Counts of one thread or CPU; zeroed at first. One CPU writes at a time; who reads meanwhile is
 * the owner's matter. The pieces since the last closing are the open *unit*: a pass, or, where
 * passes were cut or the turns are not this thread's own, as many as it takes for each event to
 * have had a quarter of its share. A plan that follows another cuts the unit. Ranges: all figures
 * are right while there are fewer than 2^39 counts for each length of a pass and 2^64 in all, and
 * units are shorter than 2^14 passes; what is beyond saturates, and then no interval is given.
 */
struct mux_counts {
    uint64_t length;      /* all that passed */
    uint64_t open_length; /* of it in the open unit */
    uint64_t events;      /* of the plan that counted last */
    uint32_t generation;  /* of that plan */
    struct mux_open {
        uint64_t count, seen; /* counted in the open unit, and for what length of it */
    } open[GROUP_EVENTS_MAX];
    struct mux_count {
        uint64_t length;   /* of the closed units since it was born, and of those that were cut */
        uint64_t counted;  /* in them */
        uint64_t seen;     /* length of them in which it was counted */
        uint64_t total;    /* of them, scaled ...; 0 before the first is closed */
        uint32_t fraction; /* ... and what is missing to the next count, in 2^-32 */
        uint32_t units;    /* how many they are, without those that were cut */
        uint64_t rate;     /* in the latest closed unit, for the length of a pass, in 2^-8 */
        wide_t variance;   /* of total but for the first unit's part, counts squared, in 2^-16 */
    } event[GROUP_EVENTS_MAX];
};

/* For a length the group counted; count is by counter, as in the plan's groups. The plan is no
 * earlier than that of the call before. */
void mux_add(struct mux_counts *c, const struct mux_plan *p, unsigned group, uint64_t length,
             const uint64_t *count);
/* A pass is over. Closes the unit and returns true, unless it is shorter than a pass (but for a
 * sixteenth, as slices vary) or leaves an event unseen: then it stays open and the next pass adds
 * to it. To be called at the end of every pass; where turns are not the thread's own, at the end
 * of any slice. */
bool mux_close(struct mux_counts *c, const struct mux_plan *p);
/* What is wrong, or NULL. */
const char *mux_check(const struct mux_counts *c, const struct mux_plan *p);

/*
 * What is known of one event. Sums of threads, and differences of two readings of one, are such
 * sums as well.
 *
 * What a thread counted that has closed no unit says nothing by itself: most such threads never saw
 * the event, for its turn did not come while they ran, and the others saw it all the time. So a
 * sum keeps their parts together, its *pool*, which is scaled as a whole: counted x length / seen,
 * the ratio estimator (Cochran, Sampling Techniques, ch. 6). Where threads end one after the other
 * the pool is closed as a unit whenever it is long enough, so that its variance is found as that of
 * a thread is; what a thread leaves open when it ends joins the pool, and a unit that is a thread's
 * only one makes a pair with the latest unit before it.
 */
struct mux_sum {
    uint64_t length;  /* all that passed since it was born */
    uint64_t closed;  /* of it in closed units */
    uint64_t seen;    /* of length: while the event was counted */
    uint64_t counted; /* while it was seen */
    uint64_t count;   /* in all of length but the pool, estimated */
    uint64_t units;   /* closed */
    uint64_t pairs;   /* of successive units */
    uint64_t rate;    /* of the latest unit, as in struct mux_count; 0: the sum is not kept */
    struct mux_pool {
        uint64_t length, seen, counted; /* of those three above */
    } pool;
    uint32_t fraction; /* of count, what is missing to the next one, in 2^-32 */
    uint32_t rated;    /* 1: there is a rate */
    wide_t variance;   /* from the pairs, counts squared, in 2^-16 */
};

/* What one thread or CPU adds to a sum. The open unit is scaled by itself where the event was seen
 * for a quarter of its share, else it goes by the rate of the unit before; a later reading may
 * correct that downwards. Before its first unit all is of the pool. */
void mux_part(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
              struct mux_sum *out);
/* What a thread adds to a sum that is kept when it has ended: its open unit is of the pool. */
void mux_ended(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
               struct mux_sum *out);
/* What mux_part says, by itself and settled. All 0: nothing was counted since the event was
 * born. */
void mux_read(const struct mux_counts *c, const struct mux_plan *p, unsigned event,
              struct mux_sum *out);
/* Adds the part's figures; sum keeps its own rate. */
void mux_sum_add(struct mux_sum *sum, const struct mux_sum *part);
/* The same where sum is kept: the part, a thread or a sum, has ended after those before it, and its
 * latest unit is sum's. */
void mux_sum_keep(struct mux_sum *sum, const struct mux_sum *part, const struct mux_plan *p,
                  unsigned event);
/* Closes the pool as a unit and returns true if it is as long as the plan says and had a quarter of
 * its share; else it stays open. */
bool mux_sum_close(struct mux_sum *sum, const struct mux_plan *p, unsigned event);
/* All parts are in: scales the pool by what was seen of it, or, where that is less than a quarter
 * of the rest's share, by the rest's rate, and adds it to count. */
void mux_sum_settle(struct mux_sum *sum);
/* A difference over fewer units than this is scaled as a whole. */
#define MUX_FEW_UNITS 50
/* earlier: a reading of the same counts. Where the difference is over few units its count is that
 * of what was seen in it, so that such differences do not add up to the counts themselves; over
 * more it is the difference of the counts. The result is settled. */
void mux_sum_sub(struct mux_sum *from, const struct mux_sum *earlier);
