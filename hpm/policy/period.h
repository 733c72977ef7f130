/*
 * How many events lie between two samples.
 *
 * - struct period adapts the mean period of one criterion so that about as many samples come in a
 * window as are wanted.
 *   Published rule: p' = p M / L, M the moving average of the samples of the last windows ([S]
 *   3.4.3). It averages samples that were taken with different periods, so each change is followed
 *   by others, back and forth. Here it is events that are averaged, which no period changes: p' =
 *   sum(s_i p_i) / (n L). A constant rate is right after one window, from any period.
 * - struct governor lengthens all periods of a session so that sampling costs no more of the time
 * than it may.
 * - period_draw: the period of the next samples. One that is always the same falls into step with
 * loops ([S] 3.5: up to 100 times
 *   as many samples of one store as of its neighbour); a random prime near the mean does not.
 *
 * The present period of a criterion is period_draw(governor_stretched(g, p.period), &random). What
 * a sample stands for is the caller's to remember: the events since the one before. A counter is
 * not set anew when the period changes, or it forgets what it has counted, and rare events are
 * never sampled; a new period begins behind the next sample, but where that is further away than
 * the new period it moves as near.
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "kernel/lib/base.h"

#define PERIOD_MAX         ((uint64_t)1 << 32)
#define PERIOD_SAMPLES_MAX ((uint64_t)1 << 20) /* wanted in a window */
#define PERIOD_WINDOW_MAX  ((uint64_t)1 << 40) /* its length, in any unit */
#define PERIOD_WINDOWS     4                   /* that are averaged over: n above */
#define PERIOD_KNOWN       16                  /* samples in them that it takes to be believed */
#define PERIOD_SHRINK_MAX  8                   /* fewer shorten the period by at most this factor */
#define PERIOD_BURST       16 /* times what is wanted: more a burst may not bring */

/* ---- Adaptation ------------------------------------------------------------------------------ */

struct period_config {
    uint64_t samples;  /* wanted in a window, of all CPUs together; 1..PERIOD_SAMPLES_MAX */
    uint64_t window;   /* its length: ns, cycles, ...; 1..PERIOD_WINDOW_MAX */
    uint64_t min, max; /* of the period; 1 <= min <= max <= PERIOD_MAX */
};

/* What one window brought, all CPUs together. */
struct period_window {
    uint64_t samples; /* taken, lost ones included */
    uint64_t events;  /* they stood for: the sum of the distances of each to the one before */
    /* in the config's unit; 0: ignored. Time in which nothing ran may be left out */
    uint64_t length;
};

struct period {
    uint64_t period; /* mean, config.min..config.max */
    /* Private. */
    struct period_config config;
    /* a ring; those without length have not been yet */
    struct period_window window[PERIOD_WINDOWS];
    unsigned next;
    uint64_t longest; /* that was right, slowly forgotten */
};

/* first: a guess, brought into range; the only price of a wrong one is the first window. config is
 * valid. */
void period_init(struct period *p, const struct period_config *config, uint64_t first);
/* A window has ended. Returns p->period, which may have changed.
 * At most PERIOD_SHRINK_MAX times shorter than before, unless PERIOD_KNOWN samples say so; and
 * never so short that a rate as it was before would bring more than PERIOD_BURST times the samples,
 * where before is forgotten to a half in 22 windows: after a pause, or a quiet stretch, there is no
 * flood. */
uint64_t period_update(struct period *p, const struct period_window *w);
/* What is wrong, or NULL. */
const char *period_check(const struct period *p);

/* ---- Cost ------------------------------------------------------------------------------------ */

#define GOVERNOR_ONE ((uint64_t)1 << 16) /* periods are left as they are */
#define GOVERNOR_MAX ((uint64_t)1 << 40)

enum governor_reason {
    GOVERNOR_IDLE,     /* periods are as they were asked for */
    GOVERNOR_OVERHEAD, /* longer, for sampling would cost more than it may */
    GOVERNOR_STORM,    /* longer, for there were too many interrupts in a burst */
};

/* How much longer periods are than they would be. One for all that share a limit. */
struct governor {
    /* times GOVERNOR_ONE, GOVERNOR_ONE..GOVERNOR_MAX; applies to all their periods */
    uint64_t stretch;
    enum governor_reason reason;
};

void governor_init(struct governor *g);
/* A window has ended: of `all` cycles of the CPUs' time, at most 2^54, `spent` went to sampling,
 * and permille thousandths may; 1..1000. Lengthens at once, as far as it takes; comes back by an
 * eighth a window at most, so that a limit once found is not passed again and again. Returns
 * g->reason. */
enum governor_reason governor_update(struct governor *g, uint64_t spent, uint64_t all,
                                     unsigned permille);
/* After a storm of interrupts: makes all periods `factor` times as long. governor_update brings them
 * back. */
void governor_storm(struct governor *g, uint64_t factor);
/* Of a period. At most PERIOD_MAX, or the period itself where it is longer. */
uint64_t governor_stretched(const struct governor *g, uint64_t period);
/* What is wrong, or NULL. */
const char *governor_check(const struct governor *g);

/* ---- Random primes --------------------------------------------------------------------------- */

/*
 * A random prime around mean, at most a sixteenth and a gap between primes from it, whose
 * expectation is mean. 1 gives 1; behind the last prime below 2^32 (times may be so long) any
 * number does. *random: state, not 0, different for each CPU. Takes some 10,000 cycles (mean 10^5)
 * to 25,000 (mean 2^32): for each drain of a buffer, not for each sample; who samples without a
 * buffer draws some in advance.
 */
uint64_t period_draw(uint64_t mean, uint64_t *random);
/* n < 2^32. */
bool period_is_prime(uint64_t n);
